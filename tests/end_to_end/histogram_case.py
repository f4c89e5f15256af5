"""What tests of histograms that clients release before the first round share."""

import hashlib

from harness import *

CLIENTS = 4


class HistogramCase(TestCase):
    def keys(self):
        for client in range(CLIENTS):
            self.write_key(f"key-{client}", hashlib.sha256(b"key %d" % client).hexdigest())
        return ["--noise-key", str(self.folder / "key-{client}")]

    def config(self, output):
        return configuration(self.folder / output)

    def check_layouts(self, words, option, counts):
        """On any of these numbers of ranks a run has the same bits, chooses the same value of an option, and costs the same."""
        seen = set()
        for ranks in counts:
            summary = self.summary_of(ranks, [*words, "--noise-key", "seed"], f"run-{ranks}")
            privacy = {key: value for key, value in summary["privacy"].items() if key not in ("ledger", "statement")}
            seen.add(repr((bits(summary["final_model"]), self.config(f"run-{ranks}")[option], bits(privacy))))
        self.assertEqual(len(seen), 1, seen)


class ConstantsCase(HistogramCase):
    """What a method with constants of columns of its own keeps: `command` runs it."""

    command = ""

    def learned(self, words, output, ranks=1):
        self.succeeded(self.run_command(ranks, [*words, "--output", output]))
        return self.summary_in(output)

    def figures(self, output):
        summary = self.summary_in(output)
        return [bits(summary.get("own_units")), bits(summary["final_model"]), summary.get("settling"), bits(summary["privacy"]["mu"]),
                self.config(output)["standardise"]]

    def same_choices(self, result, output, expected):
        """A start that has chosen nothing, and whose results are those of another."""
        self.assertEqual([line for line in self.succeeded(result).err.splitlines() if line.startswith("tuning: ")], [])
        self.assertEqual(self.figures(output), self.figures(expected))

    def check_ranks(self, words):
        for ranks in layouts():
            self.learned(words, f"run-{ranks}", ranks)
            self.assertEqual(self.figures(f"run-{ranks}"), self.figures("run-1"), ranks)

    def check_kills(self, words, checkpoints):
        """A run that is killed goes on and releases nothing again; a configuration repeats the run."""
        words = [*words, "--mu", 2, "--noise-key", "seed", "--checkpoint-every", 1]
        self.learned(words, "whole", 2)
        for after in checkpoints:
            name = f"cut-{after}"
            with interrupted(f"checkpoint:{after}"):
                self.assertNotEqual(self.run_command(2, [*words, "--output", name]).code, 0)
            self.same_choices(self.run_command(2, [self.command, "--resume", name, "--progress", "off"]), name, "whole")
            rows = [json.loads(line) for line in (self.folder / name / "private/0/ledger").read_text().splitlines()]
            ends = [row["run"].rpartition(":")[2] for row in rows if row["kind"] == "open" and ":" in row["run"]]
            self.assertEqual(ends[:2], ["features", "within"])
            self.assertEqual(len(ends), len(set(ends)))
        self.same_choices(self.run_command(1, [self.command, "--config", "whole/config.ini", "--output", "again"]), "again", "whole")


__all__ = [name for name in globals() if not name.startswith("_")]
