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


__all__ = [name for name in globals() if not name.startswith("_")]
