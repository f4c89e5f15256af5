"""Progress on terminals, in logs and for tools; and what mpirun says after an error."""

import json
import re
import subprocess
import unittest

from harness import *
from terminal import Terminal

RUN = ["omd", "--source", "synthetic:drift", "--mechanism", "laplace", "--epsilon", "1", "--tuning", "off"]
LONG = [*RUN, "--clients", "2", "--rounds", "100000000"]


class Bars(TestCase):
    def mpirun(self, *words):
        return [MPIRUN, "--oversubscribe", "-n", "2", STARLING, *words]

    def bars_in(self, text):
        return [bar.split("\x1b[K")[0].rstrip("\r\n") for bar in text.split("\r[")[1:]]

    def test_a_terminal_has_a_bar_that_fits_and_comes_before_the_table(self):
        for columns in (40, 60, 100):
            terminal = Terminal([STARLING, *RUN, "--clients", "4", "--rounds", "3000", "--output", f"run-{columns}"], self.folder,
                                columns)
            self.assertEqual(terminal.finish(), 0, terminal.text)
            bars = self.bars_in(terminal.text)
            self.assertGreater(len(bars), 5)
            self.assertLess(max(len(bar) + 1 for bar in bars), columns)
            self.assertNotRegex(bars[0], "left|rounds/s")
            self.assertIn("round 3000/3000", bars[-1])
            self.assertLess(terminal.text.rindex("\r["), terminal.text.index("epsilon per record"))

    def test_mpirun_on_a_terminal_has_one_too(self):
        """Rank 0 writes to a pipe there. The bar has the width of mpirun's terminal."""
        terminal = Terminal(self.mpirun(*RUN, "--rounds", "2000", "--output", "run"), self.folder, 160)
        self.assertEqual(terminal.finish(), 0, terminal.text)
        bars = self.bars_in(terminal.text)
        self.assertIn("round 2000/2000", bars[-1])
        self.assertLess(max(map(len, bars)), 159)
        self.assertGreater(max(map(len, bars)), 99)
        self.assertRegex(bars[-1], r"eps spent 1  slowest rank [01] \(\d+\.\dx\)")

    def test_mpirun_with_a_log_has_lines(self):
        """Of a terminal that sees standard output alone."""
        with open(self.folder / "log", "w+") as log:
            terminal = Terminal(self.mpirun(*RUN, "--rounds", "200", "--output", "run"), self.folder, stderr=log)
            self.assertEqual(terminal.finish(), 0, terminal.text)
            log.seek(0)
            text = log.read()
        self.assertNotIn("\r", text)
        self.assertRegex(text, r"(?m)^round +200/200  loss .*  eps spent 1  ")

    def test_a_shell_between_mpirun_and_the_program_has_lines(self):
        """It may have sent the output elsewhere."""
        script = self.write("run.sh", f'#!/bin/sh\n"{STARLING}" "$@" 2>&1 | cat >&2\n')
        os.chmod(script, 0o755)
        terminal = Terminal([MPIRUN, "-n", "1", script, *RUN, "--rounds", "50", "--output", "run"], self.folder)
        self.assertEqual(terminal.finish(), 0, terminal.text)
        self.assertNotIn("\r[", terminal.text)
        self.assertRegex(terminal.text, r"round +50/50  ")


class Lines(TestCase):
    def begin(self, *words):
        """A run that goes on until it is stopped, and the lines of its standard error with their times."""
        process = subprocess.Popen([STARLING, *LONG, *words, "--output", "run"], cwd=self.folder, env=environment(),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def lines_until(self, process, mark, count):
        """The lines with `mark` until there are so many, each with its time; then the rest, after the run was stopped."""
        lines = []
        while len(lines) < count:
            line = process.stderr.readline()
            self.assertNotEqual(line, "", "the run has ended")
            if mark in line:
                lines.append((time.monotonic(), line))
        process.send_signal(signal.SIGTERM)
        _, rest = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 75, rest)
        return lines, [line for line in rest.splitlines() if mark in line]

    def test_lines_come_by_time(self):
        lines, rest = self.lines_until(self.begin(), "rounds/s", 3)
        gaps = [later[0] - earlier[0] for earlier, later in zip(lines, lines[1:])]
        self.assertGreater(gaps[0], 1.8)
        self.assertGreater(gaps[1], gaps[0] + 0.5, "gaps grow")
        for _, line in lines:
            self.assertRegex(line, r"^round +\d+/100000000  loss [\d.]+  accuracy .*  \d+ rounds/s  \d+ (s|min|h) left$")
        self.assertRegex(rest[-1], r"^round +\d+/100000000  ")

    def test_json_is_one_object_a_line(self):
        lines, rest = self.lines_until(self.begin("--progress", "json"), "{", 4)
        objects = [json.loads(line) for line in [*(line for _, line in lines), *rest]]
        documented = (SOURCE / "docs" / "reference" / "progress.md").read_text().split("## Keys")[1]
        keys = re.findall(r"(?m)^\| `(\w+)` \|", documented)
        for each in objects:
            self.assertEqual(list(each), keys)
        rounds = [each["round"] for each in objects]
        self.assertEqual(rounds, sorted(rounds))
        self.assertEqual([each["last"] for each in objects], [False] * (len(objects) - 1) + [True])
        self.assertGreater(objects[2]["seconds"] - objects[1]["seconds"], 0.9)
        middle = objects[-2]
        self.assertEqual(middle["rounds"], 100000000)
        self.assertEqual((middle["epsilon_per_release"], middle["epsilon_spent"]), (1, 1))
        self.assertGreater(middle["rounds_per_second"], 0)
        self.assertGreater(middle["seconds_left"], 0)
        self.assertIsNone(middle["test_loss"])
        self.assertIsNone(middle["slowest_rank"], "there is one rank")

    def test_a_tool_reads_ranks(self):
        result = self.run_command(2, [*RUN, "--rounds", "300", "--progress", "json", "--output", "run"])
        last = json.loads(result.err.splitlines()[-1])
        self.assertEqual((last["round"], last["last"]), (300, True))
        self.assertIn(last["slowest_rank"], (0, 1))
        self.assertGreaterEqual(last["slowest_times_mean"], 1)

    def test_withheld_figures_stay_so(self):
        """Losses of private records are not shown."""
        self.write("d.csv", "\n".join(csv_rows(60)) + "\n")
        result = self.run_alone(["omd", "--source", "d.csv", "--mechanism", "laplace", "--epsilon", "1", "--progress", "json",
                                 "--output", "run"])
        last = json.loads(result.err.splitlines()[-1])
        self.assertEqual((last["loss"], last["accuracy"]), (None, None))
        self.assertEqual(last["epsilon_spent"], 1)


class AfterErrors(TestCase):
    def test_mpirun_can_be_kept_quiet(self):
        command = [MPIRUN, "--oversubscribe", "-n", "2", STARLING, *RUN, "--rounds", "-1"]
        for quiet, lines in (("1", 1), ("0", 2)):
            done = subprocess.run(command, cwd=self.folder, env={**environment(), "OMPI_MCA_orte_execute_quiet": quiet},
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 2, done)
            shown = [line for line in done.stderr.splitlines() if line.strip()]
            self.assertTrue(shown[0].startswith("starling: "), done)
            (self.assertEqual if quiet == "1" else self.assertGreaterEqual)(len(shown), lines, done)


if __name__ == "__main__":
    unittest.main()
