"""Pure mixing, for every row of the method's table of exact answers, on 1, 2, 4 and 7 ranks, within 1e-12.

Every round of every run is compared with the same rounds in exact fractions; the table's own numbers are then compared
with both.
"""

import unittest
from fractions import Fraction as F

from harness import *

TOLERANCE = 1e-12


def equal_shares(clients, edges):
    """Shares[sender][receiver], self included, each sender's equal."""
    shares = [{u: F(1)} for u in range(clients)]
    for sender, receiver in edges:
        shares[sender][receiver] = F(1)
    return [{v: F(1, len(row)) for v in row} for row in shares]


def metropolis(clients, edges):
    degree = [sum(1 for edge in edges if edge[0] == u) for u in range(clients)]
    shares = [{} for _ in range(clients)]
    for u, v in edges:
        shares[u][v] = F(1, 1 + max(degree[u], degree[v]))
    for u in range(clients):
        shares[u][u] = 1 - sum(shares[u].values())
    return shares


def push_sum(start, shares_of_round, rounds):
    """Rows (models, masses) after 0, 1, …, `rounds` rounds."""
    w = [F(1)] * len(start)
    s = [F(x) for x in start]
    rows = [(list(s), list(w))]
    for t in range(rounds):
        shares = shares_of_round(t)
        new_s, new_w = [F(0)] * len(s), [F(0)] * len(s)
        for sender, row in enumerate(shares):
            for receiver, share in row.items():
                new_s[receiver] += share * s[sender]
                new_w[receiver] += share * w[sender]
        s, w = new_s, new_w
        rows.append(([a / b for a, b in zip(s, w)], list(w)))
    return rows


@needs_h5py
class MethodTable(TestCase):
    def mix(self, text, start, rounds, exact, *more):
        """Runs `rounds` rounds on every layout and checks all of them; `exact` are the first rounds in fractions."""
        clients = len(start)
        name = self.write("graph.topo", text)
        self.write("start.csv", "".join(f"{x}\n" for x in start))
        for ranks in LAYOUTS:
            with self.subTest(ranks=ranks):
                output = f"on-{ranks}"
                words = ["--loss", "none", "--topology", name, "--start", "start.csv", "--rounds", rounds,
                         "--record-every", "1", *more]
                summary = self.summary_of(ranks, [*words, *(["--clients", clients] if ranks < clients else [])], output)
                self.assertEqual(summary["rounds"], rounds)
                self.assertAlmostEqual(summary["mass"], clients, delta=TOLERANCE)
                record = self.record(output)
                models, masses = record["model"][:, :, 0], record["mass"]
                self.assertEqual(record["rounds"].tolist(), list(range(rounds + 1)))
                total = sum(start)
                for t in range(rounds + 1):
                    self.assertAlmostEqual(sum(masses[t]), clients, delta=TOLERANCE)
                    if "plain" not in more:
                        self.assertAlmostEqual(sum(models[t] * masses[t]), total, delta=TOLERANCE * max(total, 1))
                for t, (z, w) in enumerate(exact):
                    self.near(models[t], z, f"models after round {t}")
                    self.near(masses[t], w, f"masses after round {t}")
                self.last = models[-1], masses[-1]

    def near(self, found, expected, what):
        self.assertEqual(len(found), len(expected))
        for u, (a, b) in enumerate(zip(found, expected)):
            self.assertAlmostEqual(a, float(b), delta=TOLERANCE * max(1, abs(float(b))), msg=f"{what}, client {u}")

    def limit(self, value):
        self.near(self.last[0], [value] * len(self.last[0]), "limit")

    def one_peer(self, clients, hops, expected):
        phases = [[(u, (u + hop) % clients) for u in range(clients)] for hop in hops]
        exact = push_sum(range(clients), lambda t: equal_shares(clients, phases[t % len(hops)]), len(hops))
        self.assertEqual(exact[-1][0], expected)
        self.mix(topology(clients, [(1, edges) for edges in phases]), list(range(clients)), len(hops), exact)
        self.assertEqual(self.last[0].tolist(), [float(x) for x in expected])  # exactly: all are dyadic

    def test_one_peer_exponential_4(self):
        self.one_peer(4, (1, 2), [F(3, 2)] * 4)

    def test_one_peer_exponential_8(self):
        self.one_peer(8, (1, 2, 4), [F(7, 2)] * 8)

    def test_one_peer_exponential_16(self):
        self.one_peer(16, (1, 2, 4, 8), [F(15, 2)] * 16)

    def test_one_peer_exponential_6_is_not_exact(self):
        self.one_peer(6, (1, 2, 4), [F(5, 2), F(2), F(9, 4), F(5, 2), F(11, 4), F(3)])

    def test_the_generator_makes_the_same_hops(self):
        exact = push_sum(range(6), lambda t: equal_shares(6, [(u, (u + 2 ** (t % 3)) % 6) for u in range(6)]), 7)
        self.mix("generate one-peer-exponential clients=6\n", list(range(6)), 7, exact)

    def test_unbalanced_three(self):
        edges = [(0, 1), (0, 2), (1, 2), (2, 0)]
        exact = push_sum((0, 3, 6), lambda t: equal_shares(3, edges), 8)
        self.assertEqual(exact[1], ([F(18, 5), F(9, 5), F(27, 8)], [F(5, 6), F(5, 6), F(4, 3)]))
        self.assertEqual(exact[2][1], [F(17, 18), F(25, 36), F(49, 36)])
        self.mix(topology(3, [], everywhere=edges), [0, 3, 6], 60, exact)
        self.limit(3)
        self.near(self.last[1], (1, F(2, 3), F(4, 3)), "limit masses")

    def test_jointly_connected(self):
        phases = [[(0, 1), (2, 3)], [(1, 2), (3, 0)]]
        exact = push_sum((0, 4, 8, 12), lambda t: equal_shares(4, phases[t % 2]), 12)
        self.assertEqual(exact[1][0], [0, F(8, 3), 8, F(32, 3)])
        self.mix(topology(4, [(1, edges) for edges in phases]), [0, 4, 8, 12], 120, exact)
        self.limit(6)

    def test_lost_link_whose_sender_knows(self):
        ring = [(1, 2), (2, 3), (3, 0)]
        exact = push_sum((0, 4, 8, 12), lambda t: equal_shares(4, ring + ([] if t % 3 == 0 else [(0, 1)])), 12)
        self.mix(topology(4, [(1, []), (2, [(0, 1)])], everywhere=ring), [0, 4, 8, 12], 120, exact)
        self.limit(6)

    def test_metropolis_path(self):
        edges = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]
        exact = push_sum(range(4), lambda t: metropolis(4, edges), 8)
        self.assertEqual(exact[1][0], [F(1, 3), 1, 2, F(8, 3)])
        text = topology(4, [], "metropolis", edges)
        self.mix(text, [0, 1, 2, 3], 160, exact)
        self.limit(F(3, 2))
        # Both sums are one, so plain mixing does the same.
        for ranks in LAYOUTS:
            (self.folder / f"on-{ranks}").rename(self.folder / f"push-sum-{ranks}")
        self.mix(text, [0, 1, 2, 3], 8, exact, "--mixing", "plain")


if __name__ == "__main__":
    unittest.main()
