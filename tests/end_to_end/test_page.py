"""starling report --html: one page that a browser shows without any other file, of runs of every kind and of hostile names."""

import html.parser
import math
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


class ForABoard(PageCase):
    def test_what_the_page_says(self):
        for name, rows in (("data", 300), ("held", 80)):
            self.write(f"{name}.csv", "\n".join(["age,dose,note,ill", *(f"{i % 7},{i % 5},{i},{i % 2}" for i in range(rows))]) + "\n")
        words = ["--source", "data.csv", "--clients", "3", "--label", "ill", "--drop", "note", "--mechanism", "gaussian", "--mu", "0.2",
                 "--delta", "1e-5"]
        for run in ("run", "other"):
            self.good(1, [*words, "--output", run])
            self.succeeded(self.run_alone(["score", run, "--source", "held.csv", "--label", "ill", "--output", f"score-{run}"]))
        text, _ = self.page("run", more=["--for", "board", "--title", "A <b> & c", "--scores", "score-run"])
        elements = self.check(text)
        privacy = self.summary_in("run")["privacy"]
        odds = math.exp(privacy["epsilon"])
        told = re.search(r"the odds become at most (\S+) to 1: a certainty of (\S+) %", elements.text)
        self.assertTrue(odds <= float(told[1]) <= 1.01 * odds, told[0])
        self.assertTrue(100 * odds / (1 + odds) <= float(told[2]) <= 101 * odds / (1 + odds), told[0])
        for part in ("A <b> & c", *privacy["in_short"], privacy["statement"], "age, dose", "held", "AUC", "Brier score",
                     "What all records of one client have in common is not hidden", "1 in 100,000"):
            self.assertIn(part, elements.text)
        for technical in ("consensus", "mass", "epsilon per client"):
            self.assertNotIn(technical, elements.text)
        if shutil.which("gnuplot"):
            self.assertEqual(text.count("<svg"), 2)  # odds and calibration
        self.assertNotIn("<svg", self.page("run", more=["--for", "board", "--pictures", "off"])[0])
        for more, why in ((["--scores", "score-other"], "another run's model"), (["--scores", "none"], "no score.json")):
            result = self.run_alone(["report", "run", "--html", "x.html", "--for", "board", *more])
            self.assertEqual((result.code, result.out), (USAGE, ""), result)
            self.assertIn(why, result.err)

    def test_what_scores_are_worth(self):
        """Beside the accuracy stands that of a constant answer; a test set that was scored again stands there once; a tenth of one record
        is no point; a column that the model leaves out is not learned from."""
        age = lambda i: 9 if i == 0 else i % 4  # one record has a probability of its own
        rows = [f"{age(i)},{i % 7},{1 if i % 11 == 5 else 0},{i % 2}" for i in range(220)]
        for name, order in (("data", rows), ("held", rows[::-1])):
            self.write(f"{name}.csv", "\n".join(["age,dose,ill,sex", *order]) + "\n")
        self.good(1, ["--source", "data.csv", "--test", "held.csv", "--label", "ill", "--standardise", "values:1.5/1,drop,0/1", "--mechanism", "none",
                      "--tuning", "off", "--intercept", "--step", "0.03", "--output", "run"])
        self.succeeded(self.run_alone(["score", "run", "--source", "held.csv", "--label", "ill", "--by", "sex", "--output", "score-run"]))
        text, _ = self.page("run", more=["--for", "board", "--scores", "score-run"])
        words = " ".join(re.sub(r"<svg.*?</svg>|<style.*?</style>", "", text, flags=re.S).replace("<", " <").split())
        words = " ".join(re.sub(r"<[^>]+>", " ", words).split())
        most = sum(row.split(",")[2] == "0" for row in rows) / len(rows)
        self.assertRegex(words, rf"accuracy baseline .*held \(the run&#39;s test set\) 220 {100 * most:.1f} % {100 * most:.1f} % 50.0 %")
        self.assertIn("Predictions are no better than a constant answer on these records: held (the run&#39;s test set); held, sex 0; held, sex 1.",
                      words)
        self.assertEqual(words.count("Calibration: held"), 1)
        self.assertIn("learned from age, sex features left out dose: their ranges were not found", words)
        calibration = self.summary_in("run")["metrics"]["test"]["calibration"]
        self.assertEqual([each["records"] for each in calibration if 0 < each["records"] < 10], [1], calibration)
        self.succeeded(self.run_alone(["score", "run", "--source", "data.csv", "--label", "ill", "--output", "score-known"]))
        self.assertIn("data, from which it has learned", self.page("run", more=["--for", "board", "--scores", "score-known"])[0])
        if shutil.which("gnuplot"):
            marks = len(re.findall(r"<use [^>]*scale\(", text))  # and one in the key
            self.assertEqual(marks, 1 + 2 * sum(each["records"] >= 10 for each in calibration))

    def test_a_run_that_protects_nobody_promises_nothing(self):
        self.write("data.csv", "\n".join(csv_rows(50)) + "\n")
        self.good(1, ["--source", "data.csv", "--mechanism", "none", "--output", "run"])
        elements = self.check(self.page("run", more=["--for", "board"])[0])
        self.assertIn("Who is protected: nobody.", elements.text)
        self.assertIn("No bound holds", elements.text)
        (self.folder / "run" / "summary.json").unlink()
        self.assertIn("has not finished", self.run_alone(["report", "run", "--html", "x.html", "--for", "board"]).err)


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
