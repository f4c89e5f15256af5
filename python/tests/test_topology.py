"""Graphs from and to matrices, NetworkX and files."""

import os
import unittest

from case import *

EDGES = [(0, 1), (1, 2), (2, 0), (0, 2)]


class Topologies(PythonCase):
    def checked(self, graph):
        return starling.topology.check(graph)

    def test_edges_with_and_without_weights(self):
        for rule in ("sender", "receiver"):
            graph = starling.Topology.from_edges(EDGES, 3, weights=rule)
            sums = graph.matrix().sum(axis=0 if rule == "sender" else 1)
            np.testing.assert_allclose(sums, 1)
            self.assertEqual(self.checked(graph)["edges"], 4)
        weighed = starling.Topology.from_matrix(starling.Topology.from_edges(EDGES, 3).matrix())
        for key in ("perron", "contraction", "sender_sums"):
            np.testing.assert_allclose(*[np.array(list(np.atleast_1d(self.checked(graph)[key]).tolist()[0].values())
                                                  if key == "sender_sums" else self.checked(graph)[key])
                                         for graph in (weighed, starling.Topology.from_edges(EDGES, 3))], atol=1e-9)
        with self.assertRaisesRegex(starling.UsageError, "some edges have weights"):
            starling.Topology.from_edges([(0, 1), (1, 0, 0.5)], 2)
        with self.assertRaisesRegex(starling.UsageError, "not square"):
            starling.Topology.from_matrix(np.ones((2, 3)))

    def test_metropolis_weights_are_those_of_starling(self):
        both = [*EDGES[:3], *[(v, u) for u, v in EDGES[:3]], (2, 3), (3, 2)]
        graph = starling.Topology.from_edges(both, 4, weights="metropolis")
        explicit = starling.Topology.from_matrix(graph.matrix())
        self.assertAlmostEqual(self.checked(graph)["contraction"], self.checked(explicit)["contraction"], places=9)

    def test_a_run_with_weights_has_the_bits_of_the_file(self):
        graph = starling.Topology.from_edges(EDGES, 3)
        options = dict(source="synthetic:drift:n=60", clients=3, mechanism="laplace", epsilon=1, tuning="off", seed=2, noise_key="seed", progress="off")
        graph.write("graph.topo")
        one = starling.omd(topology=graph, **options, output="one")
        same_runs(self, one, starling.omd(topology="graph.topo", **options, output="two"))
        self.assertEqual(starling.Topology.read("graph.topo").text, graph.text)
        again = starling.omd(resume="one")
        np.testing.assert_array_equal(again.models, one.models)

    def test_files_with_fractions_and_phases(self):
        text = (SOURCE / "docs" / "reference" / "topology-files.md").read_text().split("```")[1].strip() + "\n"
        with self.assertRaisesRegex(starling.UsageError, "a line 'phase'"):
            starling.Topology(text).edges()
        static = "".join(line + "\n" for line in text.splitlines() if not line.startswith("phase"))
        self.assertAlmostEqual(starling.Topology(static).matrix()[2, 1], 2 / 3)

    def test_a_folder_that_cannot_be_written(self):
        self.write("file", "")
        os.environ["XDG_CACHE_HOME"] = str(self.folder / "file")
        with self.assertRaisesRegex(starling.UsageError, "Set XDG_CACHE_HOME"):
            starling.Topology.generate("ring", 4).file()

    def test_families(self):
        ring = starling.Topology.generate("ring", 4)
        self.assertEqual(ring.edges()[0], 4)
        np.testing.assert_allclose(ring.matrix()[0], [1 / 3, 1 / 3, 0, 1 / 3])
        self.assertEqual(starling.Topology.from_name("random-regular:degree=3,seed=1", 6).text,
                         "weights sender\ngenerate random-regular clients=6 degree=3 seed=1\n")
        with self.assertRaisesRegex(starling.UsageError, "a family needs a number of clients"):
            starling.omd(topology="ring", source="synthetic:drift")
        with self.assertRaisesRegex(starling.UsageError, "no single graph"):
            starling.Topology.generate("random-matching", 4, seed=1, rounds="endless").edges()

    @needs("networkx")
    def test_networkx(self):
        import networkx
        ring = networkx.cycle_graph(5)
        graph = starling.Topology.from_networkx(ring)
        self.assertEqual(self.checked(graph)["edges"], 10)
        named = networkx.DiGraph([("b", "a"), ("a", "c"), ("c", "b")])
        self.assertEqual(starling.Topology.from_networkx(named).edges()[2], [(0, 1, None), (1, 2, None), (2, 0, None)])
        back = graph.to_networkx()
        self.assertTrue(back.is_directed() and all(back.has_edge(u, u) for u in back))
        again = starling.Topology.from_networkx(back)
        np.testing.assert_allclose(again.matrix(), graph.matrix())
        self.assertEqual(again.edges()[1], "explicit")

    @needs("networkx")
    def test_networkx_snapshots(self):
        import networkx
        snapshots = [networkx.DiGraph(edges) for edges in ([("a", "b")], [("b", "c")], [("c", "a")])]
        with self.assertRaisesRegex(starling.UsageError, "the same nodes. .*add_nodes_from"):
            starling.Topology.from_networkx(snapshots)
        for each in snapshots:
            each.add_nodes_from("abc")
        with self.assertRaisesRegex(starling.UsageError, "one graph or more"):
            starling.Topology.from_networkx([])
        graph = starling.Topology.from_networkx(snapshots, rounds=2)
        self.assertEqual(graph.text, "clients 3\nweights sender\nphase 2\nedge 0 1\nphase 2\nedge 1 2\nphase 2\nedge 2 0\n")
        found = self.checked(graph)
        self.assertEqual((found["phases"], found["edges"], found["strongly_connected"]), (3, 3, [False] * 3))
        self.assertIsNotNone(found["joint_window"])
        run = starling.omd(topology=graph, source="synthetic:drift:n=6", clients=3, mechanism="none", progress="off")
        self.assertEqual(run.models.shape, (3, 5))
        self.assertEqual(starling.Topology.from_networkx(snapshots[:1]).text, "clients 3\nweights sender\nedge 0 1\n")


if __name__ == "__main__":
    unittest.main()
