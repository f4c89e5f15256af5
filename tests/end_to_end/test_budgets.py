"""What a unit pays in all: totals, what is left of a budget, and what a run says of it."""

import hashlib
import itertools
import math
import unittest

from harness import *

UNUSABLE = 2
BUDGET = 4
GAUSSIAN = ["--mechanism", "gaussian"]
LAPLACE = ["--mechanism", "laplace"]
VERTICAL = ["vertical", "--columns", "0/1,2", "--clients", "2", "--batch", "10", "--feature-net", "d-4-2", "--head", "d-4-1", "--loss",
            "logistic"]
INFER = ["infer", "--loss", "logistic", "--intercept", "no"]
PRIVATE = ["renewable", "--variant", "private", "--l2", "0.1"]

# Of every command and mechanism: the words, and the releases that a record enters.
RUNS = {
    "omd": (["omd", *LAPLACE, "--epochs", "3"], 3),
    "omd, gaussian": (["omd", *GAUSSIAN, "--epochs", "3"], 3),
    "omd, delta": (["omd", *LAPLACE, "--epochs", "30", "--batch", "50", "--delta", "1e-6"], 30),
    "omd, fewer rounds": (["omd", *LAPLACE, "--epochs", "3", "--rounds", "150"], 2),
    "omd, component": (["omd", *LAPLACE, "--unit", "component", "--epochs", "2"], 2),
    "fedavg": (["fedavg", *LAPLACE, "--epochs", "2", "--local-steps", "3"], 2),
    "fedavg, gaussian": (["fedavg", *GAUSSIAN, "--epochs", "2", "--delta", "1e-6"], 2),
    "fedavg, delta": (["fedavg", *LAPLACE, "--epochs", "20", "--batch", "50", "--delta", "1e-5"], 20),
    "infer": ([*INFER, *GAUSSIAN], 1),
    "infer, passes": ([*INFER, *GAUSSIAN, "--epochs", "3", "--intervals", "none"], 3),
    "infer, plug-in": ([*INFER, *GAUSSIAN, "--intervals", "plug-in"], 1),
    "infer, central": ([*INFER, *GAUSSIAN, "--intervals", "plug-in", "--trust", "central"], 1),
    "infer, warm-up": ([*INFER, *GAUSSIAN, "--warmup-share", "0.1"], 1),
    "infer, bias": ([*INFER, *GAUSSIAN, "--bias", "remove"], 1),
    "renewable": ([*PRIVATE, *GAUSSIAN, "--epochs", "2"], 2),
    "renewable, central": ([*PRIVATE, *GAUSSIAN, "--trust", "central", "--epochs", "2"], 2),
    "renewable, masked": ([*PRIVATE, *GAUSSIAN, "--trust", "masked", "--epochs", "2", "--clients", "2"], 2),
    "renewable, curvature": ([*PRIVATE, *GAUSSIAN, "--curvature-model", "released", "--epochs", "2"], 2),
    "vertical": ([*VERTICAL, *GAUSSIAN, "--epochs", "2"], 2),
    "vertical, local steps": ([*VERTICAL, *GAUSSIAN, "--local-steps", "3"], 1),
    "vertical, head": ([*VERTICAL, *GAUSSIAN, "--epochs", "2", "--labels", "head", "--delta", "1e-6"], 2),
}


class BudgetCase(TestCase):
    def setUp(self):
        super().setUp()
        self.write("data.csv", "\n".join(csv_rows(100)) + "\n")
        self.write_key("key-0", hashlib.sha256(b"client 0").hexdigest())

    def play(self, words, output="run"):
        return self.run_command(1, [words[0], "--source", "data.csv", *words[1:], "--output", output, "--progress", "off"])

    def summary(self, words, output="run"):
        result = self.succeeded(self.play([*words, "--json"], output))
        return result.summary()

    def refused(self, code, words, *patterns):
        result = self.play(words, "refused")
        self.complains(result, code, *patterns)


class Totals(BudgetCase):
    @fewer
    def test_a_unit_pays_the_total_and_no_more(self):
        for name, (words, uses) in RUNS.items():
            for total in (0.7, 3) if SLOW else (0.7,):
                with self.subTest(name, total=total):
                    privacy = self.summary([*words, "--total-epsilon", total], f"{name}-{total}")["privacy"]
                    self.assertEqual(privacy["participations"], uses)
                    self.assertLessEqual(privacy["epsilon"], total)
                    self.assertGreaterEqual(privacy["epsilon"], total * (1 - 1e-6))

    def test_clients_have_totals_of_their_own(self):
        self.write("totals.csv", "0,0.5\n1,2\n")
        words = ["fedavg", *GAUSSIAN, "--clients", "2", "--epochs", "2", "--total-epsilon", "clients:totals.csv"]
        self.assertAlmostEqual(self.summary(words)["privacy"]["epsilon"], 2, delta=2e-6)

    def test_with_what_it_excludes(self):
        for command in (["fedavg"], INFER, PRIVATE, VERTICAL):
            with self.subTest(command[0]):
                words = [*command, *GAUSSIAN, "--total-epsilon", "1"]
                self.refused(UNUSABLE, [*words, "--epsilon", "1"], "--total-epsilon.*--epsilon|--epsilon.*--total-epsilon")
                self.refused(UNUSABLE, [*words, "--mu", "1"], "--mu")
                self.refused(UNUSABLE, [*words, "--total-epsilon", "schedule:from=1,to=2"], "no rounds over which")
        self.refused(UNUSABLE, ["renewable", "--variant", "private-paper", *GAUSSIAN, "--total-epsilon", "1"], "private-paper")

    def test_a_resumed_run_has_the_rounds_that_its_price_was_made_for(self):
        words = ["fedavg", *LAPLACE, "--epochs", "3", "--rounds", "150", "--total-epsilon", "1"]
        self.summary(words)
        again = self.run_command(1, ["fedavg", "--resume", "run", "--rounds", "250"])
        self.assertEqual(again.code, UNUSABLE, again)
        self.assertIn("the price of a release was made of --total-epsilon", again.err)

    def test_nothing_has_a_price_without_protection(self):
        for words in (["--epsilon", "1"], ["--mu", "1"], ["--total-epsilon", "1"], ["--budget", "1"]):
            with self.subTest(words[0]):
                self.refused(UNUSABLE, ["fedavg", "--mechanism", "none", *words], words[0])

    def test_an_option_is_given_once(self):
        words = ["fedavg", "--source", "data.csv", *LAPLACE, "--total-epsilon", "1", "--total-epsilon"]
        result = self.run_alone([*words, "2"], as_they_are=True)
        self.assertEqual(result.code, UNUSABLE, result)
        self.assertIn("--total-epsilon is given twice, as '1' and as '2'", result.err)
        self.write("run.ini", "total-epsilon = 2\n")
        words = ["fedavg", *LAPLACE, "--config", "run.ini", "--total-epsilon", "1"]
        self.assertAlmostEqual(self.summary(words)["privacy"]["epsilon"], 1, delta=1e-6)


class Budgets(BudgetCase):
    LEDGER = ["--noise-key", "key-{client}", "--ledger", "ledger-{client}", "--budget-unit", "record"]

    def test_a_total_beyond_what_is_left_is_refused(self):
        words = ["fedavg", *LAPLACE, "--epochs", "2", *self.LEDGER, "--budget", "3"]
        first = self.succeeded(self.play([*words, "--total-epsilon", "2"]))
        self.assertIn("--budget 3 for a record: earlier releases in the ledger have spent epsilon = 0, so that this run may come to 3", first.err)
        self.refused(BUDGET, [*words, "--total-epsilon", "1.5"], "--total-epsilon 1.5", "have spent epsilon = 2, so that this run may come to 1;")
        self.assertFalse((self.folder / "refused").exists())
        last = self.summary([*words, "--total-epsilon", "0.9"], "last")["privacy"]
        self.assertEqual(last["budget"]["stopped_clients"], 0)
        self.assertAlmostEqual(last["ledger"]["record_epsilon"], 2.9, delta=1e-5)

    def test_nothing_is_released_before_a_total_is_refused(self):
        """Norms of records would be, before rounds are known."""
        words = ["omd", "--tuning", "auto", *GAUSSIAN, *self.LEDGER, "--budget", "2"]
        self.refused(BUDGET, [*words, "--total-epsilon", "2.01"], "--total-epsilon 2.01 is more than is left")
        rows = [json.loads(line) for line in (self.folder / "ledger-0").read_text().splitlines()]
        self.assertNotIn("reserve", {row["kind"] for row in rows})
        summary = self.summary([*words, "--total-epsilon", "1.99"])
        self.assertIsNotNone(summary["privacy"]["norms"])
        rows = [json.loads(line) for line in (self.folder / "ledger-0").read_text().splitlines()]
        self.assertIn("reserve", {row["kind"] for row in rows})

    def test_nothing_is_charged_for_a_run_without_a_place(self):
        """No ledger has a row, and all is as before: the same command goes once its folder can be made."""
        self.write("full/file", "")
        (self.folder / "empty").mkdir()
        omd = ["omd", "--tuning", "auto", *GAUSSIAN, "--total-epsilon", "2"]
        before = sorted(self.folder.rglob("*"))
        for words, output in (
                (omd, "full"),
                (["fedavg", "--tuning", "auto", *GAUSSIAN, "--total-epsilon", "2"], "full"),
                ([*INFER, *GAUSSIAN, "--mu", "1"], "full"),
                ([*PRIVATE, *GAUSSIAN, "--mu", "1"], "full"),
                ([*omd, "--private", "full/file/p"], "run"),
                ([*omd, "--save-partition", "nowhere/p.csv"], "empty"),
                ([*omd, "--private", "own", "--openmetrics", "nowhere/m.prom"], "run"),
                ([*omd, "--private", "own", "--save-partition", "p.csv", "--budget", "1"], "run")):
            with self.subTest(words=words):
                result = self.play([*words, *self.LEDGER], output)
                self.assertIn(result.code, (UNUSABLE, BUDGET, FAILURE), result)
                made = [path for path in sorted(self.folder.rglob("*")) if path not in before]
                if result.code == BUDGET:  # what is left is found in the ledger, which knows of the run by then
                    self.assertNotIn("reserve", made.pop(0).read_text())
                    self.assertEqual(made.pop(0).name, "ledger-0.head")
                self.assertEqual(made, [])

    def test_what_is_left_can_be_spent_and_no_more(self):
        """Gaussian losses add up in squares, and so does what they leave."""
        for level in ("record", "client"):
            with self.subTest(level):
                words = ["fedavg", *GAUSSIAN, "--noise-key", "key-{client}", "--ledger", level + "-{client}", "--budget-unit", level,
                         "--budget", "3" if level == "record" else "80"]
                first = self.summary([*words, "--total-epsilon", "2"], level)["privacy"]
                note = "\n".join(self.summary([*words, "--total-epsilon", "0.01"], level + "-little")["notes"])
                spent, left = map(float, re.search(r"have spent epsilon = ([0-9.]+), so that this run may come to ([0-9.]+)", note).groups())
                self.assertAlmostEqual(spent, first[level + "_epsilon"], delta=1e-4)
                if level == "record":
                    self.assertGreater(left, 1.5)
                    self.refused(BUDGET, [*words, "--total-epsilon", left * 1.001], "is more than is left")
                    self.summary([*words, "--total-epsilon", left * 0.999], level + "-rest")
                else:
                    self.assertLess(left, 80)

    def test_a_resumed_run_tells_its_own_releases_from_those_of_others(self):
        words = ["fedavg", *LAPLACE, *self.LEDGER, "--budget", "3", "--epsilon", "1"]
        with interrupted("after rename ledger-0.head:3"):
            self.play(words)
        again = self.succeeded(self.run_command(1, ["fedavg", "--resume", "run"]))
        self.assertIn("releases in the ledger, with those of this run so far, have spent epsilon = 1, so that the rest of the run may come to 2", again.err)

    def test_a_run_that_stops_learning_says_so(self):
        words = ["fedavg", *LAPLACE, "--epochs", "4", "--epsilon", "1", *self.LEDGER, "--budget", "2.5"]
        result = self.succeeded(self.run_command(1, ["fedavg", "--source", "data.csv", *words[1:], "--output", "run", "--progress", "on"]))
        self.assertIn("note: learning will stop after round 200 of 400", result.err)
        self.assertIn("budget spent, no learning", result.err)
        self.assertRegex(result.out, "budget +spent: learning ended after round 200 of 400")


def chain_loss(correlation, releases):
    """What somebody with a record in each of the releases pays, in multiples of mu: ||C1||/f."""
    numbers = re.fullmatch(r"omega=(.*),(.*) theta=(.*),(.*) uses=(\d+) apart=(\d+)", correlation).groups()
    omega, theta, (uses, apart) = [float(x) for x in numbers[:2]], [float(x) for x in numbers[2:4]], map(int, numbers[4:])
    column, buffers = [], [0.0, 0.0]
    for t in range(uses * apart + 10000):
        column.append(sum(w * s for w, s in zip(omega, buffers)) if t else 1.0)
        buffers = [b * s + column[-1] for b, s in zip(theta, buffers)]
    of_record = [math.fsum(column[t - j * apart] for j in range(min(uses, t // apart + 1))) for t in range(len(column))]
    rows = itertools.accumulate(column[:releases])
    return math.sqrt(math.fsum(row ** 2 for row in rows) * uses / math.fsum(value ** 2 for value in of_record))


def gaussian_epsilon(mu, delta=1e-5):
    def phi(x):
        return math.erfc(-x / math.sqrt(2)) / 2

    least, most = 0.0, 200.0
    for _ in range(100):
        middle = (least + most) / 2
        if phi(mu / 2 - middle / mu) - math.exp(middle) * phi(-mu / 2 - middle / mu) > delta:
            least = middle
        else:
            most = middle
    return most


class MoreRounds(BudgetCase):
    """Runs with correlated noise that are resumed with more rounds than they began with."""
    MU = 0.03
    BATCH = 3
    PASS = 4  # releases
    COMMON = ["--source", "few.csv", "--mechanism", "gaussian", "--mu", MU, "--noise-correlation", "blt:2", "--batch", BATCH,
              "--epochs", 40, "--noise-key", "seed", "--output", "run", "--progress", "off"]
    COMMANDS = (["omd"], ["fedavg", "--local-steps", "2"])

    def losses(self):
        """Of the client as its ledger says, and by how many releases mu rises."""
        found = self.losses_in(["run/private/0/ledger"])[0]
        rows = [json.loads(line) for line in (self.folder / "run/private/0/ledger").read_text().splitlines()]
        parameters = next(row for row in rows if row["kind"] == "open")["parameters"]
        correlation = re.search(r"correlation: (\S+ \S+ \S+ \S+)", parameters).group(1)
        return found, lambda releases: self.MU * chain_loss(correlation, releases)

    def test_a_client_pays_for_all_rounds_that_are_charged(self):
        self.write("few.csv", "\n".join(csv_rows(self.PASS * self.BATCH)) + "\n")
        for words in self.COMMANDS:
            for budget, unit in ((None, None), (5, "client"), (5, "record")):
                with self.subTest(words[0], budget=budget, unit=unit):
                    shutil.rmtree(self.folder / "run", ignore_errors=True)
                    limit = ["--budget", budget, "--budget-unit", unit] if budget else []
                    self.succeeded(self.run_command(1, [*words, *self.COMMON, *limit, "--rounds", 6, "--checkpoint-every", 6]))
                    again = self.run_command(1, [words[0], "--resume", "run", "--rounds", 80, "--json"])
                    privacy = self.succeeded(again).summary()["privacy"]
                    found, mu = self.losses()
                    releases = found["releases"]
                    client = gaussian_epsilon(self.BATCH * mu(releases))
                    for says in (found["client_total"]["epsilon"], privacy["client_epsilon"], privacy["ledger"]["client_epsilon"]):
                        self.assertAlmostEqual(says / client, 1, delta=1e-9)
                    self.assertAlmostEqual(found["one_per_batch"]["epsilon"] / gaussian_epsilon(mu(releases)), 1, delta=1e-9)
                    record = gaussian_epsilon(self.MU * math.sqrt(-(-releases // self.PASS)))
                    self.assertAlmostEqual(found["record"]["epsilon"] / record, 1, delta=1e-9)
                    if unit == "client":
                        self.assertLessEqual(client, budget)
                        self.assertGreater(gaussian_epsilon(self.BATCH * mu(releases + 1)), budget)
                        self.assertEqual(privacy["budget"]["stopped_clients"], 1)


    def test_a_single_pass_may_have_more_rounds_again_and_again(self):
        """Chains go on with the correlation that they began with, whose price holds for any number of releases."""
        self.write("few.csv", "\n".join(csv_rows(60 * self.BATCH)) + "\n")
        words = [*self.COMMON, "--checkpoint-every", 6]
        words[words.index(40)] = 1
        for command in (*self.COMMANDS, [*INFER, "--intervals", "none", "--tuning", "off"], [*PRIVATE, "--loss", "logistic"]):
            with self.subTest(command[0]):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                self.succeeded(self.run_command(1, [*command, *words, "--rounds", 6]))
                for rounds in (12, 20):
                    again = self.run_command(1, [command[0], "--resume", "run", "--rounds", rounds, "--json"])
                    privacy = self.succeeded(again).summary()["privacy"]
                found, mu = self.losses()
                releases = found["releases"]
                self.assertEqual(releases, 40 if command[0] == "fedavg" else 20)
                self.assertAlmostEqual(privacy["client_epsilon"] / gaussian_epsilon(self.BATCH * mu(releases)), 1, delta=1e-9)
                self.assertAlmostEqual(privacy["epsilon"] / gaussian_epsilon(self.MU), 1, delta=1e-9)


class FirstWords(BudgetCase):
    LINES = ("Who is protected: ", "How much: ", "From whom: ", "Not covered: ")

    def lines(self, summary):
        lines = summary["privacy"]["in_short"]
        self.assertEqual(len(lines), 4)
        for line, begin in zip(lines, self.LINES):
            self.assertTrue(line.startswith(begin), line)
        return lines

    def test_four_lines_and_the_paragraph_where_it_is_wanted(self):
        words = ["fedavg", *LAPLACE, "--total-epsilon", "2"]
        brief = self.play(words)
        whole = self.play([*words, "--verbose"], "whole")
        lines = self.lines(self.summary_in("run"))
        self.assertEqual(lines[0], "Who is protected: a record of one client.")
        self.assertEqual(lines[1], "How much: epsilon = 2 in this run; other runs on the same data add to it.")
        for begin in self.LINES:
            self.assertIn("\n" + begin, brief.out)
            self.assertIn("\n" + begin, whole.out)
        self.assertNotIn("What is protected is one record", " ".join(brief.out.split()))
        self.assertIn("What is protected is one record", " ".join(whole.out.split()))
        for name in ("run", "whole"):
            text = " ".join((self.folder / name / "privacy.txt").read_text().split())
            privacy = self.summary_in(name)["privacy"]
            self.assertEqual(text, " ".join([*privacy["in_short"], privacy["statement"]]))

    def test_with_the_runs_of_a_ledger(self):
        words = ["fedavg", *GAUSSIAN, "--noise-key", "key-{client}", "--ledger", "ledger-{client}", "--total-epsilon", "2"]
        self.summary(words, "first")
        second = self.summary([*words, "--seed", "2"])
        found = re.fullmatch(r"How much: epsilon = ([0-9.]+) at delta = 1e-05 in this run; epsilon = ([0-9.]+) at delta = 1e-05 with "
                             r"the 1 earlier run\(s\) of the ledger\.", self.lines(second)[1])
        self.assertAlmostEqual(float(found[1]), 2, delta=1e-5)
        self.assertAlmostEqual(float(found[2]), second["privacy"]["ledger"]["record_epsilon"], delta=1e-5)
        self.assertGreater(float(found[2]), 2.8)

    def test_from_whom_depends_on_the_trust(self):
        for name, words, pattern in (
            ("local", ["fedavg", *LAPLACE], "messages or results; not whoever operates the machines"),
            ("central", [*PRIVATE, *GAUSSIAN, "--trust", "central"], "not whoever operates rank 0"),
            ("masked", [*PRIVATE, *GAUSSIAN, "--trust", "masked", "--clients", "2"], "unless clients tell their noise"),
            ("none", ["fedavg", "--mechanism", "none"], "nobody"),
            ("seed", ["fedavg", *LAPLACE, "--noise-key", "seed"], "nobody"),
        ):
            with self.subTest(name):
                lines = self.lines(self.summary(words, name))
                self.assertRegex(lines[2], pattern)
                self.assertEqual("nobody" in lines[0], name in ("none", "seed"))

    def test_what_protects_little_is_named(self):
        words = ["fedavg", *GAUSSIAN]
        notes = {name: "\n".join(self.summary([*words, "--total-epsilon", total, "--delta", delta], name)["notes"])
                 for name, total, delta in (("good", 10, 0.01), ("much", 10.1, 0.01), ("often", 10, 0.0101))}
        self.assertNotIn("protects little", notes["good"])
        self.assertRegex(notes["much"], "epsilon = 10.1.* protects little")
        self.assertNotIn("delta = ", notes["much"])
        self.assertRegex(notes["often"], "delta = 0.0101 protects little: it is above 1/100")


if __name__ == "__main__":
    unittest.main()
