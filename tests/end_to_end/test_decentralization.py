"""In the rounds of `starling omd` nothing passes but over edges, as Open MPI's own monitoring counts it.

Two runs that differ in rounds alone have the same start and end, collectives and all, so these cancel in the difference
of what MPI has counted, and what is left is all that passed in the rounds between. jobs/decentralized.py does that; here
it is held against edges worked out apart from it and from the program, and shown what it must refuse."""

import random
import shutil
import subprocess
import sys

from harness import *

DATA_WORDS = ["--source", "synthetic:drift:informative=1,n=1000", "--mechanism", "laplace", "--epsilon", "2"]
ROUNDS = 120  # from 871 to 990
MESSAGE = 8 * 6  # bytes: five features and the mass


def monitors():
    """Whether the MPI library can count messages."""
    if shutil.which("ompi_info") is None:
        return False
    return "pml: monitoring" in subprocess.run(["ompi_info"], capture_output=True, text=True).stdout


@unittest.skipUnless(monitors(), "the MPI library has no component that monitors messages")
class Decentralization(TestCase):
    def script(self, *words):
        return self.run_program([sys.executable, "-B", SOURCE / "jobs" / "decentralized.py", "--starling", STARLING, *words])

    def play(self, ranks, *words, rounds=()):
        return self.script("--ranks", ranks, "--folder", "runs", *(("--rounds", *rounds) if rounds else ()), "--", *words)

    def look_again(self, *words):
        return self.script("--folder", "runs", "--read", *words)

    def counted(self, ranks):
        """{(from, to): (messages, bytes)} in the rounds between, from MPI's files, of every kind of message."""
        total = {}
        for name, sign in (("more", 1), ("less", -1)):
            for rank in range(ranks):
                for line in (self.folder / "runs" / f"{name}.{rank}.prof").read_text().splitlines():
                    fields = line.split("\t")
                    if fields[0] not in "EICSR" or not line[0].isalpha() or len(fields) < 5:
                        continue
                    key = fields[0], int(fields[1]), int(fields[2])
                    messages, size = total.get(key, (0, 0))
                    total[key] = (messages + sign * int(fields[4].split()[0]), size + sign * int(fields[3].split()[0]))
        # As many messages within collectives; a text that is joined at the end may be longer by a digit.
        self.assertEqual([key for key, (messages, _) in total.items() if key[0] != "E" and messages != 0], [])
        return {(sender, to): value for (kind, sender, to), value in total.items() if kind == "E" and value != (0, 0)}

    def expect(self, ranks, rounds_of_edges):
        """Exactly these edges, so many rounds each, and as summary.json says."""
        expected = {edge: (rounds, MESSAGE * rounds) for edge, rounds in rounds_of_edges.items()}
        self.assertEqual(self.counted(ranks), expected)
        edges = {}
        for name, sign in (("more", 1), ("less", -1)):
            summary = self.summary_in(f"runs/{name}")
            for sender, to, messages, size in summary["traffic"]["edges"]:
                before = edges.get((sender, to), (0, 0))
                edges[sender, to] = before[0] + sign * messages, before[1] + sign * size
        self.assertEqual(edges, expected)

    def yes(self, result):
        self.assertEqual(result.code, 0, result)
        self.assertIn("\nyes: ", result.out)

    def no(self, result, *reasons):
        self.assertEqual(result.code, 1, result)
        self.assertIn("\nno: ", result.out)
        for reason in reasons:
            self.assertIn(reason, result.out)

    def ring(self, clients):
        return ["--topology", self.write("ring.topo", f"generate directed-ring clients={clients}\n")]

    def test_a_graph_that_is_not_named(self):
        self.yes(self.play(4, "omd", "--tuning", "off", *DATA_WORDS))
        self.expect(4, {(u, (u + k) % 4): ROUNDS for u in range(4) for k in (1, 2)})

    def test_directed_ring(self):
        result = self.play(4, "omd", "--tuning", "off", *self.ring(4), *DATA_WORDS)
        self.yes(result)
        self.assertIn("0 bytes between the 8 pairs of ranks without an edge", result.out)
        self.expect(4, {(u, (u + 1) % 4): ROUNDS for u in range(4)})
        self.doctored_counts()
        self.doctored_summary()
        self.yes(self.look_again("--graph", "ring.topo"))

    def doctored_counts(self):
        """Of the run above: a message where there is no edge, one more where there is one, a collective."""
        path = self.folder / "runs" / "more.2.prof"
        counts = path.read_text()
        for line, reason in (("E\t2\t0\t8 bytes\t1 msgs sent", "1 messages (8 bytes) from rank 2 to rank 0, which share no"),
                             ("E\t2\t3\t48 bytes\t1 msgs sent", f"{ROUNDS + 1} messages"),
                             ("I\t2\t1\t8 bytes\t1 msgs sent", "1 messages within collectives"),
                             ("C\t2\t1\t8 bytes\t1 msgs sent", "1 parts in collectives"),
                             ("S\t2\t1\t8 bytes\t1 msgs sent", "1 one-sided writes")):
            path.write_text(f"{counts}{line}\n")
            self.no(self.look_again("--graph", "ring.topo"), reason)
        path.unlink()
        result = self.look_again("--graph", "ring.topo")
        self.assertEqual((result.code, "more.2.prof is missing" in result.err), (2, True), result)
        path.write_text(counts)

    def doctored_summary(self):
        path = self.folder / "runs" / "more" / "summary.json"
        text = path.read_text()
        summary = json.loads(text)
        summary["traffic"]["edges"][0][3] += 8
        path.write_text(json.dumps(summary))
        self.no(self.look_again("--graph", "ring.topo"), "where summary.json says")
        path.write_text(text)

    @slow
    def test_random_sparse_graph(self):
        draw = random.Random(5)
        edges = {(u, (u + 1) % 5) for u in range(5)}  # connected, and four more
        while len(edges) < 9:
            edges.add(tuple(draw.sample(range(5), 2)))
        self.write("sparse.topo", topology(5, [], everywhere=sorted(edges)))
        self.yes(self.play(5, "omd", "--tuning", "off", "--topology", "sparse.topo", *DATA_WORDS))
        self.expect(5, {edge: ROUNDS for edge in edges})
        self.write("without.topo", topology(5, [], everywhere=sorted(edges)[1:]))
        sender, to = sorted(edges)[0]
        self.no(self.look_again("--graph", "without.topo"), f"from rank {sender} to rank {to}, which share no edge")

    def test_graph_that_changes(self):
        """An edge is used in the rounds of its phases and in no other: how often tells."""
        phases = [(1, [(0, 1), (2, 3)]), (2, [(1, 2), (3, 0)]), (3, [(0, 2), (1, 0)])]
        self.write("phases.topo", topology(4, phases))
        self.yes(self.play(4, "omd", "--tuning", "off", "--topology", "phases.topo", *DATA_WORDS, rounds=(284, 308)))
        period = [edges for rounds, edges in phases for _ in range(rounds)]
        expected = {}
        for t in range(284, 308):
            for edge in period[t % len(period)]:
                expected[edge] = expected.get(edge, 0) + 1
        self.assertEqual(sorted(set(expected.values())), [4, 8, 12])
        self.expect(4, expected)

    @slow
    def test_several_clients_on_a_rank(self):
        result = self.play(4, "omd", "--tuning", "off", "--clients", 10, *self.ring(10), *DATA_WORDS)
        self.yes(result)
        self.assertEqual(set(self.counted(4)), {(r, (r + 1) % 4) for r in range(4)})

    def test_an_aggregator_is_none(self):
        self.no(self.play(4, "fedavg", *DATA_WORDS, rounds=(284, 308)), "from rank 1 to rank 0, which share no edge",
                "from rank 0 to rank 3, which share no edge")

    def test_rounds_that_are_reported(self):
        """Reports to rank 0 are messages too, and no edges: the script does not pass them over."""
        result = self.play(4, "omd", "--tuning", "off", *self.ring(4), *DATA_WORDS, rounds=(300, 600))
        self.no(result, "6 of these rounds are reported to rank 0", "6 messages (960 bytes) from rank 1 to rank 0",
                "6 messages (960 bytes) from rank 2 to rank 0", "306 messages (15360 bytes) from rank 3 to rank 0")
        # Round, number of nodes and time, and a node of 12 figures and the sum of five-dimensional models, from each rank,
        # and nothing else beside the edges.
        self.assertEqual(960, 6 * 8 * (3 + 12 + 5))
        expected = {(u, (u + 1) % 4): (300, 300 * MESSAGE) for u in range(4)}
        for rank in (1, 2, 3):
            messages, size = expected.get((rank, 0), (0, 0))
            expected[rank, 0] = messages + 6, size + 960
        self.assertEqual(self.counted(4), expected)

    def test_a_run_that_fails_is_no_answer(self):
        result = self.play(2, "omd", "--source", "nowhere.csv", "--mechanism", "none")
        self.assertEqual(result.code, 2)
        self.assertIn("nowhere.csv", result.err)

    def test_what_mpi_does_not_see_is_refused(self):
        result = self.play(2, "omd", "--tuning", "off", *DATA_WORDS, "--exchange", "windows")
        self.assertEqual(result.code, 2)
        self.assertIn("leave out --exchange", result.err)


if __name__ == "__main__":
    unittest.main()
