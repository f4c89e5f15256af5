"""Two data sets that differ in one record: everything outside private/, every message and every exit code is the same.

The runs are those of the program with releases that hold noise and no data (noise_alone.cpp), under keys and clocks that are the
same in every run. That is the limit of noise that drowns every record. So every byte is compared, those of models and intervals
too, but for OF_DATA in neighbours.py. The releases themselves, before they lose their integers, may differ in the rounds that the
record takes part in, and in no other.
"""

import concurrent.futures
import unittest

from neighbours import *


# Rounds whose releases a record enters: one for each pass over the data, and one for sums that are released at the end.
# On shares, and in Newton's, every round is over all records.
ROUNDS = {"omd-budget": 2, "infer-central": 2, "infer-newton": 6, "infer-newton-equal": 6, "vertical-shares": 6}


def changes_of(number, changes):
    """The first change and one of the others, each in its turn; all with --long."""
    first, *others = changes
    if SLOW or not others:
        return changes
    return {change: changes[change] for change in (first, others[number % len(others)])}


class Differential(NeighbourTest):
    def check(self, cases, changes=CHANGES, lines=None, code=0):
        lines = lines or table()
        changes = {name: changes_of(number, changes) for number, name in enumerate(cases)}

        def run_all(name):
            ranks = 2 if name.endswith("two-ranks") else 1
            texts = {"none": lines[CHANGED + 1], **changes[name]}
            return {change: self.run_with(f"{name}-{change}", cases[name], with_record(lines, text, name in KNOWN_LABELS), ranks)
                    for change, text in texts.items()}

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            runs = dict(zip(cases, pool.map(run_all, cases)))
        for name in cases:
            first = runs[name]["none"]
            with self.subTest(case=name):
                self.assertEqual(first["exit code"], b"%d" % code, first["stderr"][-2000:])
            for change in changes[name]:
                with self.subTest(case=name, change=change):
                    self.assertEqual(self.difference(first, runs[name][change]), "")
                    if code == 0:
                        self.assertLessEqual(len(self.rounds_moved(f"{name}-none", f"{name}-{change}")), ROUNDS.get(name, 1))

    @fewer
    def test_one_record_shows_nowhere(self):
        self.check(CASES)

    def test_a_label_that_is_ignored_keeps_its_place(self):
        ignoring = {name: [*CASES[name], "--ignore", "7"] for name in ("omd-laplace", "fedavg", "renewable-local", "omd-dealt")}
        self.check(ignoring, {"ignored": "0.3,0.2,0.1,7"})

    def test_categories(self):
        """A record's category decides which features it has, and nothing else."""
        lines = [line.replace(",", f",{'red' if i % 3 else 'blue'},", 1) for i, line in enumerate(table())]
        lines[0] = "a,colour,b,c,y"
        self.check({"categories": ["omd", *FILE, *GAUSSIAN, "--encode", "categories.csv"]},
                   {"another": "0.3,green,0.2,0.1,1"}, lines)

    def test_messages_do_not_show_a_cell(self):
        """A file that cannot be read: its owner is told where, and others nothing of what stands there."""
        lines = with_record(table(), "0.1,Miller-HIV+,0.3,1", False)
        self.check({"unreadable": CASES["omd-laplace"]}, {"another": "0.1,Smith-healthy,0.3,1"}, lines, 3)

    def test_it_can_fail(self):
        """Losses that are shared depend on the record, and so do releases of the program as it is installed."""
        seen = [self.run_with(f"shared-{change}", [*CASES["omd-laplace"], "--metrics", "shared"], lines)
                for change, lines in enumerate([table(), with_record(table(), CHANGES["another"], False)])]
        self.assertIn("stdout", self.difference(*seen))
        models = []
        for change, lines in enumerate([table(), with_record(table(), CHANGES["another"], False)]):
            self.write(f"data-{change}.csv", "\n".join(lines) + "\n")
            words = ["omd", "--source", f"data-{change}.csv", *CASES["omd-laplace"][3:], "--noise-key", "seed", "--json",
                     "--output", f"run-{change}"]
            models.append(self.run_alone(words).summary()["final_model"])
        self.assertNotEqual(*models)


if __name__ == "__main__":
    unittest.main()
