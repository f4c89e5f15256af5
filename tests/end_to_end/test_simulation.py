"""Random runs of `starling omd` against the reference simulation of the method, to 1e-10 of the models' size.

200 runs are drawn from a fixed seed. They differ in graphs, schedules, losses, opt-outs, domains, mirror maps and steps.
Compared are all records of models, masses, presence and losses, the final models, and the mass under way at the end.
The simulation draws nothing at random. It gets the program's draws from where the program shows them:

* /presence of the same run says who is absent, unless a file does, and its summary the step cap where it chooses one;
* `topology draw` shows the first rounds of endless graphs;
* the masses of a run without learning tell which messages --link-loss loses.

Simulations with one fault each must disagree, or the comparison would hold nothing.
"""

import collections
import multiprocessing
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

from harness import *

if numpy is not None:
    import method_simulation
    import simulation_cases
    import simulation_faults

TOLERANCE = 1e-10
PROCESSES = 2
# Number of the case, and ranks.
ON_RANKS = ((4, 2), (9, 3), (21, 2), (36, 3), (48, 2))
BY_ROUND = ("model", "mass", "presence", "loss")
MODELS = ("model", "mass", "final_model")  # by which faults are to be seen
LOST = []  # by LOSS_RUNS: what lost_messages has found
# How many runs have each at least.
LEAST = {
    "weights sender": 30, "weights explicit": 30, "weights metropolis": 8, "weights receiver": 6, "weights family": 10,
    "weights default": 6, "weights endless": 3, "plain mixing": 20, "plain mixing of sender sums": 2, "lazy": 30,
    "several exchanges": 50, "time-varying graph": 50, "connected over several rounds only": 25,
    "absences of a file": 25, "absences drawn": 15, "absent clients freeze": 15, "departures": 15,
    "acknowledged losses": 20, "unacknowledged losses": 15, "unequal clients": 80, "short batches": 50, "epochs": 15,
    "fewer rounds than records": 25, "intercept": 30, "l2": 25, "clip": 25, "no learning": 4, "starts of a file": 50,
    "step-power": 25, "step-offset": 15, "linear steps": 60, "tuned steps": 10, "step-cap": 50, "step cap chosen by the program": 40, "long entropic steps": 5,
    "average tail": 15, "average all": 15, "zeros in the start": 4, "a start on the border": 2,
    "mirror euclidean": 50, "mirror entropic": 20, "mirror entropic-signed": 15,
    "domain free": 20, "domain ball": 8, "domain box": 8, "domain simplex": 30, "domain l1ball": 20,
    "loss logistic": 20, "loss squared": 20, "loss absolute": 6, "loss hinge": 6, "loss linear": 6, "loss huber": 6,
    "loss expectile": 4, "loss dwd": 4, "loss softmax": 4,
}


def program(words, folder, ranks=1):
    """Runs it; raises with what it said if it fails."""
    command = [STARLING, *words] if ranks == 1 else [MPIRUN, "--oversubscribe", "-n", str(ranks), STARLING, *words]
    done = subprocess.run(command, cwd=folder, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=PATIENCE)
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}: {done.stderr}")
    return done.stdout


def lost_messages(probability, seed, folder):
    """[exchange, to, from]: which messages --link-loss loses, as the masses of a run without learning tell.

    Everybody sends to everybody there, with random weights. So no two sets of lost messages leave a client with the same mass.
    """
    n, exchanges = simulation_cases.MOST_CLIENTS_WITH_LOSSES, 190
    rng = numpy.random.default_rng(seed)
    a = rng.dirichlet(numpy.full(n, 2.0), size=n).T
    edges = [(v, u, float(a[u, v])) for u in range(n) for v in range(n)]
    (folder / "all.topo").write_text(topology(n, [], "explicit", edges))
    (folder / "start.csv").write_text("0\n" * n)
    program(["omd", "--loss", "none", "--topology", "all.topo", "--clients", str(n), "--start", "start.csv",
             "--rounds", str(exchanges), "--record-every", "1", "--link-loss", str(probability),
             "--link-loss-model", "unacknowledged", "--seed", str(seed), "--output", "run", "--progress", "off"], folder)
    with h5py.File(folder / "run" / "run.h5") as file:
        masses = file["mass"][()]
    others = numpy.array([[v for v in range(n) if v != u] for u in range(n)])
    sets = numpy.array([[(k >> i) & 1 for i in range(n - 1)] for k in range(2**(n - 1))], bool)
    under_way = numpy.zeros((n, n))
    lost = numpy.zeros((exchanges, n, n), bool)
    for t in range(exchanges):
        sent = a * masses[t]
        for u in range(n):
            comes = (under_way + sent)[u, others[u]]
            error = numpy.abs(sent[u, u] + numpy.where(sets, 0, comes).sum(axis=1) - masses[t + 1][u])
            order = numpy.argsort(error)
            if error[order[0]] > 1e-12 or error[order[1]] < 1e-10:
                raise AssertionError(f"exchange {t}, client {u}: not one set of lost messages leaves it with {masses[t + 1][u]}")
            lost[t, u, others[u]] = sets[order[0]]
        under_way = numpy.where(lost[t], under_way + sent, 0)
    return lost


def edges_drawn(folder):
    """Of each exchange of a graph that never repeats. Two opposite edges of one weight are one line without a direction."""
    text = program(["topology", "draw", "graph.topo"], folder)
    found = re.findall(r"p(\d+)_(\d+) -> p\1_(\d+) \[penwidth=\S+( dir=none)?", text)
    rounds = [(1, []) for _ in range(simulation_cases.ENDLESS_ROUNDS)]
    for phase, u, v, both in found:
        for edge in ((int(u), int(v), 1), (int(v), int(u), 1))[:2 if both else 1]:
            rounds[int(phase)][1].append(edge)
    return rounds


def recorded(folder):
    """What is compared, and the rounds of the records."""
    with h5py.File(folder / "run.h5") as file:
        found = {name: file[name][()] for name in ("rounds", *BY_ROUND, "final_model") if name in file}
    summary = json.loads((folder / "summary.json").read_text())
    found["mass_in_flight"] = numpy.array(summary["mass_in_flight"])
    if "effective_weight" in summary:
        found["effective_weight"] = numpy.array(summary["effective_weight"], float)  # null is NaN
    return found, summary


def simulated(course, rounds):
    """The same of a simulation. Presence and losses are means since the record before."""
    nothing = numpy.full(course.masses.shape[1], numpy.nan)
    presence, loss = [nothing], [nothing]
    for a, b in zip(rounds, rounds[1:]):
        presence.append(course.present[a:b].mean(axis=0))
        with numpy.errstate(invalid="ignore"):
            loss.append(course.losses[a:b].sum(axis=0) / course.played[a:b].sum(axis=0))
    return {"presence": numpy.array(presence), "loss": numpy.array(loss), "mass": course.masses[rounds],
            "model": course.models[rounds], "final_model": course.final, "mass_in_flight": numpy.array(course.mass_under_way),
            "effective_weight": course.effective_weights}


class Comparison:
    """A case that has been run in a folder."""

    def __init__(self, case, folder, ranks=1):
        self.case = case
        self.words = [*case.words, "--output", f"run-{ranks}"]
        case.write(folder)
        program(self.words, folder, ranks)
        self.found, summary = recorded(folder / f"run-{ranks}")
        run = case.run
        if case.chosen_step_cap:
            run.step_cap = summary["step_cap"]
        if "tuned steps" in case.traits:
            chosen = dict(line.split(" = ", 1) for line in (folder / f"run-{ranks}" / "config.ini").read_text().splitlines() if " = " in line)
            run.step, run.linear = float(chosen["step"]), chosen["step-decay"] == "linear"
        if run.phases is None:
            run.phases, run.repeats = edges_drawn(folder), False
        if case.drawn_absences:
            run.absent = frozenset((int(t) - 1, int(u)) for t, u in numpy.argwhere(self.found["presence"] == 0))
        if case.losses is not None:
            run.lost = lambda exchange, n: LOST[case.losses][exchange, :n, :n]

    def differences(self, course, names=None):
        """The first place of each array, or of those named, where program and simulation differ."""
        rounds = self.found["rounds"]
        expected = simulated(course, rounds)
        size = max(1, numpy.abs(course.models).max())
        result = []
        for name in names or sorted(self.found.keys() - {"rounds"}):
            got = self.found[name]
            if expected[name] is None:
                continue
            wrong = ~numpy.isclose(got, expected[name], rtol=0, atol=TOLERANCE * size, equal_nan=True)
            if wrong.any():
                place = tuple(int(i) for i in numpy.argwhere(wrong)[0])
                round_, rest = (f", round {rounds[place[0]]}", place[1:]) if name in BY_ROUND else ("", place)
                result.append(f"/{name}{round_}, client and coordinate {rest}: {got[place]!r}, "
                              f"simulated {expected[name][place]!r}")
        return result


def compare(number, folder, ranks=1, faults=()):
    """(words, differences, traits, {fault: whether it is seen}) of one case."""
    case = simulation_cases.draw_case(number)
    try:
        comparison = Comparison(case, folder, ranks)
    except AssertionError as error:
        return [*case.words, "--output", f"run-{ranks}"], [str(error)], case.traits, {}
    course = method_simulation.Simulation(case.run).course()
    seen = {}
    for fault in faults:
        if simulation_faults.FAULTS[fault](case, course):
            with numpy.errstate(all="ignore"):
                seen[fault.__name__] = bool(comparison.differences(fault(case.run).course(), MODELS))
    return comparison.words, comparison.differences(course), case.traits, seen


def compare_in(root, number, ranks=1, faults=()):
    folder = root / f"{number}-on-{ranks}"
    folder.mkdir()
    result = compare(number, folder, ranks, faults)
    if not result[1]:
        shutil.rmtree(folder)
    return folder, *result


@unittest.skipIf(h5py is None, "h5py is not installed")
class RandomRuns(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="starling-simulation-"))
        for k, (probability, seed) in enumerate(simulation_cases.LOSS_RUNS):
            folder = cls.root / f"losses-{k}"
            folder.mkdir()
            LOST.append(lost_messages(probability, seed, folder))
        with multiprocessing.get_context("fork").Pool(PROCESSES) as pool:
            faults = tuple(simulation_faults.FAULTS)
            cases = [(cls.root, number, 1, faults) for number in range(simulation_cases.CASES)]
            cls.results = pool.starmap(compare_in, cases, chunksize=1)
            cls.on_ranks = pool.starmap(compare_in, [(cls.root, *case) for case in ON_RANKS], chunksize=1)

    @classmethod
    def tearDownClass(cls):
        if not any(differences for _, _, differences, _, _ in cls.results + cls.on_ranks):
            shutil.rmtree(cls.root)

    def check(self, results):
        wrong = [f"in {folder} (kept): starling {shlex.join(words)}\n  " + "\n  ".join(differences)
                 for folder, words, differences, _, _ in results if differences]
        self.assertFalse(wrong, f"{len(wrong)} of {len(results)} runs differ from their simulation\n" + "\n".join(wrong[:5]))

    def test_the_program_agrees_with_the_simulation(self):
        self.check(self.results)

    def test_so_it_does_on_several_ranks(self):
        self.check(self.on_ranks)

    def test_the_runs_have_all_that_is_compared(self):
        counts = collections.Counter(trait for _, _, _, traits, _ in self.results for trait in traits)
        for trait, least in LEAST.items():
            self.assertGreaterEqual(counts[trait], least, f"{trait}: {counts}")

    def test_simulations_with_a_fault_disagree(self):
        for fault in simulation_faults.FAULTS:
            seen = [by_fault[fault.__name__] for _, _, _, _, by_fault in self.results if fault.__name__ in by_fault]
            with self.subTest(fault.__name__):
                self.assertGreaterEqual(len(seen), 9)
                self.assertGreater(sum(seen), len(seen) / 2, f"{sum(seen)} of {len(seen)}: {fault.__doc__}")


if __name__ == "__main__":
    unittest.main()
