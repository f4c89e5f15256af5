"""starling report --html: one page that a browser shows without any other file, of runs of every kind and of hostile names."""

import html.parser
import re
import struct
import unittest

from browser import *
from harness import *

draw_pictures()

DRIFT = ["--source", "synthetic:drift:informative=1,n=150", "--mechanism", "laplace", "--epsilon", "4"]
USAGE, FAILURE_TO_WRITE = 2, 5
# Elements of the pages themselves and of gnuplot's pictures; no other may come in by a name.
KNOWN = set("html head meta title style body h1 h2 p ul li div b span table thead tbody tr th td pre figure figcaption "
            "details summary footer svg g defs path circle use text tspan polygon rect line desc mask lineargradient stop "
            "lineargradient clippath filter feflood fecomposite femerge femergenode".split())


class Elements(html.parser.HTMLParser):
    """All elements and attributes of a page, and its text."""

    def __init__(self, text):
        super().__init__()
        self.names, self.attributes, self.text, self.ids = set(), [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_data(self, data):
        self.text += data


class PageCase(TestCase):
    def page(self, *runs, name="page.html", more=()):
        result = self.run_alone(["report", *runs, "--html", name, *more], as_they_are=True)
        self.assertEqual((result.code, result.out), (0, f"Page       {name}\n"), result)
        return (self.folder / name).read_text(), result.err

    def check(self, text):
        """Nothing runs, and nothing comes from elsewhere. Returns the elements."""
        elements = Elements(text)
        self.assertLessEqual(elements.names, KNOWN)
        for name, value in elements.attributes:
            self.assertFalse(name.startswith("on"), name)
            self.assertNotIn(name, ("src", "action", "data", "background"), name)
            if name.endswith("href"):
                self.assertTrue(value.startswith("#"), value)
            if name != "aria-label" and not name.startswith("xmlns") and "url(" in (value or ""):
                self.assertRegex(value, r"^[^(]*url\(#[^)]*\)[^(]*$")
        self.assertEqual(len(elements.ids), len(set(elements.ids)), "parts of pictures share names")
        return elements


class OneRun(PageCase):
    def test_what_a_page_shows(self):
        self.write("t.csv", "\n".join(csv_rows(50, dimension=5)) + "\n")
        self.good(2, [*DRIFT, "--clients", "5", "--test", "t.csv", "--regret", "static", "--output", "run"])
        before = tree(self.folder / "run")
        text, err = self.page("run")
        self.assertEqual(tree(self.folder / "run"), before)
        elements = self.check(text)
        summary = self.summary_in("run")
        for line in [*summary["privacy"]["in_short"], summary["privacy"]["statement"], *summary["notes"], summary["command_line"]]:
            self.assertIn(line, elements.text)
        for option, value in (line.split(" = ", 1) for line in (self.folder / "run" / "config.ini").read_text().splitlines()
                              if " = " in line and not line.startswith("#")):
            self.assertRegex(elements.text, re.escape(option) + r"\s*" + re.escape(value))
        for word in ("150 of 150 rounds", "consensus error", "test accuracy", "static regret", "history.csv", "private/",
                     f"{100 * summary['accuracy']:.2f} %"):
            self.assertIn(word, elements.text)
        if shutil.which("gnuplot"):
            self.assertEqual(err, "")
            self.assertEqual(text.count("<svg"), 4)  # loss, convergence, components, regret
            self.assertIn("loss per record", elements.text)
        self.assertNotIn("<svg", self.page("run", more=["--pictures", "off"])[0])

    def test_without_gnuplot_the_page_says_so(self):
        self.good(1, [*DRIFT, "--output", "run"])
        done = subprocess.run([STARLING, "report", "run", "--html", "p.html"], cwd=self.folder, stdin=subprocess.DEVNULL,
                              env={**environment(), "PATH": "/nowhere"}, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, "^note: no pictures: gnuplot is not installed: .*\n$")
        self.assertIn("gnuplot is not installed", self.check((self.folder / "p.html").read_text()).text)

    def test_an_unfinished_run(self):
        self.good(1, [*DRIFT, "--output", "run"])
        (self.folder / "run" / "summary.json").unlink()
        self.assertIn("not finished", self.check(self.page("run")[0]).text)

    def test_wrong_words(self):
        self.good(1, [*DRIFT, "--output", "run"])
        records = self.write("records.csv", "a,y\n1,1\n")
        for words, code, parts in [
            (["--html", "records.csv"], USAGE, ["'records.csv' exists, and is no such file"]),
            (["--html", "p.html", "--json"], USAGE, ["--html", "--json"]),
            (["--html", "p.html", "--csv"], USAGE, ["--html", "--csv"]),
            (["--html", "p.html", "--output", "a"], USAGE, ["--output", "--html"]),
            (["--html", "no/such/folder/p.html"], FAILURE_TO_WRITE, ["no/such/folder/p.html"]),
        ]:
            with self.subTest(words=words):
                result = self.run_alone(["report", "run", *words])
                self.assertEqual((result.code, result.out), (code, ""), result)
                for part in parts:
                    self.assertIn(part, result.err)
                self.assertEqual(list(self.folder.glob("p.html*")), [])
        self.assertEqual(pathlib.Path(records).read_text(), "a,y\n1,1\n")


class SeveralRuns(PageCase):
    def test_a_comparison(self):
        for epsilon in ("1", "4"):
            self.good(1, [*DRIFT, "--epsilon", epsilon, "--output", f"run-{epsilon}"])
        text, _ = self.page("run-1", "run-4", more=["--by", "epsilon"])
        elements = self.check(text)
        for word in ("2 runs compared", "run-1", "run-4", "epsilon", "consensus error"):
            self.assertIn(word, elements.text)
        for run in ("run-1", "run-4"):
            summary = self.summary_in(run)
            for line in summary["privacy"]["in_short"]:
                self.assertIn(line, elements.text)


class InABrowser(PageCase):
    @needs_chromium
    def test_hostile_names_are_shown_and_do_nothing(self):
        with Listener() as listener:
            hostile = f"<img src={listener.url}/name onerror=alert(1)>"
            column = f"\"</td><script>fetch('{listener.url}/column')</script>\""
            rows = csv_rows(300)
            self.write("data.csv", f"{column},b&amp;'b,</svg><b>c,y\n" + "\n".join(rows) + "\n")
            run = "a&<b>\"c'</title><script>x"
            result = self.run_command(1, ["infer", "--source", "data.csv", "--clients", "2", "--mechanism", "none", "--loss",
                                          "squared", "--output", run.replace("/", "_"), "--start", "zero"])
            self.assertEqual(result.code, 0, result)
            run = self.folder / run.replace("/", "_")
            summary = json.loads((run / "summary.json").read_text())
            summary["notes"].append(hostile + "\x01\x7f")
            summary["privacy"]["in_short"][0] = hostile
            (run / "summary.json").write_text(json.dumps(summary))
            text, _ = self.page(run.name)
            elements = self.check(text)
            dom = dom_of(self.folder / "page.html")
            seen = self.check(dom)
            self.assertEqual(listener.asked, [])
            for word in (run.name, hostile, "</svg><b>c", "b&amp;'b", f"<script>fetch('{listener.url}/column')</script>"):
                self.assertIn(word, elements.text)
                self.assertIn(word, seen.text)
            self.assertEqual(dom.count("<h2>"), text.count("<h2>"))
            # A browser that is let do so does ask: the test would see it.
            self.write("bad.html", f"<img src={listener.url}/name>")
            dom_of(self.folder / "bad.html")
            self.assertEqual(listener.asked, ["/name"])

    @needs_chromium
    def test_it_fits_a_phone_and_a_desk(self):
        self.good(1, [*DRIFT, "--clients", "3", "--output", "run"])
        self.page("run")
        # A script, which this test puts in and allows, tells how wide the page is in a frame as wide as a screen.
        probe = (self.folder / "page.html").read_text().replace("default-src 'none';", "script-src 'unsafe-inline';")
        self.write("probe.html", probe.replace("</body>", "<script>parent.postMessage(document.documentElement.scrollWidth, '*')</script>"
                                                          "</body>"))
        for width in (390, 1280):
            self.write("frame.html", "<script>onmessage = event => { document.title = event.data }</script>"
                                     f"<iframe src=probe.html width={width} height=800 style='border: 0'></iframe>")
            dom = browse(self.folder / "frame.html", "--window-size=1400,900", "--virtual-time-budget=5000", "--dump-dom")
            self.assertEqual(int(re.search(r"<title>(\d+)</title>", dom)[1]), width, "the page must not scroll sideways")
        browse(self.folder / "page.html", "--window-size=1280,900", f"--screenshot={self.folder}/desk.png")
        self.assertEqual(struct.unpack(">II", (self.folder / "desk.png").read_bytes()[16:24]), (1280, 900))


if __name__ == "__main__":
    unittest.main()
