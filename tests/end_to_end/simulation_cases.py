"""Random runs of `starling omd`: what the reference simulation needs to know of each, its words, and its files."""

import dataclasses

import numpy as np

from harness import topology
from method_simulation import Run

SEED = 20
CASES = 200
ENDLESS_ROUNDS = 6  # that `starling topology draw` shows of a graph that never repeats
LOSS_RUNS = ((0.1, 3), (0.35, 8))  # probabilities and seeds of --link-loss
MOST_CLIENTS_WITH_LOSSES = 8


@dataclasses.dataclass
class Case:
    number: int
    run: Run
    words: list
    files: dict
    traits: set = dataclasses.field(default_factory=set)
    record_every: int = None
    losses: int = None  # index of LOSS_RUNS
    drawn_absences: bool = False  # they are those that the run has recorded
    chosen_step_cap: bool = False  # the same

    def add(self, trait, *words):
        """Something that a case has, and the words that ask for it."""
        self.traits.add(trait)
        self.words += map(str, words)

    def write(self, folder):
        for name, text in self.files.items():
            (folder / name).write_text(text)


def table(rows):
    return "".join(",".join(repr(float(x)) for x in np.atleast_1d(row)) + "\n" for row in rows)


def between(rng, low, high):
    """With few digits, as people write numbers."""
    return round(float(rng.uniform(low, high)), 3)


def pick(rng, *weighted):
    """One of (value, weight), ..."""
    values, weights = zip(*weighted)
    return values[rng.choice(len(values), p=np.array(weights) / sum(weights))]


# Graphs.


def edges_at_random(rng, n, probability, both_ways=False):
    chosen = rng.random((n, n)) < probability
    if both_ways:
        chosen |= chosen.T
    return [(u, v, 1) for u in range(n) for v in range(n) if u != v and chosen[u, v]]


def with_weights(rng, n, edges, by_sender, all_keep):
    """Random weights that sum to one over each sender's edges, or each receiver's. Clients may keep no share of their own."""
    end = 0 if by_sender else 1
    result = []
    for u in range(n):
        others = [edge for edge in edges if edge[end] == u]
        if not others or all_keep or rng.random() < 0.8:
            others.append((u, u, 1))
        shares = rng.dirichlet(np.full(len(others), 2.0)) if len(others) > 1 else [1.0]
        result += [(edge[0], edge[1], float(share)) for edge, share in zip(others, shares)]
    return result


def hops_of(n):
    return [2**k for k in range((n - 1).bit_length())]


def exponential(n):
    return {(u, (u + hop) % n) for u in range(n) for hop in hops_of(n)}


def family(rng, n):
    """(name, phases)."""
    hops = hops_of(n)
    circle = {(u, (u + hop) % n) for u in range(n) for hop in (1, -1)}
    of_name = {
        "ring": [circle],
        "directed-ring": [{(u, (u + 1) % n) for u in range(n)}],
        "path": [{(u, v) for u, v in circle if abs(u - v) == 1}],
        "star": [{edge for u in range(1, n) for edge in ((0, u), (u, 0))}],
        "complete": [{(u, v) for u in range(n) for v in range(n) if u != v}],
        "exponential": [exponential(n)],
        "one-peer-exponential": [{(u, (u + hop) % n) for u in range(n)} for hop in hops],
    }
    name = list(of_name)[rng.integers(len(of_name))]
    return name, [(1, [(u, v, 1) for u, v in sorted(phase)]) for phase in of_name[name]]


def connects(n, phases):
    """Whether every client reaches every other over the edges of all phases."""
    reach = np.eye(n, dtype=bool)
    for _, edges in phases:
        for u, v, _ in edges:
            reach[v, u] = True
    return bool((np.linalg.matrix_power(reach.astype(float), n) > 0).all())


def draw_graph(rng, case):
    run, n = case.run, case.run.clients
    kind = pick(rng, ("sender", 5), ("explicit", 6), ("family", 2), ("default", 1), ("metropolis", 1.5), ("receiver", 1.5),
                ("endless", 1))
    if n < 3 and kind in ("family", "endless"):
        kind = "sender"
    run.mixing = {"receiver": "plain", "metropolis": pick(rng, ("plain", 1), ("push-sum", 1))}.get(
        kind, pick(rng, ("push-sum", 6), ("plain", 1)))
    if run.mixing == "plain":
        case.add("plain mixing", "--mixing", "plain")
    case.traits.add(f"weights {kind}")
    run.weights = "sender" if kind in ("family", "default", "endless") else kind
    if kind == "default":
        run.phases = [(1, [(u, v, 1) for u, v in sorted(exponential(n))])]
        return
    case.add("a topology file", "--topology", "graph.topo")
    if kind == "family":
        name, run.phases = family(rng, n)
        case.files["graph.topo"] = f"generate {name} clients={n}\n"
    elif kind == "endless":
        name = pick(rng, *((f, 1) for f in ("random-matching", "b-connected", "erdos-renyi", "random-regular")))
        case.files["graph.topo"] = f"generate {name} clients={n} rounds=endless seed={rng.integers(1000)}\n"
        run.phases = None  # read from the program's drawing
        return
    else:
        while not connects(n, draw_phases(rng, case)):
            pass
    if len(run.phases) > 1:
        case.traits.add("time-varying graph")
        if not any(connects(n, [phase]) for phase in run.phases):
            case.traits.add("connected over several rounds only")


def draw_phases(rng, case):
    """Phases that may not connect all clients, which the program refuses."""
    run, n = case.run, case.run.clients
    rule = run.weights
    both_ways = rule == "metropolis"
    by_sender = run.mixing == "push-sum" or rng.random() < 0.4
    phases = pick(rng, (1, 3), (2, 1), (3, 1), (4, 1))
    density = between(rng, 0.15, 0.7) / phases**0.7
    everywhere = [] if rule == "explicit" else edges_at_random(rng, n, pick(rng, (0, 2), (0.1, 1)), both_ways)
    run.phases, written = [], []
    for _ in range(phases):
        rounds = int(rng.integers(1, 4))
        edges = [edge for edge in edges_at_random(rng, n, density, both_ways) if edge not in everywhere]
        if rule == "explicit":
            edges = with_weights(rng, n, edges, by_sender, run.mixing == "plain")
        run.phases.append((rounds, everywhere + edges))
        written.append((rounds, edges if rule == "explicit" else [edge[:2] for edge in edges]))
    case.files["graph.topo"] = topology(n, written, rule, [edge[:2] for edge in everywhere])
    case.traits.discard("plain mixing of sender sums")
    if rule == "explicit" and run.mixing == "plain" and by_sender:
        case.traits.add("plain mixing of sender sums")
    return run.phases


# Learning.

LABELS = {"logistic": "signs", "hinge": "signs", "dwd": "signs", "softmax": "classes"}


def draw_loss(rng):
    name = pick(rng, ("logistic", 4), ("squared", 4), ("huber", 2), ("absolute", 2), ("hinge", 2), ("linear", 1.5),
                ("softmax", 1), ("expectile", 1), ("dwd", 1))
    parameters = {"huber": lambda: (between(rng, 0.2, 1.5),), "expectile": lambda: (between(rng, 0.1, 0.9), 0.7),
                  "dwd": lambda: (float(rng.integers(1, 4)),), "softmax": lambda: (3,)}.get(name, tuple)()
    word = ":".join([name, ",".join(map(str, parameters))]) if parameters else name
    return (name, *parameters), word + (",smoothing=0" if name == "dwd" else "")


def draw_records(rng, case, features, rounds):
    """Of every client: different numbers of records, about different models."""
    run = case.run
    passes = -(-rounds // run.epochs)
    records = []
    for u in range(run.clients):
        most = passes * run.batch
        count = most - int(rng.integers(run.batch)) if u == 0 or rng.random() < 0.5 else int(rng.integers(1, most + 1))
        rows = rng.normal(size=(count, features)) * pick(rng, (0.5, 1), (1, 2))
        scores = rows @ rng.normal(size=features) + rng.normal(size=count)
        kind = LABELS.get(run.loss[0])
        labels = np.where(scores > 0, 1.0, -1.0) if kind == "signs" else (
            rng.integers(3, size=count).astype(float) if kind == "classes" else scores)
        records.append((rows, labels))
        case.files[f"p-{u}.csv"] = table(np.hstack([rows, labels[:, None]]))
    run.records = records
    sizes = [len(labels) for _, labels in records]
    run.rounds = -(-max(sizes) // run.batch) * run.epochs
    if min(sizes) < max(sizes):
        case.traits.add("unequal clients")
    if any(size * run.epochs < run.rounds * run.batch for size in sizes):
        case.traits.add("short batches")


def draw_domain(rng, case):
    run, d = case.run, case.run.dimension
    run.mirror = pick(rng, ("euclidean", 5), ("entropic", 2.5), ("entropic-signed", 1.5)) if d > 1 else "euclidean"
    radius = between(rng, 0.5, 3)
    if run.mirror == "euclidean":
        run.domain = pick(rng, (("free",), 4), (("ball", radius), 2), (("box", -radius, between(rng, 0.1, 2)), 2),
                          (("simplex", 1.0), 1), (("simplex", radius), 1), (("l1ball", radius), 1))
    else:
        run.domain = ("simplex", pick(rng, (1.0, 1), (radius, 1))) if run.mirror == "entropic" else ("l1ball", radius)
    case.add(f"mirror {run.mirror}", "--mirror", run.mirror)
    if run.domain != ("free",) and not (run.mirror == "entropic" and run.domain[1] == 1 and rng.random() < 0.5):
        case.words += ["--domain", ":".join([run.domain[0], ",".join(map(str, run.domain[1:]))])]
    case.traits.add(f"domain {run.domain[0]}")


def draw_start(rng, case):
    run = case.run
    n, d, (name, *bounds) = run.clients, run.dimension, run.domain
    shape = (n, d)
    run.start = np.full(shape, bounds[0] / d) if name == "simplex" else np.zeros(shape)
    if rng.random() < 0.5:
        return
    if name == "simplex":
        run.start = bounds[0] * rng.dirichlet(np.ones(d), size=n)
        if run.mirror == "entropic" and rng.random() < 0.4:
            case.traits.add("zeros in the start")
            run.start[0] = bounds[0] * np.eye(d)[0]
    elif name == "box":
        run.start = rng.uniform(*bounds, size=shape)
    elif name == "free":
        run.start = rng.normal(size=shape)
    else:
        run.start = rng.uniform(-1, 1, size=shape) * bounds[0] / d
        if name == "l1ball" and rng.random() < 0.3:
            run.start[0] = bounds[0] * np.eye(d)[0]
            case.traits.add("a start on the border")
    case.files["start.csv"] = table(run.start)
    case.add("starts of a file", "--start", "start.csv")


def draw_steps(rng, case):
    """Steps are short where long ones would diverge, and long where rounding does not grow."""
    run = case.run
    longest = 3
    if run.domain == ("free",) and run.loss[0] == "squared":
        longest = 0.4
    elif (run.mirror != "euclidean" and run.loss[0] in ("linear", "absolute", "hinge") and run.l2 == 0 and run.acknowledged
          and rng.random() < 0.8):
        longest = 20
        case.traits.add("long entropic steps")
    draw_decay(case)
    for name, chance, value in (
            ("step", 0.8 if longest == 3 else 1, lambda: between(rng, longest / 20, longest)),
            ("step_power", 0.5, lambda: pick(rng, (0, 2), (1, 1), (between(rng, 0.2, 0.9), 1))),
            ("step_offset", 0.3, lambda: between(rng, 0, 30)),
            ("step_cap", 0.6, lambda: pick(rng, (1, 3), (2, 1), (5, 1), (0.5, 1)))):
        if rng.random() < chance:
            drawn = value()
            if run.linear and name in ("step_power", "step_offset"):
                continue
            setattr(run, name, drawn)
            case.add(name.replace("_", "-"), "--" + name.replace("_", "-"), getattr(run, name))
        elif name == "step_cap":
            case.chosen_step_cap = True
            case.add("step cap chosen by the program")


def draw_decay(case):
    """By numbers of their own: what else is drawn stays as it is. The rule chooses steps that fall to zero, and their cap."""
    kind = pick(np.random.default_rng([SEED, case.number, 1]), ("power", 5), ("linear", 4), ("tuned", 1))
    case.run.linear = kind != "power"
    if kind == "linear":
        case.add("linear steps", "--step-decay", "linear")
    elif kind == "tuned":
        case.add("tuned steps", "--tuning", "auto")
        for word, value in (("--gossip-steps", case.run.gossip_steps), ("--batch", case.run.batch), ("--epochs", case.run.epochs),
                            ("--feature-share", 0)):
            if word not in case.words:
                case.words += [word, str(value)]


def draw_learning(rng, case, rounds):
    run = case.run
    if rng.random() < 0.06:
        case.add("no learning", "--loss", "none", "--rounds", rounds)
        run.rounds = rounds
        run.dimension = int(rng.integers(1, 7))
        run.start = rng.normal(size=(run.clients, run.dimension))
        case.files["start.csv"] = table(run.start)
        case.words += ["--start", "start.csv"]
        return
    case.words += ["--source", "p-{client}.csv", "--header", "no", "--mechanism", "none"]
    run.loss, word = draw_loss(rng)
    case.add(f"loss {run.loss[0]}", "--loss", word)
    features = int(rng.integers(1, 5 if run.loss[0] == "softmax" else 7))
    run.dimension = features
    if rng.random() < 0.35:
        run.intercept = True
        run.dimension += 1
        case.add("intercept", "--intercept")
    else:
        case.words += ["--intercept", "no"]
    if run.loss[0] == "softmax":
        run.dimension *= 3
    run.batch = int(pick(rng, (1, 2), (2, 1), (3, 1), (5, 1)))
    if run.batch > 1:
        case.add("batches", "--batch", run.batch)
    if rng.random() < 0.15:
        run.epochs = 2
        case.add("epochs", "--epochs", 2)
    draw_records(rng, case, features, rounds)
    if rng.random() < 0.2 or run.rounds > rounds:
        run.rounds = min(max(run.rounds - int(rng.integers(1, 10)), 1), rounds)
        case.add("fewer rounds than records", "--rounds", run.rounds)
    for name, chance, value in (("l2", 0.3, between(rng, 0.01, 0.3)), ("clip", 0.3, between(rng, 0.05, 1))):
        if rng.random() < chance:
            setattr(run, name, value)
            case.add(name, "--" + name, value)
    draw_domain(rng, case)
    draw_start(rng, case)
    draw_steps(rng, case)
    run.average = pick(rng, ("none", 3), ("tail", 1), ("all", 1))
    if run.average != "none":
        case.add(f"average {run.average}", "--average", run.average)


# Trouble.


def draw_losses(rng, case):
    run = case.run
    if not 2 <= run.clients <= MOST_CLIENTS_WITH_LOSSES or rng.random() < 0.5:
        return
    case.losses = int(rng.integers(len(LOSS_RUNS)))
    probability, seed = LOSS_RUNS[case.losses]
    run.acknowledged = run.mixing == "plain" or rng.random() < 0.5
    known = "acknowledged" if run.acknowledged else "unacknowledged"
    case.add(f"{known} losses", "--link-loss", probability, "--link-loss-model", known, "--seed", seed)


def draw_absences(rng, case):
    run, n = case.run, case.run.clients
    kind = pick(rng, ("nobody", 5), ("a file", 2.5), ("drawn", 1.5))
    if kind == "a file":
        chance = between(rng, 0.05, 0.5)
        run.absent = frozenset((t, u) for t in range(run.rounds) for u in range(n) if rng.random() < chance)
        case.files["absent.csv"] = "round,client\n" + "".join(f"{t},{u}\n" for t, u in sorted(run.absent))
        if not run.absent:
            return
        case.add("absences of a file", "--dropout-model", "absent.csv")
    elif kind == "drawn":
        case.drawn_absences = True
        case.record_every = 1
        model = pick(rng, ("uniform", 1), ("markov:length=3", 1), ("gilbert-elliott:length=5", 1))
        case.add("absences drawn", "--dropout", between(rng, 0.1, 0.4), "--dropout-model", model)
    if kind != "nobody" and rng.random() < 0.35:
        run.freezes = True
        case.add("absent clients freeze", "--absent", "freeze")


def draw_departures(rng, case):
    run, n = case.run, case.run.clients
    if n < 3 or rng.random() < 0.8:
        return
    for u in rng.choice(n, size=int(rng.integers(1, n // 3 + 1)), replace=False):
        run.leave[int(u)] = int(rng.integers(run.rounds))
    case.files["leave.csv"] = "client,round\n" + "".join(f"{u},{t}\n" for u, t in run.leave.items())
    case.add("departures", "--leave", "leave.csv")


def draw_case(number):
    rng = np.random.default_rng([SEED, number])
    n = int(rng.integers(1, 13))
    case = Case(number, Run(clients=n, rounds=0, dimension=0, start=None), ["omd", "--clients", str(n), "--progress", "off"], {})
    run = case.run
    draw_graph(rng, case)
    if rng.random() < 0.3:
        run.lazy = between(rng, 0.05, 0.7)
        case.add("lazy", "--lazy", run.lazy)
    run.gossip_steps = int(pick(rng, (1, 2), (2, 1), (3, 1)))
    if run.gossip_steps > 1:
        case.add("several exchanges", "--gossip-steps", run.gossip_steps)
    draw_losses(rng, case)
    rounds = ENDLESS_ROUNDS // run.gossip_steps if run.phases is None else int(rng.integers(20, 61))
    draw_learning(rng, case, rounds)
    draw_absences(rng, case)
    draw_departures(rng, case)
    case.record_every = case.record_every or pick(rng, (1, 2), (int(rng.integers(2, 12)), 1), (None, 1))
    if "--source" in case.words and "--tuning" not in case.words:
        case.words += ["--tuning", "off"]
    if case.record_every:
        case.words += ["--record-every", str(case.record_every)]
    return case
