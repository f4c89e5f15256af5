"""Help, manual pages and completion, which all come from the declarations of commands and options."""

import pty
import re
import select
import shlex
import shutil
import unittest

from harness import *

LEARNING = ("omd", "renewable", "infer", "vertical", "fedavg")
OPTION = re.compile(r"^  (--[a-z][a-z0-9-]*)", re.M)


class HelpCase(TestCase):
    def help(self, *words):
        result = self.run_alone([*words], as_they_are=True)
        self.assertEqual((result.code, result.err), (0, ""), result)
        return result.out

    def commands(self):
        """The words of every command that has options."""
        for name in re.findall(r"^  starling ([a-z]+) ", self.help("--help"), re.M):
            below = re.search(r"^Commands[^\n]*\n((?:  .*\n)+)", self.help(name, "--help"), re.M)
            yield from [[name, part] for part in re.findall(r"^  ([a-z]+) ", below[1], re.M)] if below else [[name]]


class Texts(HelpCase):
    def test_short_help_is_a_screen_and_full_help_has_each_group_once(self):
        commands = list(self.commands())
        self.assertGreater(len(commands), 18)
        for words in commands:
            with self.subTest(words):
                text, every = self.help(*words, "--help"), self.help(*words, "--help=all")
                lines = text.splitlines()
                self.assertLessEqual(len(lines), 40, text)
                self.assertLessEqual(max(map(len, lines)), 100, text)
                shown, all_options = OPTION.findall(text), OPTION.findall(every)
                self.assertEqual(len(all_options), len(set(all_options)))
                self.assertLessEqual(set(shown), set(all_options))
                self.assertRegex(text, r"(?m)^ *(mpirun -n \d+ )?starling " + " ".join(words) + " ")
                headings = re.findall(r"^([A-Z][^\n]*):$", every, re.M)
                self.assertEqual(len(headings), len(set(headings)), headings)
                if words[0] in LEARNING:
                    self.assertTrue(24 <= len(lines) and 12 <= len(shown) <= 22, text)
                    self.assertGreater(len(all_options), 50)
                    self.assertIn("--help=all", text)

    def test_one_option(self):
        text = self.help("omd", "--help=watchdog")
        for line in (r"starling omd --watchdog SECONDS", r"  values    a number from 0\.1 to 1e\+09", r"  unit      seconds",
                     r"  default   60", r"  example   starling omd --watchdog 60"):
            self.assertRegex(text, f"(?m)^{line}$")
        for option, example in (("total-epsilon", "1 --mechanism gaussian"), ("missing", "zero")):
            text = self.help("omd", f"--help={option}")
            self.assertNotIn("a file or directory", text)
            self.assertIn(f"example   starling omd --{option} {example}", text)
        self.assertIn("a file or directory", self.help("omd", "--help=output"))
        self.assertRegex(self.help("omd", "--help=mixing"), r"(?m)^  values    push-sum, plain$")
        self.assertRegex(self.help("omd", "--help=--loss"), r"(?m)^Losses:\n(  .*\n)*  logistic ")
        window = self.help("omd", "--help=benchmark-window")
        self.assertIn("needs     --constraint: there is nothing to compare", window)
        self.assertRegex(window, r"example   starling omd --benchmark-window 50 --constraint \S+ --regret both")
        self.assertIn("starling topology check FILE", self.help("topology", "check", "--help=FILE"))

    def test_short_forms(self):
        self.assertEqual(self.help("omd", "-h"), self.help("omd", "--help"))
        self.assertEqual(self.help("topology", "make", "-h"), self.help("topology", "make", "--help"))
        self.assertEqual(self.help("-h"), self.help("--help"))
        self.assertEqual(self.help("-V"), self.help("--version"))


class Examples(HelpCase):
    """Every example of every command runs, in a folder that has the files it names."""

    MORE = {"privacy audit": ["--samples", "500"], "vertical": ["--rounds", "5"]}
    CODES = {"doctor": (0, 1)}  # what is bad about this machine is not the example's fault

    def prepare(self):
        for words in (
            "data make two-gaussians:p=3,mu=1 --clients 5 --records 200 --output site-{client}.csv",
            "data make two-gaussians:p=3,mu=1 --seed 2 --records 100 --output held-out.csv",
            "topology make ring --clients 5 --output ring.topo",
            "omd --source site-{client}.csv --clients 5 --mechanism laplace --epsilon 1 --ledger ledger-{client} --output run",
            "omd --source site-{client}.csv --clients 5 --mechanism laplace --epsilon 1 --output run-1",
            "omd --source site-{client}.csv --clients 5 --mechanism laplace --epsilon 1 --seed 2 --output run-2",
        ):
            self.assertEqual(self.run_alone(words.split()).code, 0, words)
        for suffix in ("", ".head"):
            shutil.copy(self.folder / f"ledger-0{suffix}", self.folder / f"ledger{suffix}")
        rows = [line.split(",") for line in (self.folder / "site-0.csv").read_text().splitlines()[1:]]
        half = (len(rows[0]) - 1) // 2
        label = {"-1": "0", "1": "1"}
        tables = {"guest": [(*row[:half], label[row[-1]]) for row in rows], "host": [row[half:-1] for row in rows]}
        for name, table in tables.items():
            names = [f"{name}{j}" for j in range(len(table[0]))]
            names = [*names[:-1], "y"] if name == "guest" else names
            lines = [",".join(("id", *names)), *(",".join((str(k), *row)) for k, row in enumerate(table))]
            self.write(f"{name}.csv", "\n".join(lines) + "\n")
        self.write("patients.csv", "age,sex,ill\n" + "".join(f"{30 + k % 40},{'fm'[k % 2]},{k % 2}\n" for k in range(50)))
        self.write("sweep.ini", "[sweep]\ncommand = omd\nlauncher = mpirun --oversubscribe\n[options]\nsource = synthetic:drift:n=40\n"
                   "mechanism = laplace\ntuning = off\nepsilon = 1 | 8\n")
        self.write("releases.csv", "mechanism,epsilon,mu,releases\nlaplace,0.1,,50\ngaussian,,0.2,100\n")
        words = "vertical --parties guest.csv,host.csv --id id --loss softmax --head d-8-2 --mechanism none --networks shared --rounds 5"
        self.assertEqual(self.run_command(3, [*words.split(), "--output", "run-vertical"]).code, 0)

    @fewer
    def test_every_example_runs(self):
        """Those of several ranks by default in one process, with as many clients."""
        self.prepare()
        count = 0
        for words in self.commands():
            path = " ".join(words)
            text = self.help(*words, "--help=all").replace("\\\n", " ")
            block = re.search(r"^Examples?:\n((?:  .*\n)+)", text, re.M)
            self.assertIsNotNone(block, path)
            for example in block[1].splitlines():
                with self.subTest(example):
                    before, command = example.split("starling ", 1)
                    command = [*shlex.split(command), *self.MORE.get(path, [])]
                    refuted = "--mechanism dissertation" in example  # by the audit, as it should be, from so many samples
                    command += ["--samples", "2000"] if refuted else []
                    ranks = int(before.split()[2]) if before.strip() else 1
                    if ranks > 1 and not SLOW and words[0] in LEARNING:
                        command += ["--clients", ranks - (words[0] == "vertical")]
                        ranks = 1
                    result = self.run_command(ranks, command) if ranks > 1 else self.run_alone(command)
                    self.assertIn(result.code, (1,) if refuted else self.CODES.get(path, (0,)), result)
                    count += 1
        self.assertGreater(count, 30)


class Pages(HelpCase):
    def setUp(self):
        super().setUp()
        self.installed = self.help("help", "install", "share").splitlines()

    def test_there_is_a_page_for_each_command(self):
        names = {pathlib.Path(path).name for path in self.installed}
        expected = {f"starling-{'-'.join(words)}.1" for words in self.commands()}
        self.assertLessEqual({"starling.1", "starling-topology.1", *expected}, names)
        page = (self.folder / "share/man/man1/starling-omd.1").read_text()
        self.assertEqual(page, self.help("help", "man", "omd"))
        for option in OPTION.findall(self.help("omd", "--help=all")):
            self.assertIn(f"\\fB{option}\\fR".replace("-", "\\-"), page)

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_pages_are_without_faults(self):
        pages = [path for path in self.installed if path.endswith(".1")]
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *pages], cwd=self.folder, capture_output=True, text=True)
        faults = [line for line in done.stdout.splitlines() if "missing date" not in line]  # a build has no date: it is repeatable
        self.assertEqual(faults, [])
        text = subprocess.run(["mandoc", "-T", "utf8", "share/man/man1/starling-omd.1"], cwd=self.folder, capture_output=True,
                              text=True, check=True).stdout
        text = re.sub(r".\x08", "", text)
        self.assertRegex(text, r"(?m)^ +--watchdog SECONDS\n")
        self.assertIn("mpirun -n 5 starling omd --source", text)


class Completion(HelpCase):
    """Completion by the shells themselves."""

    def setUp(self):
        super().setUp()
        self.help("help", "install", "share")
        self.write("ring.topo", "clients 1\n")

    def bash(self, line):
        """What bash would offer at the end of the line."""
        script = ('source share/bash-completion/completions/starling; compopt() { printf "%s\\n" "${@:2}" >&2; }; '
                  'COMP_LINE=$1 COMP_POINT=${#1}; _starling; printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "--norc", "-c", script, "bash", line], cwd=self.folder, capture_output=True,
                              text=True, check=True)
        return done.stdout.split(), done.stderr.split()

    def test_bash_offers_commands_options_and_values(self):
        for line, offered in (
            ("starling o", ["omd"]),
            ("starling topology ", ["check", "make", "draw", "--help"]),
            ("starling omd --mix", ["--mixing"]),
            ("starling omd --mixing p", ["push-sum", "plain"]),
            ("starling omd --mixing=pu", ["push-sum"]),
            ("starling omd --seed 3 --loss logis", ["logistic"]),
            ("starling omd --source synthetic:dr", ["drift"]),
            ("starling omd --source=synthetic:dr", ["drift"]),
            ("starling omd --seed ", []),
            ("starling topology make exp", ["exponential"]),
            ("starling data make two", ["two-gaussians"]),
            ("starling privacy audit --noise-correlation bl", ["blt:2"]),
        ):
            with self.subTest(line):
                self.assertEqual(self.bash(line)[0], offered)
        self.assertGreater(len(self.bash("starling omd --")[0]), 80)
        for line in ("starling omd --topology ", "starling omd --topology=ri", "starling topology check "):
            self.assertIn("default", self.bash(line)[1], line)
        self.assertNotIn("default", self.bash("starling omd --mixing ")[1])

    def on_a_terminal(self, shell, begin, lines):
        """A real interactive shell: each line as it is typed, and the words with which the program is then called."""
        parent, child = pty.openpty()
        process = subprocess.Popen(shell, cwd=self.folder, stdin=child, stdout=child, stderr=child, start_new_session=True,
                                   env={**os.environ, "TERM": "dumb", "INPUTRC": "/dev/null", "PS1": "$ "})
        os.close(child)
        self.addCleanup(os.close, parent)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        os.write(parent, f"{begin}; starling() {{ echo \"[$*]\"; }}; echo rea''dy\n".encode())
        self.read_until(parent, "ready\r")
        for typed, called in lines:
            os.write(parent, typed.encode() + b"\n")
            self.read_until(parent, f"[{called}]")

    def read_until(self, terminal, expected):
        text, end = "", time.monotonic() + 30
        while expected not in text:
            self.assertTrue(select.select([terminal], [], [], max(end - time.monotonic(), 0))[0], text)
            text += os.read(terminal, 65536).decode(errors="replace")

    LINES = [("starling om\t--mixing=pl\t--loss logis\t--topology=ri\t", "omd --mixing=plain --loss logistic --topology=ring.topo"),
             ("starling topology chec\tri\t", "topology check ring.topo"),
             ("starling omd --source synthetic:dr\t", "omd --source synthetic:drift"),
             ("starling data make two-g\t--rec\t", "data make two-gaussians --records")]

    def test_bash_completes_lines(self):
        self.on_a_terminal(["bash", "--norc", "--noprofile", "-i"], "source share/bash-completion/completions/starling", self.LINES)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_completes_lines(self):
        begin = "unset zle_bracketed_paste; fpath=($PWD/share/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D"
        lines = [(typed.replace("\t", "\t "), called) for typed, called in self.LINES[:-1]]  # zsh takes its own space back
        self.on_a_terminal(["zsh", "-f", "-i"], begin, lines)

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_offers_commands_options_and_values(self):
        file = "share/fish/vendor_completions.d/starling.fish"
        for line, offered in (("starling o", ["omd"]), ("starling omd --mix", ["--mixing"]), ("starling omd --mixing p", ["plain", "push-sum"]),
                              ("starling data con", ["convert"]), ("starling omd --topology ri", ["ring.topo"])):
            done = subprocess.run(["fish", "--no-config", "-c", f"source {file}; complete -C '{line}'"], cwd=self.folder,
                                  env={**os.environ, "HOME": str(self.folder)}, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            found = [each.split("\t")[0] for each in done.stdout.splitlines()]
            self.assertLessEqual(set(offered), set(found), line)
            self.assertNotIn("--domain", found)


if __name__ == "__main__":
    unittest.main()
