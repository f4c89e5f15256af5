"""Graphs as SciPy and NetworkX write them, without further ado: what `topology check` says of them is what NumPy says of the
matrix, and pure mixing is multiplication by it. Entry (i, j) of a matrix is the weight from j to i."""

import json
import unittest

from harness import *

try:
    import scipy.io
    import scipy.sparse
except ImportError:
    scipy = None
try:
    import networkx
except ImportError:
    networkx = None

needs_scipy = unittest.skipIf(scipy is None or numpy is None, "SciPy is not installed")
needs_networkx = unittest.skipIf(networkx is None or numpy is None, "NetworkX is not installed")
USAGE = 2
TOLERANCE = 1e-12


def random_shares(clients, seed):
    """A matrix whose columns sum to one, of no symmetry, with zeros in it, that connects all clients."""
    random = numpy.random.default_rng(seed)
    matrix = random.uniform(0.1, 1, (clients, clients)) * (random.uniform(size=(clients, clients)) < 0.4)
    for u in range(clients):
        matrix[u, u] = 0.5
        matrix[(u + 1) % clients, u] = 0.25 + 0.5 * random.uniform()
    return matrix / matrix.sum(axis=0)


def symmetric_shares(clients, seed):
    """A symmetric matrix of equal sums."""
    lower = numpy.tril(numpy.random.default_rng(seed).uniform(size=(clients, clients)) / clients, -1)
    matrix = lower + lower.T
    return matrix + numpy.diag(1 - matrix.sum(axis=0))


def equal_shares(matrix):
    """What a sender does who knows its receivers only: equal shares for them and itself."""
    links = (matrix != 0) | numpy.eye(len(matrix), dtype=bool)
    return links / links.sum(axis=0)


def perron(matrix):
    """The right vector of eigenvalue one, or the left one where receiver sums are one; it sums to one."""
    receiver = numpy.allclose(matrix.sum(axis=1), 1, atol=1e-9)
    values, vectors = numpy.linalg.eig(matrix.T if receiver else matrix)
    vector = numpy.real(vectors[:, numpy.argmin(abs(values - 1))])
    return vector / vector.sum()


class GraphCase(TestCase):
    def path(self, name):
        return str(self.folder / name)

    def check(self, name, matrix, tolerance=TOLERANCE):
        """Compares what is said of the file with the matrix, and returns it."""
        result = self.run_alone(["topology", "check", name, "--json"])
        self.assertEqual((result.code, result.err), (0, ""), result)
        found = json.loads(result.out)
        off_diagonal = (matrix != 0) & ~numpy.eye(len(matrix), dtype=bool)
        self.assertEqual((found["clients"], found["edges"]), (len(matrix), off_diagonal.sum()))
        for key, sums in (("sender_sums", matrix.sum(axis=0)), ("receiver_sums", matrix.sum(axis=1))):
            self.assertAlmostEqual(found[key]["min"], sums.min(), delta=tolerance)
            self.assertAlmostEqual(found[key]["max"], sums.max(), delta=tolerance)
        numpy.testing.assert_allclose(found["perron"], perron(matrix), rtol=0, atol=1e-9)
        return found

    def mix(self, name, matrix, rounds, *more):
        """Pure mixing by push-sum or, with --mixing plain, without masses, against powers of the matrix."""
        clients = len(matrix)
        start = numpy.random.default_rng(7).uniform(-1, 1, clients)
        self.write("start.csv", "".join(f"{x!r}\n" for x in start.tolist()))
        output = f"run-{name}-{'-'.join(more)}"
        words = ["--loss", "none", "--topology", name, "--start", "start.csv", "--rounds", rounds, "--clients", clients]
        summary = self.summary_of(2, [*words, *more], output)
        power = numpy.linalg.matrix_power(matrix, rounds)
        expected = power @ start if "plain" in more else (power @ start) / power.sum(axis=1)
        numpy.testing.assert_allclose(numpy.ravel(summary["models"]), expected, rtol=0, atol=1e-9)

    def refuse(self, name, expected):
        result = self.run_alone(["topology", "check", name])
        self.assertEqual((result.code, result.out, len(result.messages())), (USAGE, "", 1), result)
        for text in (name, *expected):
            self.assertIn(text, result.messages()[0])


@needs_scipy
class MatrixMarket(GraphCase):
    """scipy.io.mmwrite"""

    def test_sparse_matrices_of_every_kind(self):
        matrix = random_shares(7, 1)
        for kind in (scipy.sparse.coo_matrix, scipy.sparse.csr_matrix, scipy.sparse.csc_matrix, scipy.sparse.lil_matrix):
            with self.subTest(kind.__name__):
                scipy.io.mmwrite(self.path("g.mtx"), kind(matrix))
                self.check("g.mtx", matrix)
        scipy.io.mmwrite(self.path("c.mtx"), scipy.sparse.csr_matrix(matrix), comment="weights of the pilot\n% of May\n3 3 3")
        self.assertEqual(self.check("c.mtx", matrix)["digest"], self.check("g.mtx", matrix)["digest"])

    def test_a_name_without_ending_gets_one(self):
        matrix = random_shares(4, 2)
        scipy.io.mmwrite(self.path("g"), scipy.sparse.coo_matrix(matrix))
        self.check("g.mtx", matrix)

    def test_arrays(self):
        matrix = random_shares(6, 3)
        scipy.io.mmwrite(self.path("array.mtx"), matrix)
        self.assertIn("array real general", (self.folder / "array.mtx").read_text())
        self.check("array.mtx", matrix)
        symmetric = symmetric_shares(6, 3)
        scipy.io.mmwrite(self.path("symmetric.mtx"), symmetric)
        self.assertIn("array real symmetric", (self.folder / "symmetric.mtx").read_text())
        self.check("symmetric.mtx", symmetric)

    def test_symmetric_matrices(self):
        matrix = symmetric_shares(5, 4)
        for symmetry in ("symmetric", "general"):
            with self.subTest(symmetry):
                scipy.io.mmwrite(self.path("g.mtx"), scipy.sparse.csr_matrix(matrix), symmetry=symmetry)
                self.assertIn(f"coordinate real {symmetry}", (self.folder / "g.mtx").read_text())
                self.check("g.mtx", matrix)

    def test_whole_numbers_and_patterns(self):
        hop = numpy.roll(numpy.eye(5, dtype=int), 1, axis=0)
        for text, matrix in (("coordinate", scipy.sparse.coo_matrix(hop)), ("array", hop)):
            scipy.io.mmwrite(self.path("hop.mtx"), matrix)
            self.assertIn(f"{text} integer general", (self.folder / "hop.mtx").read_text())
            self.mix("hop.mtx", hop.astype(float), 3)
            shutil.rmtree(self.folder / "run-hop.mtx-")
        weights = random_shares(6, 5)
        scipy.io.mmwrite(self.path("pattern.mtx"), scipy.sparse.coo_matrix(weights), field="pattern")
        self.check("pattern.mtx", equal_shares(weights))
        self.mix("pattern.mtx", equal_shares(weights), 4)

    def test_precision(self):
        """Shares of few digits are read as they stand, and push-sum says that they do not sum to one."""
        matrix = random_shares(5, 6)
        scipy.io.mmwrite(self.path("g.mtx"), scipy.sparse.coo_matrix(matrix), precision=12)
        self.check("g.mtx", matrix, 1e-10)
        scipy.io.mmwrite(self.path("rough.mtx"), scipy.sparse.coo_matrix(matrix), precision=3)
        rough = scipy.io.mmread(self.path("rough.mtx")).toarray()
        self.assertGreater(abs(rough.sum(axis=0) - 1).max(), 1e-6)
        result = self.run_ranks(1, ["--topology", "rough.mtx", "--source", "synthetic:drift:n=9", "--mechanism", "none",
                                    "--clients", 5, "--output", "out"])
        self.assertEqual((result.code, len(result.messages())), (USAGE, 1), result)
        self.assertIn("as sender sum to", result.messages()[0])

    def test_mixing_is_multiplication_by_the_matrix(self):
        sender = random_shares(7, 8)
        self.assertFalse(numpy.allclose(sender.sum(axis=1), 1))
        for name, matrix, more in (("sender.mtx", sender, ()), ("receiver.mtx", sender.T, ("--mixing", "plain")),
                                   ("both.mtx", symmetric_shares(5, 9), ()),
                                   ("both.mtx", symmetric_shares(5, 9), ("--mixing", "plain"))):
            with self.subTest(name, more=more):
                scipy.io.mmwrite(self.path(name), scipy.sparse.csc_matrix(matrix))
                self.check(name, matrix)
                self.mix(name, matrix, 6, *more)

    def test_what_is_no_graph(self):
        negative = numpy.array([[0, 1.0], [-1, 0]])
        cases = {
            "skew.mtx": (scipy.sparse.coo_matrix(negative), {}, ["skew-symmetric", "general"]),
            "negative.mtx": (scipy.sparse.coo_matrix(negative), {"symmetry": "general"}, ["weight -1", "negative"]),
            "complex.mtx": (scipy.sparse.coo_matrix(1j * abs(negative)), {}, ["complex"]),
            "oblong.mtx": (scipy.sparse.coo_matrix(numpy.ones((2, 3))), {}, ["2 rows and 3 columns"]),
            "vector.mtx": (numpy.ones((3, 1)), {}, ["3 rows and 1 columns"]),
        }
        for name, (matrix, more, expected) in cases.items():
            with self.subTest(name):
                scipy.io.mmwrite(self.path(name), matrix, **more)
                self.refuse(name, expected)


@needs_networkx
class EdgeLists(GraphCase):
    """networkx.write_edgelist and write_weighted_edgelist; edge u v of a DiGraph is u sending to v."""

    def graph(self, matrix):
        return networkx.from_numpy_array(matrix.T, create_using=networkx.DiGraph)

    def test_weights_in_every_way(self):
        matrix = random_shares(6, 11)
        graph = self.graph(matrix)
        self.assertEqual(graph[0][1]["weight"], matrix[1, 0])
        ways = {
            "weighted.edges": lambda path: networkx.write_weighted_edgelist(graph, path),
            "weighted.edgelist": lambda path: networkx.write_weighted_edgelist(graph, path),
            "commas.txt": lambda path: networkx.write_weighted_edgelist(graph, path, delimiter=","),
            "tabs.txt": lambda path: networkx.write_weighted_edgelist(graph, path, delimiter="\t"),
            "data.edges": lambda path: networkx.write_edgelist(graph, path),
            "data-commas.edges": lambda path: networkx.write_edgelist(graph, path, delimiter=","),
            "names.edges": lambda path: networkx.write_edgelist(graph, path, data=["weight"]),
        }
        for name, write in ways.items():
            with self.subTest(name):
                write(self.path(name))
                self.check(name, matrix)
        self.mix("data.edges", matrix, 5)

    def test_other_attributes_beside_the_weight(self):
        matrix = random_shares(4, 12)
        graph = self.graph(matrix)
        for number, (_, _, data) in enumerate(graph.edges(data=True)):
            weight = data.pop("weight")
            data.update(name=f"Anna's, {{{number}}}: 'weight'", pair=(1, 2), weight=weight)
        networkx.write_edgelist(graph, self.path("g.edges"))
        self.check("g.edges", matrix)

    def test_comments(self):
        matrix = random_shares(4, 13)
        networkx.write_weighted_edgelist(self.graph(matrix), self.path("g.edges"))
        text = (self.folder / "g.edges").read_text()
        (self.folder / "g.edges").write_text("#who sends to whom\n# from to share\n" + text.replace("\n", " # one\n", 1))
        self.check("g.edges", matrix)

    def test_graphs_without_weights(self):
        directed = networkx.gnp_random_graph(8, 0.4, seed=4, directed=True)
        directed.add_edges_from((u, (u + 1) % 8) for u in range(8))
        undirected = networkx.petersen_graph()
        for name, graph in (("directed", directed), ("undirected", undirected.to_directed())):
            matrix = equal_shares(networkx.to_numpy_array(graph, nodelist=range(len(graph))).T)
            for data in (True, False):
                with self.subTest(name, data=data):
                    networkx.write_edgelist(graph, self.path("g.edges"), data=data)
                    self.check("g.edges", matrix)
        self.mix("g.edges", matrix, 4)

    def test_an_undirected_graph_needs_both_directions(self):
        """Its file names every edge once, which is one direction."""
        networkx.write_edgelist(networkx.path_graph(3), self.path("g.edges"))
        result = self.run_alone(["topology", "check", "g.edges"])
        self.assertEqual(result.code, 1, result)
        networkx.write_edgelist(networkx.path_graph(3).to_directed(), self.path("g.edges"))
        self.assertEqual(self.run_alone(["topology", "check", "g.edges"]).code, 0)

    def test_names_of_nodes(self):
        graph = self.graph(random_shares(3, 14))
        named = networkx.relabel_nodes(graph, {0: "anna", 1: "bert", 2: "carla"})
        networkx.write_weighted_edgelist(named, self.path("named.edges"))
        self.refuse("named.edges", ["'anna' and 'anna' are no numbers of clients", "convert_node_labels_to_integers"])
        networkx.write_weighted_edgelist(networkx.convert_node_labels_to_integers(named), self.path("numbered.edges"))
        self.check("numbered.edges", random_shares(3, 14))

    def test_what_has_no_weight(self):
        graph = networkx.DiGraph()
        graph.add_edge(0, 1, colour="red")
        networkx.write_edgelist(graph, self.path("g.edges"))
        self.refuse("g.edges", ["without 'weight'", "data=False"])


if __name__ == "__main__":
    unittest.main()
