"""The same run on 1, 2, 4 and 7 ranks: models, records and summaries are equal to the last bit."""

import unittest

from harness import *

# What may differ between layouts: times, what crosses ranks, names.
LAYOUT_KEYS = ("time", "ranks", "output", "command_line", "notes")
TRAFFIC_KEYS = ("rank_messages", "rank_bytes", "evaluation_bytes")


def comparable(summary):
    result = {key: value for key, value in summary.items() if key not in LAYOUT_KEYS}
    result["traffic"] = {key: value for key, value in summary["traffic"].items() if key not in TRAFFIC_KEYS}
    # Added up per rank as reports come in, so its last digits depend on the layout.
    result["loss"] = {"mean": summary["loss"]["mean"]}
    # One ledger a rank, with the time in it.
    ledger = summary["privacy"].get("ledger")
    if ledger:
        result["privacy"] = {**summary["privacy"], "ledger": {**ledger, "heads": []}}
    return result


@needs_h5py
class Layouts(TestCase):
    def check_equal(self, words, clients, layouts=LAYOUTS):
        """Runs on every layout and compares; returns the summary."""
        runs = {}
        records = {}
        for ranks in layouts:
            output = f"on-{ranks}"
            more = ["--clients", clients] if ranks < clients else []
            runs[ranks] = self.summary_of(ranks, [*words, *more], output)
            records[ranks] = self.record(output)
        first, record = runs[1], records[1]
        self.assertEqual(len(first["models"]), clients)
        self.assertEqual(record["final_model"].tolist(), first["models"])
        for ranks in layouts[1:]:
            with self.subTest(ranks=ranks):
                self.assertEqual(bits(runs[ranks]["models"]), bits(first["models"]))
                self.assertEqual(set(records[ranks]), set(record))
                for name, array in record.items():
                    self.assertEqual(records[ranks][name].shape, array.shape, name)
                    self.assertEqual(records[ranks][name].tobytes(), array.tobytes(), name)
                self.assertEqual(bits(comparable(runs[ranks])), bits(comparable(first)))
                last = first["loss"]["last"]
                self.assertEqual(last is None, runs[ranks]["loss"]["last"] is None)
                if last is not None:
                    self.assertAlmostEqual(runs[ranks]["loss"]["last"], last, delta=1e-12 * abs(last))
        return first

    def topology(self, name):
        return ["--topology", SOURCE / "topologies" / f"{name}.topo"]

    DRIFT = ["--source", "synthetic:drift:informative=1,n=200", "--mechanism", "laplace", "--epsilon", "2",
             "--noise-key", "seed", "--seed", "5"]

    def test_noise_on_an_unbalanced_graph(self):
        summary = self.check_equal([*self.DRIFT, *self.topology("unbalanced-5"), "--domain", "ball:3"], 5)
        self.assertGreater(summary["consensus_error"], 0)

    def test_time_varying_graph_and_entropic_map(self):
        words = [*self.DRIFT, *self.topology("jointly-connected-4"), "--mirror", "entropic", "--lazy", "0.1"]
        for model in self.check_equal(words, 4)["models"]:
            self.assertAlmostEqual(sum(model), 1, delta=1e-12)
            self.assertGreaterEqual(min(model), 0)

    def test_one_peer_graph_and_signed_entropic_map(self):
        words = [*self.DRIFT, *self.topology("one-peer-exponential-8"), "--mirror", "entropic-signed", "--domain",
                 "l1ball:2", "--batch", "3", "--intercept"]
        for model in self.check_equal(words, 8)["models"]:
            self.assertLessEqual(sum(map(abs, model)), 2 + 1e-12)

    @fewer
    def test_multiplicative_steps_on_an_orthant(self):
        for model in self.check_equal([*self.DRIFT, *self.topology("jointly-connected-4"), "--mirror", "kl:0.5"], 4, layouts())["models"]:
            self.assertGreaterEqual(min(model), 0)
            self.assertGreater(max(model), min(model))

    @fewer
    def test_steps_in_singular_values(self):
        self.check_equal([*self.DRIFT, *self.topology("jointly-connected-4"), "--intercept", "--mirror", "p-norm:1.5,rows=2"], 4, layouts())

    @fewer
    def test_plain_mixing(self):
        ring = [(u, v) for u in range(5) for v in ((u + 1) % 5, (u * u + 2) % 5) if u != v]
        self.write("receiver.topo", topology(5, [], "receiver", sorted(set(ring))))
        self.check_equal([*self.DRIFT, "--topology", "receiver.topo", "--mixing", "plain", "--l2", "0.01", "--mirror",
                          "euclidean:l1=0.01,group=0.01,size=2"], 5, layouts())

    @fewer
    def test_noise_between_pairs(self):
        words = ["--source", "synthetic:logistic:n=60", "--mechanism", "gaussian", "--total-epsilon", "0.5", "--trust", "pairs",
                 "--tuning", "auto", "--noise-correlation", "blt:2", "--noise-key", "seed", *self.topology("one-peer-exponential-8")]
        summary = self.check_equal(words, 8, layouts())
        self.assertEqual(summary["privacy"]["pairs"]["pairs"], 28)

    @fewer
    def test_messages_in_few_bits(self):
        words = [*self.DRIFT, *self.topology("exponential-10"), "--dropout", "0.2", "--link-loss", "0.1", "--gossip-steps", "2"]
        summary = self.check_equal([*words, "--message-precision", "bits:6"], 10, layouts())
        self.assertAlmostEqual(summary["mass"], 10, delta=1e-12)

    @needs_a9a
    @fewer
    def test_a9a_with_noise(self):
        # 32,561 records: batches of 22 give each of five clients some 300 rounds.
        words = ["--source", DATA / "a9a" / "a9a.gz", "--format", "svmlight", "--dimension", "123", "--partition",
                 "dirichlet:0.5", "--batch", "22", "--rounds", "290", "--loss", "logistic", "--domain", "ball:10",
                 "--mechanism", "laplace", "--epsilon", "8", "--noise-key", "seed",
                 *self.topology("unbalanced-5")]
        summary = self.check_equal(words, 5, layouts())
        self.assertEqual((summary["dimension"], summary["rounds"]), (123, 290))


if __name__ == "__main__":
    unittest.main()
