#!/usr/bin/env python3
"""Online vertical federated learning (`starling vertical`): the figures of the method's page, the paper's Figs. 5 to 12 and 14, and
tables of real records whose columns two parties share.

Sections:
  table     test MSE at three times of 300 rounds, exact bits, and bits until the MSE has fallen to 0.1, some beside what a
            prototype found with 4 seeds of its own: within 25 %, or within two standard errors of the difference, for in
            early rounds seeds differ by as much as their mean; quantisers on the way up alone and both ways, as the paper
            has them; three more readings of its settings (Adam at its 0.0001, its sum of decibels, levels as received);
            central learning, which must be the same to the last bit; and which orderings of the paper hold
  figures   fig5 to fig12, and fig14 on bus lines that are made up, as the paper numbers them, each a picture and its points
  tables    credit default and breast cancer, streamed once: two parties, one of them alone, all columns in one place, and
            embeddings of 4 bits; AUC and accuracy of predictions that are made before their labels are used
  schedule  regret after T rounds by fixed bits, and by bits that grow with the rounds as the paper's condition for sublinear
            regret asks

A bar that is missed is named at the end, and the exit code is 1. Seeds decide on places, walks, powers and start values; on
start values alone where records are real. Equal arguments give equal figures.

Writes table.csv, figures.csv, orderings.csv, tables.csv and schedule.csv, and a .svg, .gp and .csv for each picture. figures.csv
of 16 seeds is jobs/papers/vertical.csv, which pages quote.
"""

import csv
import math
import pathlib
import shutil
import sys
import tempfile

import experiment
from experiment import mean

ROUNDS = 300
WINDOWS = ((40, 60), (90, 110), (281, 300))
GOAL, OVER = 0.1, 20  # a mean MSE, and of how many rounds
TOLERANCE = 0.25
PROTOTYPE_SEEDS = 4
OWN_BITS = 32  # of a number that no quantiser has seen
HEAD = 64 * 8 + 8 + 8 * 2 + 2  # parameters, four parties and two transmitters
UNSTATED = math.nan  # a goal that is measured, with nothing to compare it to


class Case:
    """A setting of the spectrum, and what must come out: test MSE in WINDOWS, bits up a round, and Mbit up until GOAL."""

    def __init__(self, title, *words, parties=4, source="", mse=(None, None, None), bits=None, down=None, goal=None, rounds=math.inf):
        self.rounds = rounds  # at most
        self.title, self.parties, self.mse, self.bits, self.goal = title, parties, mse, bits, goal
        self.down = down if bits is None or down is not None else bits + HEAD * OWN_BITS
        self.words = ("--clients", parties, "--source", "synthetic:spectrum" + source, *words)


def quantised(how, *more, **expected):
    """With the bits that 20 records in four embeddings of 16 numbers take, and a range of 64 bits for each message."""
    bits = 4 * (20 * 16 * int(how.split(":")[1]) + 64)
    return Case(how.replace(":", " b = "), "--quantiser", how, *more, bits=bits, **expected)


def both_ways(how):
    """The head on its way down is quantised as embeddings are, with a range of its own: so the paper has it."""
    number = int(how.split(":")[1])
    bits = 4 * (20 * 16 * number + 64)
    return Case(how.replace(":", " b = ") + ", both ways", "--quantiser", how, "--quantise-head", how,
                bits=bits, down=bits + HEAD * number + 64, goal=UNSTATED)


def local(steps, **expected):
    return Case(f"E = {steps}", "--local-steps", steps, bits=4 * 20 * 16 * OWN_BITS, **expected)


FLOAT = Case("b = 32", mse=(.507, .174, .036), bits=4 * 20 * 16 * OWN_BITS, goal=4.59)
SCALAR = {4: quantised("scalar:4", mse=(.512, .186, .039), goal=.607),
          2: quantised("scalar:2", mse=(.531, .191, .060), goal=.321),
          1: quantised("scalar:1", mse=(.808, .397, .244))}
HEXAGONAL = {4: quantised("hexagonal:4", mse=(None, None, .038)), 2: quantised("hexagonal:2", mse=(None, None, .056))}
BOTH = {(name, b): both_ways(f"{name}:{b}") for name in ("scalar", "hexagonal") for b in (4, 2, 1) if (name, b) != ("hexagonal", 1)}
LOCAL = {1: FLOAT, 2: local(2), 3: local(3), 4: local(4, mse=(.133, .060, .037))}
LOCAL_QUANTISED = Case("E = 4, scalar b = 2", "--local-steps", 4, "--quantiser", "scalar:2", bits=2816, goal=.183)
TRANSMITTERS = {1: Case("N = 1", source=":transmitters=1", mse=(None, None, .028)), 2: FLOAT,
                4: Case("N = 4", source=":transmitters=4", mse=(None, None, .462))}
RECEIVERS = {2: Case("K = 2", parties=2, mse=(None, None, .051)), 4: FLOAT,
             6: Case("K = 6", parties=6, mse=(None, None, .032))}
LAZY = {stop: Case(f"lazy, stop at {stop}", "--baseline", f"lazy:{stop}", mse=(None, None, last))
        for stop, last in ((50, .578), (100, .240), (150, .117))}
WALKS = {("random", 3): Case("v = 3, random walk", source=":v=3"),
         ("random", 5): Case("v = 5, random walk", source=":v=5", mse=(None, None, .044)),
         ("heading", 1): Case("v = 1, heading", source=":walk=heading"),
         ("heading", 5): Case("v = 5, heading", source=":v=5,walk=heading", mse=(None, None, .319))}
CENTRAL = Case("central", "--baseline", "central", bits=4 * 20 * 102 * OWN_BITS, down=0, goal=29.2)
# Four bus lines, in place of those of Miami, which are not published: routes on a grid that are made up.
BUSES = {f"E = {steps}": Case(f"bus lines, E = {steps}", "--local-steps", steps, rounds=100,
                              source=f":trajectory={experiment.PROJECT / 'jobs' / 'spectrum-bus-lines.csv'}") for steps in (1, 4)}
READINGS = (Case("Adam at 0.0001", "--optimizer", "adam", "--step", 0.0001), Case("sum of decibels", source=":sum=decibel"),
            Case("sum of decibels, Adam at 0.0001", "--optimizer", "adam", "--step", 0.0001, source=":sum=decibel"),
            Case("levels as received, Adam at 0.0001", "--optimizer", "adam", "--step", 0.0001, source=":level=kept"))


class Found:
    """What one run has left: numbers of its rounds, and their text, which tells every bit."""

    def __init__(self, summary, rows, networks):
        self.summary, self.networks = summary, networks
        self.text = [(row["loss"], row["test_loss"]) for row in rows]
        self.tests = [float(row["test_loss"]) for row in rows if row["test_loss"]]
        self.up = [float(row["uplink_bits"]) for row in rows]
        self.down = [float(row["downlink_bits"]) for row in rows]

    def window(self, first, last):
        values = self.tests[first - 1:last]
        return mean(values) if len(values) == last - first + 1 else None

    def bits_to_goal(self):
        """Sent up when the mean test MSE of the last rounds is GOAL; None if that is never."""
        for t in range(OVER, len(self.tests) + 1):
            if mean(self.tests[t - OVER:t]) <= GOAL:
                return math.fsum(self.up[:t])
        return None


class Bench:
    """Runs, each of which is made once whoever asks for it; and the bars that were missed."""

    def __init__(self, starling, scratch, folder, options):
        self.runs = experiment.Runs(starling, scratch, "vertical", "--json")
        self.folder, self.options, self.missed, self.doubtful = folder, options, [], []
        self.seeds = range(1, options.seeds + 1)
        self._found = {}

    def bar(self, what, holds):
        """Notes a bar; few rounds mean nothing and miss none."""
        if not holds and not self.options.rounds:
            self.missed.append(what)
        return "holds" if holds else "MISSED"

    def all(self, wanted):
        """Runs what is still to be run of commands {key: words}; returns what was found by key."""
        wanted = {key: tuple(map(str, words)) for key, words in wanted.items()}
        new = [words for words in dict.fromkeys(wanted.values()) if words not in self._found]
        jobs = [lambda words=words, name=f"run-{len(self._found) + i}": self._run(name, words) for i, words in enumerate(new)]
        self._found.update(zip(new, experiment.in_parallel(self.options.workers, jobs)))
        return {key: self._found[words] for key, words in wanted.items()}

    def cases(self, cases):
        """{case: what its seeds found} on the spectrum."""
        rounds = self.options.rounds or ROUNDS
        found = self.all({(case, seed): self._words(case, rounds, seed) for case in cases for seed in self.seeds})
        return {case: [found[case, seed] for seed in self.seeds] for case in cases}

    @staticmethod
    def _words(case, rounds, seed):
        return ("--config", "jobs/vertical.ini", *case.words, "--rounds", min(rounds, case.rounds), "--seed", seed)

    def _run(self, name, words):
        summary = self.runs.run(name, (*words, "--networks", "shared"))  # the networks of runs are compared
        with open(self.runs.scratch / name / "rounds.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        networks = self._networks(self.runs.scratch / name / "networks" / "0.h5", words)
        shutil.rmtree(self.runs.scratch / name)
        experiment.say(f"{summary['time']['wall']:5.0f} s  {' '.join(words)}")
        return Found(summary, rows, networks)

    def _networks(self, file, words):
        """Parameters of the head and of all parties at the end, of a run of one process; None where nothing reads HDF5."""
        clients = [f"/{client}" for client in range(int(words[words.index("--clients") + 1]) + 1)]
        try:
            import h5py

            with h5py.File(file) as run:
                return [run[client][:].tolist() for client in clients]
        except ImportError:
            return [self.runs._dump(file, client) for client in clients] if shutil.which("h5dump") else None


def stated(value, form):
    return "" if value is None or math.isnan(value) else format(value, form)


def judged(bench, what, values, must):
    """The verdict on a mean that is to be within TOLERANCE of what is stated, or as far from it as two such means of different
    seeds may be; empty where nothing is stated."""
    if must is None or math.isnan(must):
        return ""
    if not values:
        return bench.bar(what, False)
    far = abs(mean(values) - must)
    by_chance = 2 * experiment.deviation(values) * math.sqrt(1 / len(values) + 1 / PROTOTYPE_SEEDS)
    if TOLERANCE * must < far <= by_chance:
        bench.doubtful.append(what)
        return "within error"
    return bench.bar(what, far <= TOLERANCE * must)


def table(bench):
    names = (FLOAT, *SCALAR.values(), *HEXAGONAL.values(), *BOTH.values(), *READINGS, LOCAL[4], LOCAL_QUANTISED, TRANSMITTERS[1], TRANSMITTERS[4],
             RECEIVERS[2], RECEIVERS[6], *LAZY.values(), WALKS["random", 5], WALKS["heading", 5], CENTRAL)
    found = bench.cases([case for case in names if usable(case, bench)])
    print(f"\ntable: mean and standard error of {len(bench.seeds)} seeds; to hold: within {100 * TOLERANCE:.0f} %, bits exactly")
    print(f"{'run':22} {'what':22} {'ours':18} {'must':>8}  verdict")
    rows, figures = [], []
    for case, runs in found.items():
        for what, values, ours, must, form, verdict in cells(bench, case, runs):
            print(f"{case.title:34} {what:22} {ours:18} {stated(must, form):>8}  {verdict}".rstrip())
            rows.append([case.title, what, ours, stated(must, form), verdict])
            if values:
                figures.append([f"{case.title}, {what}", f"{mean(values):.6g}", f"{experiment.error_of_mean(values):.2g}", len(values)])
    experiment.write_csv(bench.folder / "table.csv", ["run", "what", "ours", "must", "verdict"], rows)
    experiment.write_figures(bench.folder, figures)
    orderings(bench, found)


def usable(case, bench):
    """Whether there are rounds enough for a run that stops learning."""
    return case not in LAZY.values() or int(case.words[-1].split(":")[1]) < (bench.options.rounds or ROUNDS)


def cells(bench, case, runs):
    """(what, values of the seeds, ours, must, form, verdict) of each line of the table."""
    for (first, last), must in zip(WINDOWS, case.mse):
        values = [run.window(first, last) for run in runs]
        if None not in values:
            what = f"MSE {first} to {last}"
            yield what, values, experiment.with_error(values), must, ".3f", judged(bench, f"{case.title}, {what}", values, must)
    if case.bits:
        up = {bits for run in runs for bits in run.up}
        down = {bits for run in runs for bits in run.down}
        yield ("bits up a round", sorted(up), " ".join(f"{bits:.0f}" for bits in up), case.bits, ",d",
               bench.bar(f"{case.title}, bits up", up == {case.bits}))
        yield ("bits down a round", sorted(down), " ".join(f"{bits:.0f}" for bits in down), case.down, ",d",
               bench.bar(f"{case.title}, bits down", down == {case.down}))
    if case.goal:
        mbit = [run.bits_to_goal() / 1e6 for run in runs if run.bits_to_goal()]
        never = f" ({len(runs) - len(mbit)} never)" if len(mbit) < len(runs) else ""
        yield (f"Mbit up to MSE {GOAL}", mbit, (experiment.with_error(mbit) if mbit else "") + never, case.goal, ".3g",
               judged(bench, f"{case.title}, Mbit", mbit, case.goal))


def identical(found):
    """Whether central learning came to the same as vertical learning: all losses, and all parameters, to the last bit."""
    return all(ours.text == other.text and ours.networks == other.networks
               and ours.summary["final_model"] == other.summary["final_model"] for ours, other in zip(found[FLOAT], found[CENTRAL]))


def orderings(bench, found):
    """What holds of the paper's findings and what does not."""
    def at(case, window=-1):
        values = [run.window(*WINDOWS[window]) for run in found.get(case, [])]
        return mean(values) if values and None not in values else math.nan

    def shown(*values, form=".3f"):
        return " / ".join(format(value, form) for value in values)

    lazies, senders = [at(LAZY[stop]) if LAZY[stop] in found else math.nan for stop in LAZY], [at(TRANSMITTERS[n]) for n in TRANSMITTERS]
    receivers = [at(RECEIVERS[k]) for k in RECEIVERS]
    each = [[run.bits_to_goal() for run in found[case]] for case in (CENTRAL, FLOAT, BOTH["scalar", 4], BOTH["scalar", 2])]
    all_there = [seed for seed in zip(*each) if None not in seed]
    costs = [mean(of_case) / 1e6 for of_case in zip(*all_there)] or [math.nan]
    gains = [differences(*([run.window(*WINDOWS[-1]) or math.nan for run in found[BOTH[name, b]]] for name in ("scalar", "hexagonal")))
             for b in (4, 2)]
    same = identical(found)
    claims = [
        ("who stops learning is worse, the sooner the more", shown(*lazies, at(FLOAT)), lazies[0] > lazies[1] > lazies[2] > at(FLOAT)),
        ("more local steps learn faster (rounds 40 to 60; 90 to 110)",
         shown(at(FLOAT, 0), at(LOCAL[4], 0), at(FLOAT, 1), at(LOCAL[4], 1)),
         at(LOCAL[4], 0) < at(FLOAT, 0) and at(LOCAL[4], 1) < at(FLOAT, 1)),
        ("more transmitters are harder (1, 2, 4)", shown(*senders), senders[0] < senders[1] < senders[2]),
        ("more receivers are better, and beyond four little (2, 4, 6)", shown(*receivers),
         receivers[0] > receivers[1] > 0.5 * receivers[2] and receivers[2] < (1 + TOLERANCE) * receivers[1]),
        (f"fewer bits reach {GOAL} for less, in Mbit (central, 32, 4, 2)", shown(*costs, form=".3g"), len(costs) == 4 and costs == sorted(costs)[::-1]),
        ("not of the paper: hexagonal better at equal bits (scalar's MSE less hexagonal's, seed by seed, at 4 and at 2 bits)",
         " / ".join(experiment.with_error(gain, "+.3f") for gain in gains),
         not all(mean(gain) > 2 * experiment.error_of_mean(gain) for gain in gains)),
        ("not of the paper: v is of no matter (v = 1, v = 5 at random, v = 5 straight on)",
         shown(at(FLOAT), at(WALKS["random", 5]), at(WALKS["heading", 5])), at(WALKS["heading", 5]) > 3 * at(WALKS["random", 5])),
        ("central is not alike but identical at E = 1, to the last bit", "yes" if same else "no", same)]
    print("\norderings")
    rows = []
    for what, ours, holds in claims:
        verdict = bench.bar(what, holds)
        print(f"{what:82} {ours:30} {verdict}")
        rows.append([what, ours, verdict])
    experiment.write_csv(bench.folder / "orderings.csv", ["what", "ours", "verdict"], rows)


EVERY = 5  # rounds of a point


def by_round(runs, step=EVERY):
    """Points of a curve: mean test MSE of the seeds over `step` rounds, at the last of them."""
    tests = [mean(values) for values in zip(*(run.tests for run in runs))]
    ends = range(step, len(tests) + 1, step)
    return list(ends), [mean(tests[t - step:t]) for t in ends]


def by_cost(runs):
    """The same by the Mbit that have gone up."""
    ends, values = by_round(runs)
    return [math.fsum(runs[0].up[:t]) / 1e6 for t in ends], values


FIGURES = {  # name: (title, points, {title: case})
    "fig5": ("Vertical learning and baselines, by rounds", by_round,
             {"central": CENTRAL, "lazy, stop at 50": LAZY[50], "lazy, stop at 100": LAZY[100], "lazy, stop at 150": LAZY[150],
              "vertical, b = 32": FLOAT, "b = 4": BOTH["scalar", 4], "b = 2": BOTH["scalar", 2]}),
    "fig6": ("Vertical learning and baselines, by communication", by_cost,
             {"central": CENTRAL, "vertical, b = 32": FLOAT, "b = 4": BOTH["scalar", 4], "b = 2": BOTH["scalar", 2],
              "b = 1": BOTH["scalar", 1]}),
    "fig7": ("Local steps", by_round, {f"E = {steps}": case for steps, case in LOCAL.items()}),
    "fig8": ("Metres between rounds", by_round,
             {"v = 1": FLOAT, **{f"v = {v}, {walk}": case for (walk, v), case in WALKS.items()}}),
    "fig9": ("Hexagonal and scalar quantisers, by rounds", by_round,
             {f"{name}, b = {b}": BOTH[name, b] for name in ("hexagonal", "scalar") for b in (4, 2)}),
    "fig10": ("Hexagonal and scalar quantisers, by communication", by_cost,
              {f"{name}, b = {b}": BOTH[name, b] for name in ("hexagonal", "scalar") for b in (4, 2)}),
    "fig11": ("Transmitters", by_round, {f"N = {n}": case for n, case in TRANSMITTERS.items()}),
    "fig12": ("Receivers", by_round, {f"K = {k}": case for k, case in RECEIVERS.items()}),
    "fig14": ("Four bus lines, made up, past two transmitters", by_round, BUSES)}


def figures(bench):
    """The paper prints no numbers beside its pictures; central and b = 32 are one curve."""
    wanted = {name: FIGURES[name] for name in bench.options.figures}
    cases = {case: None for _, _, curves in wanted.values() for case in curves.values() if usable(case, bench)}
    found = bench.cases(cases)
    print("\nfigures: test MSE at the first and the last point of each curve")
    for name, (title, points, curves) in wanted.items():
        cost = points is by_cost
        experiment.draw_curves(bench.folder, name, (title, "Mbit up" if cost else "round", "test MSE"),
                               {label: points(found[case]) for label, case in curves.items() if case in found},
                               ["set logscale xy" if cost else "set logscale y"])
        for label, case in curves.items():
            if case in found and points(found[case])[1]:
                _, values = points(found[case])
                print(f"{name:6} {label:24} {values[0]:.3f}  {values[-1]:.3f}")


# Each table: its files in --data, how many times --seeds it is run, and settings, the same for all four runs. Those of breast cancer
# are the best by the AUC of two parties, of some forty that were tried with the first eight seeds: plain descent and Adam, three
# networks, 1 to 8 records a round. Its few records leave much to the start values.
REAL = {"credit default": ("default_credit_hetero", 1, ("--config", "jobs/vertical-credit.ini")),
        "breast cancer": ("breast_hetero", 4, ("--config", "jobs/vertical-credit.ini", "--feature-net", "d-8", "--batch", 2,
                                              "--optimizer", "adam", "--step", 0.01))}
ALONE, TWO, CENTRAL_TWO, COARSE = "one party", "two parties", "central", "4 bits"
CENTRAL_GAP, COARSE_GAP = 0.01, 0.005  # of AUC


def real(bench, data, prefix, times, settings):
    """{kind: [what each seed found]}."""
    seeds = range(1, times * bench.options.seeds + 1)
    guest, host = (str(data / f"{prefix}_{party}.csv.gz") for party in ("guest", "host"))
    kinds = {ALONE: ("--parties", guest), TWO: ("--parties", f"{guest},{host}"),
             CENTRAL_TWO: ("--parties", f"{guest},{host}", "--baseline", "central"),
             COARSE: ("--parties", f"{guest},{host}", "--quantiser", "scalar:4")}
    few = ("--rounds", bench.options.rounds) if bench.options.rounds else ()
    found = bench.all({(kind, seed): (*settings, *words, "--clients", words[1].count(",") + 1, *few, "--seed", seed)
                       for kind, words in kinds.items() for seed in seeds})
    return {kind: [found[kind, seed] for seed in seeds] for kind in kinds}


def tables(bench):
    data = pathlib.Path(bench.options.data).resolve()
    missing = [prefix for prefix, *_ in REAL.values() if not (data / f"{prefix}_guest.csv.gz").exists()]
    if missing:
        print(f"\ntables: left out, since there is no {data / missing[0]}_guest.csv.gz (the tables are not part of the project: "
              "--data names their folder)")
        return
    print("\ntables: of predictions before their labels are used, one pass; mean and standard error over seeds: "
          + ", ".join(f"{times * len(bench.seeds)} for {name}" for name, (_, times, _) in REAL.items()))
    print(f"{'table':16} {'run':12} {'AUC':18} {'accuracy':18} {'bits up a round':>16}")
    rows, bars = [], []
    for name, choice in REAL.items():
        auc = {}
        for kind, runs in real(bench, data, *choice).items():
            auc[kind] = [run.summary["metrics"]["auc"] for run in runs]
            accuracy = [run.summary["accuracy"] for run in runs]
            bits = mean([run.summary["traffic"]["uplink_bits_per_round"] for run in runs])
            print(f"{name:16} {kind:12} {experiment.with_error(auc[kind], '.4f'):18} {experiment.with_error(accuracy, '.4f'):18} "
                  f"{bits:16.1f}")
            rows.append([name, kind, mean(auc[kind]), experiment.error_of_mean(auc[kind]), mean(accuracy), bits])
        gain, gap, coarse = (differences(auc[TWO], auc[ALONE]), differences(auc[CENTRAL_TWO], auc[TWO]),
                             differences(auc[TWO], auc[COARSE]))
        bars += [(f"{name}: two parties beat one alone", gain, mean(gain) > 2 * experiment.error_of_mean(gain)),
                 (f"{name}: within {CENTRAL_GAP} of central", gap, abs(mean(gap)) <= CENTRAL_GAP),
                 (f"{name}: 4 bits within {COARSE_GAP} of floats", coarse, abs(mean(coarse)) <= COARSE_GAP)]
    for what, values, holds in bars:
        print(f"{what:50} by {experiment.with_error(values, '+.4f'):20} {bench.bar(what, holds)}")
    experiment.write_csv(bench.folder / "tables.csv", ["table", "run", "auc", "auc_error", "accuracy", "bits_up_a_round"], rows)


def differences(ours, others):
    """Seed by seed: both have the same start values."""
    return [a - b for a, b in zip(ours, others)]


# A spectrum that is small enough to search for the best fixed networks in hindsight, by steps that fall as 1/sqrt(t).
SMALL = ("--clients", 4, "--source", "synthetic:spectrum:samples=10,test=0", "--feature-net", "d-16-8", "--head", "d-8-d", "--step", 0.3,
         "--step-power", 0.5, "--loss", "mse", "--mechanism", "none", "--regret", "static", "--regret-passes", 20)
HORIZONS = (100, 200, 400, 800)
SCHEDULE_SEEDS = 4  # at most: the search takes twenty times as long as a run
SCHEDULES = {"floats": (), "1 bit": ("--quantiser", "scalar:1"), "2 bits": ("--quantiser", "scalar:2"),
             "1 + log2(t)/2 bits": ("--quantiser", "scalar:1", "--bits", "sublinear:1")}


def schedule(bench):
    seeds = bench.seeds[:SCHEDULE_SEEDS]
    horizons = [bench.options.rounds, 2 * bench.options.rounds] if bench.options.rounds else HORIZONS
    found = bench.all({(name, T, seed): (*SMALL, *words, "--rounds", T, "--seed", seed)
                       for name, words in SCHEDULES.items() for T in horizons for seed in seeds})
    print(f"\nschedule: regret of T rounds, mean of {len(seeds)} seeds, and its growth T^p")
    print(f"{'bits':20} " + " ".join(f"{f'T = {T}':>10}" for T in horizons) + f" {'p':>14} {'bits up in all':>16}")
    rows, growth, last = [], {}, {}
    for name in SCHEDULES:
        regret = [mean([found[name, T, seed].summary["regret"]["static"] for seed in seeds]) for T in horizons]
        growth[name] = experiment.fitted_exponent(horizons, regret) if min(regret) > 0 else (math.nan, math.nan)
        last[name] = regret[-1]
        up = math.fsum(found[name, horizons[-1], 1].up)
        print(f"{name:20} " + " ".join(f"{value:10.2f}" for value in regret)
              + f" {growth[name][0]:7.3f} +- {growth[name][1]:.1g} {up:16.0f}")
        rows += [[name, T, value, growth[name][0], up] for T, value in zip(horizons, regret)]
    for what, holds in (("one bit for ever: regret grows faster than by floats", growth["1 bit"][0] > growth["floats"][0]),
                        ("bits that grow: it grows as by floats, within 0.1", abs(growth["1 + log2(t)/2 bits"][0] - growth["floats"][0]) < 0.1)):
        print(f"{what:60} {bench.bar(what, holds)}")
    experiment.write_csv(bench.folder / "schedule.csv", ["bits", "rounds", "regret", "exponent", "uplink_bits"], rows)


SECTIONS = {"table": table, "figures": figures, "tables": tables, "schedule": schedule}


def main():
    parser = experiment.arguments(__doc__, "results-vertical")
    parser.set_defaults(workers=experiment.os.cpu_count() or 1)
    parser.add_argument("--tables", metavar="WHICH", type=experiment.names_of(SECTIONS), default=list(SECTIONS),
                        help=f"sections, separated by commas ({','.join(SECTIONS)})")
    parser.add_argument("--figures", metavar="WHICH", type=experiment.names_of(FIGURES), default=list(FIGURES),
                        help=f"pictures of the section figures, separated by commas ({','.join(FIGURES)})")
    parser.add_argument("--seeds", metavar="N", type=experiment.positive, default=16, help="runs per setting (16)")
    parser.add_argument("--rounds", metavar="T", type=experiment.positive,
                        help="at most so many: whether everything runs, with figures that mean nothing")
    parser.add_argument("--data", metavar="FOLDER", default=str(experiment.PROJECT / ".." / "shared" / "data" / "vfl_fate"),
                        help="where the real tables are (../shared/data/vfl_fate beside the project)")
    options = parser.parse_args()
    starling = experiment.find_starling(options.starling)
    folder = experiment.output_folder(options.output)
    with tempfile.TemporaryDirectory(prefix="vertical-") as scratch:
        bench = Bench(starling, scratch, folder, options)
        for name in options.tables:
            SECTIONS[name](bench)
    print(f"\nTables and pictures: {folder}")
    if bench.doubtful:
        print(f"Not within {100 * TOLERANCE:.0f} %, but within two standard errors: {'; '.join(bench.doubtful)}")
    for what in bench.missed:
        experiment.say(f"missed: {what}")
    return 1 if bench.missed else 0


if __name__ == "__main__":
    sys.exit(main())
