"""Graphs of clients, to and from NetworkX, matrices and topology files."""

from __future__ import annotations

import hashlib
import os
import pathlib
import re
import tempfile
from typing import TYPE_CHECKING, Any, Iterable

import numpy as np

from ._call import Offer, run_words
from ._errors import UsageError

if TYPE_CHECKING:
    import numpy.typing as npt


# A family, perhaps with parameters; anything else is the name of a file.
FAMILY = re.compile(r"[a-z-]+(:[a-z]+=[^/,=]+(,[a-z]+=[^/,=]+)*)?")


def topology_of(value, clients):
    """The file for what the keyword `topology` has: a Topology, the name of a family, or a file already."""
    if isinstance(value, str) and FAMILY.fullmatch(value) and not os.path.exists(value):
        if clients is None:
            raise UsageError(f"topology='{value}': a family needs a number of clients. Give clients=.")
        value = Topology.from_name(value, clients)
    return value.file() if isinstance(value, Topology) else value


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(base) / "starling" / "topologies"


class Topology:
    """A graph of clients: the edges along which they send, and their weights. `topology=` takes one.

    `text` is that of a topology file. The weight of an edge is the share of the sender's value that the receiver gets.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self):
        return f"<starling.Topology {self.text.splitlines()[0]}>"

    @classmethod
    def generate(cls, family: str, clients: int, weights: str = "sender", **parameters: Any) -> Topology:
        """A graph of a family of `starling topology make`: ring, exponential, random-regular with degree=3 and seed=1, …."""
        words = " ".join(f"{name}={value}" for name, value in parameters.items())
        return cls(f"weights {weights}\ngenerate {family} clients={int(clients)} {words}".rstrip() + "\n")

    @classmethod
    def from_name(cls, name: str, clients: int) -> Topology:
        """The same from a text, as `random-regular:degree=3,seed=1`."""
        family, _, parameters = name.partition(":")
        return cls.generate(family, clients, **dict(each.partition("=")[::2] for each in parameters.split(",") if each))

    @classmethod
    def from_edges(cls, edges: Iterable[Any], clients: int, weights: str = "sender") -> Topology:
        """A graph by its edges (from, to) or (from, to, weight), with clients from 0. `weights` is the rule without weights:
        sender (push-sum), receiver or metropolis. Self loops are implied, but with weights they are edges too."""
        edges = [tuple(edge) for edge in edges]
        given = [len(edge) == 3 for edge in edges]
        if any(given) and not all(given):
            raise UsageError("Topology: some edges have weights and others have none. Give all, or none.")
        if any(given):
            weights = "explicit"
        lines = [f"clients {int(clients)}", f"weights {weights}"]
        lines += [" ".join(["edge", str(int(edge[0])), str(int(edge[1])), *(repr(float(w)) for w in edge[2:])]) for edge in edges]
        return cls("\n".join(lines) + "\n")

    @classmethod
    def from_matrix(cls, matrix: Any) -> Topology:
        """A graph by its weights: entry (i, j) is the share of client j's value that client i gets."""
        matrix = np.asarray(matrix, dtype=float)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise UsageError(f"Topology: a matrix of shape {matrix.shape} is not square.")
        return cls.from_edges([(j, i, matrix[i, j]) for i, j in zip(*np.nonzero(matrix))], len(matrix))

    @classmethod
    def from_networkx(cls, graph: Any, weight: str = "weight", weights: str = "sender", rounds: int = 1) -> Topology:
        """A NetworkX graph, or a list of snapshots of one that changes: each holds for so many `rounds`, and after the last one
        comes the first. Clients are the nodes, the same in all snapshots: in the order of the first graph, or by their numbers
        where these are 0, 1, …. Weights are the edges' attribute `weight` if all have one. Each edge of an undirected graph
        counts both ways."""
        graphs = list(graph) if isinstance(graph, (list, tuple)) else [graph]
        if not graphs or any(set(each) != set(graphs[0]) for each in graphs):
            raise UsageError("Topology: snapshots are one graph or more with the same nodes. Give all nodes to each: "
                             "graph.add_nodes_from(…).")
        nodes = list(graphs[0])
        if set(nodes) == set(range(len(nodes))):
            nodes = sorted(nodes)
        number = {node: client for client, node in enumerate(nodes)}
        data = [list(each.edges(data=weight)) for each in graphs]
        for each, edges in zip(graphs, data):
            edges += [] if each.is_directed() else [(v, u, w) for u, v, w in edges if u != v]
        has_weights = any(data) and all(w is not None for edges in data for _, _, w in edges)
        phases = [[(number[u], number[v], *([w] if has_weights else [])) for u, v, w in edges if has_weights or u != v]
                  for edges in data]
        made = [cls.from_edges(edges, len(nodes), weights) for edges in phases]
        if len(made) == 1:
            return made[0]
        head = made[0].text.splitlines()[:2]
        return cls("\n".join([*head, *(line for each in made for line in (f"phase {int(rounds)}", *each.text.splitlines()[2:])), ""]))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Topology:
        """A topology file (.topo)."""
        return cls(pathlib.Path(path).read_text(encoding="utf-8"))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes a topology file."""
        pathlib.Path(path).write_text(self.text, encoding="utf-8")

    def _lines(self):
        words = [line.split("#")[0].split() for line in self.text.splitlines()]
        return [line for line in words if line]

    def edges(self) -> tuple[int, str, list[tuple[int, int, float | None]]]:
        """(number of clients, rule of the weights, [(from, to, weight or None)]). Raises UsageError for a graph that changes."""
        clients, rule, found = 0, "sender", []
        for word, *rest in self._lines():
            if word == "generate":
                return self._generated(rest, rule).edges()
            if word == "clients":
                clients = int(rest[0])
            elif word == "weights":
                rule = rest[0]
            elif word == "edge":
                top, _, bottom = rest[2].partition("/") if len(rest) > 2 else ("", "", "")
                found.append((int(rest[0]), int(rest[1]), float(top) / float(bottom or 1) if top else None))
            else:
                raise UsageError(f"Topology: a line '{word}' makes no single graph.")
        return clients, rule, found

    @classmethod
    def _generated(cls, words, rule):
        """The graph with its edges that a line `generate` stands for."""
        family, *parameters = words
        if "rounds=endless" in parameters:
            raise UsageError("Topology: rounds=endless makes no single graph.")
        clients = next(word for word in parameters if word.startswith("clients="))
        parameters.remove(clients)
        made = run_words(["topology", "make", family, *parameters, f"--{clients}", f"--weights={rule}"], Offer())
        return cls(made["text"])

    def matrix(self) -> npt.NDArray[Any]:
        """The weights: entry (i, j) is the share of client j's value that client i gets."""
        clients, rule, edges = self.edges()
        result = np.zeros((clients, clients))
        if rule == "explicit":
            for u, v, w in edges:
                result[v, u] = w
            return result
        link = np.zeros((clients, clients), dtype=bool)
        for u, v, _ in edges:
            link[v, u] = True
        if rule == "metropolis":
            degree = link.sum(axis=0)
            for i, j in zip(*np.nonzero(link)):
                result[i, j] = 1 / (1 + max(degree[i], degree[j]))
            return result + np.diag(1 - result.sum(axis=0))
        link |= np.eye(clients, dtype=bool)
        return link / link.sum(axis=0 if rule == "sender" else 1, keepdims=True)

    def to_networkx(self) -> Any:
        """A networkx.DiGraph with the attribute weight, and with self loops."""
        import networkx

        matrix = self.matrix()
        graph = networkx.DiGraph()
        graph.add_nodes_from(range(len(matrix)))
        graph.add_weighted_edges_from((int(j), int(i), float(matrix[i, j])) for i, j in zip(*np.nonzero(matrix)))
        return graph

    def file(self) -> str:
        """The path of a file with this graph, in the user's cache: it stays, so that a run can be resumed."""
        path = cache_folder() / f"{hashlib.sha256(self.text.encode()).hexdigest()[:16]}.topo"
        try:
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
                    file.write(self.text)
                os.replace(file.name, path)
        except OSError as error:
            raise UsageError(f"Topology: {path} cannot be written: {error}. Set XDG_CACHE_HOME, or write() a file of your own and "
                             "give its name.") from error
        return str(path)
