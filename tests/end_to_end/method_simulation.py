"""A reference simulation of decentralized mirror descent, in NumPy: all clients at one place.

It is written from the formulas of docs/methods/decentralized.md and shares no code with the program. Arrays have a row
per client. A[to, from] is the share that client `from` gives to client `to`. What the formulas leave open is as the
documentation has it:

* the constant feature of --intercept is the last one, and --l2 leaves its weight free;
* --clip bounds the Euclidean norm of each record's gradient; the penalty's gradient is added afterwards;
* batches are numbered by rounds: the batch of a round that a client sits out frozen is left out;
* exchange g of round t goes over the graph of round t G + g, where G is the number of --gossip-steps;
* a share that its receiver's absence leaves over is split anew under equal sender shares, else the sender keeps it;
  under plain mixing with receiver weights that sum to one the receiver keeps it;
* a client below 2^-44 of the average mass neither splits it nor steps, and keeps its model until it is given more.
"""

import dataclasses

import numpy as np

LEAST_MASS = 2.0**-44
LEAST_COORDINATE = 2.0**-1022
LEAST_MASS_OF_FALLING_STEPS = 0.0125


def no_losses(exchange, clients):
    """Which messages of an exchange are lost: [to, from]."""
    return np.zeros((clients, clients), bool)


@dataclasses.dataclass
class Run:
    """All that the models of a run depend on."""

    clients: int
    rounds: int
    dimension: int
    start: np.ndarray  # clients x dimension
    # Learning. No records: the run averages the starts.
    records: list = None  # of each client: (rows, labels)
    batch: int = 1
    epochs: int = 1
    intercept: bool = False
    loss: tuple = ("logistic",)  # name and parameters
    l2: float = 0.0
    clip: float = np.inf
    mirror: str = "euclidean"
    domain: tuple = ("free",)  # name and parameters
    step: float = 1.0
    step_power: float = 0.5
    step_offset: float = 0.0
    step_cap: float = 1.0
    linear: bool = False  # steps fall to zero along a line; power and offset have no meaning then
    average: str = "none"
    # Mixing.
    mixing: str = "push-sum"
    weights: str = "sender"
    repeats: bool = True  # whether the phases come again and again, as those of a file do
    phases: list = None  # (rounds, [(from, to, weight)]); the weights count under "explicit" only, self loops too
    lazy: float = 0.0
    gossip_steps: int = 1
    # Trouble.
    absent: frozenset = frozenset()  # (round, client)
    leave: dict = dataclasses.field(default_factory=dict)  # round from which a client is gone
    freezes: bool = False  # what an absent client does
    lost: object = no_losses
    acknowledged: bool = True


@dataclasses.dataclass
class Course:
    """What a run came to: after 0, 1, … rounds."""

    models: np.ndarray  # (rounds + 1) x clients x dimension
    masses: np.ndarray  # (rounds + 1) x clients
    present: np.ndarray  # rounds x clients
    losses: np.ndarray  # rounds x clients: sums over the batch, penalty included
    played: np.ndarray  # rounds x clients: records
    final: np.ndarray  # clients x dimension
    mass_under_way: float
    effective_weights: np.ndarray | None  # of each client: steps taken / steps credited; NaN where none were. None: some have missed rounds


# Losses of scores (records x scores; one score but for softmax) and labels (records x 1), and their derivatives by the scores.


def huber_loss(s, y, c):
    far = np.abs(s - y)
    return np.where(far <= c, far**2 / 2, c * (far - c / 2))


def huber_slope(s, y, c):
    return np.clip(s - y, -c, c)


def tilted(of):
    return lambda s, y, tau, c: np.where(y > s, tau, 1 - tau) * of(s, y, c)


def discriminant_loss(s, y, q):
    """Of the distance-weighted discriminant, unsmoothed."""
    u, bend = y * s, q / (q + 1)
    return np.where(u <= bend, 1 - u, np.maximum(u, bend) ** -q * bend**q / (q + 1))


def discriminant_slope(s, y, q):
    u, bend = y * s, q / (q + 1)
    return y * np.where(u <= bend, -1, -q * np.maximum(u, bend) ** (-q - 1) * bend**q / (q + 1))


def odds(s):
    return np.exp(s - s.max(axis=1, keepdims=True))


def softmax_loss(s, y, classes):
    return -np.log((odds(s) / odds(s).sum(axis=1, keepdims=True))[y == np.arange(classes)])[:, None]


def softmax_slope(s, y, classes):
    return odds(s) / odds(s).sum(axis=1, keepdims=True) - (y == np.arange(classes))


LOSSES = {
    "logistic": (lambda s, y: np.log1p(np.exp(-y * s)), lambda s, y: -y / (1 + np.exp(y * s))),
    "squared": (lambda s, y: (s - y) ** 2 / 2, lambda s, y: s - y),
    "absolute": (lambda s, y: np.abs(s - y), lambda s, y: np.sign(s - y)),
    "hinge": (lambda s, y: np.maximum(0, 1 - y * s), lambda s, y: np.where(y * s < 1, -y, 0)),
    "linear": (lambda s, y: s, lambda s, y: np.ones_like(s)),
    "huber": (huber_loss, huber_slope),
    "expectile": (tilted(huber_loss), tilted(huber_slope)),
    "dwd": (discriminant_loss, discriminant_slope),
    "softmax": (softmax_loss, softmax_slope),
}


# Domains and mirror maps.


def onto_simplex(x, mass):
    """The threshold is the largest of those that the greatest 1, 2, … coordinates would have by themselves."""
    falling = -np.sort(-x, axis=1)
    threshold = ((np.cumsum(falling, axis=1) - mass) / np.arange(1, x.shape[1] + 1)).max(axis=1, keepdims=True)
    return np.maximum(x - threshold, 0)


def onto_ball(x, radius):
    norm = np.linalg.norm(x, axis=1, keepdims=True)
    return np.where(norm > radius, x * (radius / np.maximum(norm, radius)), x)


def onto_l1_ball(x, radius):
    outside = np.abs(x).sum(axis=1, keepdims=True) > radius
    return np.where(outside, np.sign(x) * onto_simplex(np.abs(x), radius), x)


PROJECTIONS = {
    "free": lambda x: x,
    "ball": onto_ball,
    "box": np.clip,
    "simplex": onto_simplex,
    "l1ball": onto_l1_ball,
}


class Euclidean:
    """R = |x|^2/2."""

    least = 0.0  # value of a positive coordinate

    def __init__(self, domain):
        self.project, self.bounds = PROJECTIONS[domain[0]], domain[1:]

    def state(self, models):
        return models.copy()

    def models(self, state):
        return state

    def step(self, state, eta, gradient):
        return self.project(state - eta[:, None] * gradient, *self.bounds)


class Entropic(Euclidean):
    """R = sum x ln x, on coordinates of a given sum."""

    def __init__(self, domain):
        self.mass = domain[1]
        self.least = LEAST_COORDINATE * max(self.mass, 1)

    def step(self, state, eta, gradient):
        with np.errstate(divide="ignore"):
            exponent = np.log(state) - eta[:, None] * gradient
        z = np.exp(exponent - exponent.max(axis=1, keepdims=True))
        z = self.mass * z / z.sum(axis=1, keepdims=True)
        return np.where(state > 0, np.maximum(z, self.least), 0)


class SignedEntropic(Entropic):
    """The same over [x+, x-], where x = x+ - x-. A start leaves 1/1024 of the radius at least, which all 2 d share."""

    def state(self, models):
        norm = np.abs(models).sum(axis=1, keepdims=True)
        most = self.mass * (1 - 2.0**-10)
        models = np.where(norm > most, models * (most / np.maximum(norm, most)), models)
        rest = (self.mass - np.minimum(norm, most)) / (2 * models.shape[1])
        return np.hstack([np.maximum(models, 0), np.maximum(-models, 0)]) + rest

    def models(self, state):
        plus, minus = np.hsplit(state, 2)
        return plus - minus

    def step(self, state, eta, gradient):
        return super().step(state, eta, np.hstack([gradient, -gradient]))


MIRROR_MAPS = {"euclidean": Euclidean, "entropic": Entropic, "entropic-signed": SignedEntropic}


class Simulation:
    """One run. Its parts are methods, so that a test can put a wrong one in the place of each."""

    def __init__(self, run):
        self.run = run
        self.mirror = MIRROR_MAPS[run.mirror](run.domain)
        self.z = self.mirror.state(run.start)
        self.w = np.ones(run.clients)
        self.debt = np.zeros(run.clients)
        self.credit = np.zeros(run.clients)
        self.forgone = np.zeros(run.clients)
        self.all_have_stepped = True
        self.losses = np.zeros((run.rounds, run.clients))
        self.played = np.zeros((run.rounds, run.clients))
        self.under_way = np.zeros((run.clients, run.clients, self.z.shape[1] + 1))  # [to, from]: lost (s, w)
        self.schedule = [self.everybody(edges) for rounds, edges in run.phases for _ in range(rounds)]
        receiver_sums = np.array([a.sum(axis=1) for a in self.schedule])
        self.receivers_keep = run.mixing == "plain" and np.allclose(receiver_sums, 1, rtol=0, atol=1e-9)
        if run.records:
            self.batches = [self.batches_of(u) for u in range(run.clients)]
            self.weighed = np.ones(run.dimension)
            if run.intercept:
                self.weighed[self.batches[0][0][0].shape[1] - 1::self.batches[0][0][0].shape[1]] = 0
            self.penalty = run.l2 * self.filled() * self.weighed
        self.longest = self.longest_step() if run.linear and run.records else np.inf

    def course(self):
        run = self.run
        models, masses, presence = [self.mirror.models(self.z)], [self.w], np.zeros((run.rounds, run.clients), bool)
        for t in range(run.rounds):
            gone = np.array([t >= run.leave.get(u, np.inf) for u in range(run.clients)])
            present = np.array([(t, u) not in run.absent for u in range(run.clients)]) & ~gone
            if run.records:
                self.learn(t, self.stepping(present, gone))
            for exchange in range(t * run.gossip_steps, (t + 1) * run.gossip_steps):
                self.mix(exchange, present)
            models.append(self.mirror.models(self.z))
            masses.append(self.w)
            presence[t] = present
        models, masses = np.array(models), np.array(masses)
        final = self.final(models, masses)
        with np.errstate(invalid="ignore"):
            weights = 1 - (self.debt + self.forgone) / self.credit
        weights = weights if self.all_have_stepped else None
        return Course(models, masses, presence, self.losses, self.played, final, self.under_way[:, :, -1].sum(), weights)

    def final(self, models, masses):
        if self.run.average == "none":
            return models[-1]
        after = self.run.rounds // 2 if self.run.average == "tail" else 0
        return self.average(models[after + 1:], masses[after + 1:])

    def average(self, models, masses):
        """By mass; of a client that has had none, the last model."""
        total = masses.sum(axis=0)[:, None]
        return np.where(total > 0, (masses[..., None] * models).sum(axis=0) / np.where(total > 0, total, 1), models[-1])

    # Items 1 to 3 of a round.

    def batches_of(self, u):
        """Client u's batch of each round: each client's records are dealt into as many batches as the most fill."""
        rows, labels = self.run.records[u]
        if self.run.intercept:
            rows = np.hstack([rows, np.ones((len(rows), 1))])
        n, most = len(labels), max(len(labels) for _, labels in self.run.records)
        rounds = -(-most // self.run.batch)
        slices = [slice(t * n // rounds, (t + 1) * n // rounds) for t in range(rounds)]
        return [(rows[part], labels[part]) for part in slices] * self.run.epochs

    def filled(self):
        """The part of the batches of a pass that records fill: gradients are that much shorter than means over a full batch."""
        sizes = [len(labels) for _, labels in self.run.records]
        return sum(sizes) / (len(sizes) * -(-max(sizes) // self.run.batch) * self.run.batch)

    def stepping(self, present, gone):
        return present if self.run.freezes else ~gone

    def learn(self, t, may_step):
        run = self.run
        steps = may_step & np.array([t < len(batches) for batches in self.batches])
        self.all_have_stepped = self.all_have_stepped and steps.all()
        gradient = np.zeros((run.clients, run.dimension))
        models = self.mirror.models(self.z)
        for u in np.flatnonzero(steps):
            losses, gradients = self.play(models[u], *self.batches[u][t])
            gradient[u] = self.released(gradients, models[u])
            self.played[t, u] = len(losses)
            self.losses[t, u] = losses.sum() + len(losses) * run.l2 / 2 * self.weighed @ models[u] ** 2
        lengths = np.where(steps, self.step_lengths(t, steps), 0)
        self.z = np.where(steps[:, None], self.mirror.step(self.z, lengths, gradient), self.z)

    def play(self, x, rows, labels):
        """Loss and gradient of each record."""
        name, *parameters = self.run.loss
        loss, slope = LOSSES[name]
        scores = rows @ x.reshape(-1, rows.shape[1]).T
        slopes = slope(scores, labels[:, None], *parameters)
        gradients = (slopes[:, :, None] * rows[:, None, :]).reshape(len(rows), x.size)
        return loss(scores, labels[:, None], *parameters), gradients

    def released(self, gradients, x):
        return self.clipped(gradients).sum(axis=0) / self.run.batch + self.penalty * x

    def clipped(self, gradients):
        return onto_ball(gradients, self.run.clip) if np.isfinite(self.run.clip) else gradients

    def longest_step(self):
        """Of all clients: what the client with the least mean mass can take of steps that fall to zero, a quarter to spare."""
        least = self.least_mean_mass()
        longest = self.run.step_cap * max(least, LEAST_MASS_OF_FALLING_STEPS) / 1.25
        return longest * self.run.step if least < 1 - 1e-6 and longest < 1 else np.inf

    def least_mean_mass(self):
        """At the starts of rounds: over a cycle of a graph that repeats, once masses do; else over the second half of the rounds."""
        run = self.run
        if run.mixing == "plain":
            return 1
        masses = Simulation(dataclasses.replace(run, records=None)).course().masses[:-1]
        begin, end = run.rounds // 2, run.rounds
        if run.repeats and not run.absent and not run.leave and run.lost is no_losses:
            cycle = np.lcm(len(self.schedule), run.gossip_steps) // run.gossip_steps
            same = (t for t in range(cycle, begin + 1, cycle)
                    if np.allclose(masses[t], masses[t - cycle], rtol=1e-6, atol=0))
            begin = next(same, begin)
            end = min(begin + cycle, end)
        stay = [u for u in range(run.clients) if run.leave.get(u, np.inf) >= end]
        return min(1, masses[begin:end, stay].mean(axis=0).min(initial=1))

    def eta(self, t):
        if self.run.linear:
            return min(self.longest, self.run.step * ((self.run.rounds - t) / self.run.rounds))
        return self.run.step / (t + 1 + self.run.step_offset) ** self.run.step_power

    def step_lengths(self, t, steps):
        """Of those who step; the cap keeps the rest back as debt. Debts of steps that fall to zero count in steps, are worth what a step
        is now, and are written off at a tenth of the first."""
        worth = self.eta(t) if self.run.linear else 1
        first = self.run.step if self.run.linear else self.eta(0)
        self.credit = self.credit + np.where(steps, self.eta(t) / worth, 0)
        self.debt = self.debt + np.where(steps, self.eta(t) / worth, 0)
        has_mass = self.has_mass()
        use = np.where(steps & has_mass, np.minimum(worth * self.debt, self.run.step_cap * first * self.w), 0)
        self.debt = self.debt - use / worth
        if self.run.linear and 10 * worth < first:
            self.forgone = self.forgone + np.where(steps, self.debt, 0)
            self.debt = np.where(steps, 0, self.debt)
        return use / np.where(has_mass, self.w, 1)

    def has_mass(self):
        return self.w >= LEAST_MASS

    # Item 4.

    def everybody(self, edges):
        """A of some edges, where everybody is present and nothing is lost."""
        n, rule = self.run.clients, self.run.weights
        a = np.zeros((n, n))
        for sender, receiver, weight in edges:
            a[receiver, sender] = weight if rule == "explicit" else 1
        if rule == "explicit":
            return a
        if rule == "metropolis":
            degree = a.sum(axis=0)
            a /= 1 + np.maximum.outer(degree, degree)
            return a + np.diag(1 - a.sum(axis=0))
        a += np.eye(n)
        return a / a.sum(axis=0 if rule == "sender" else 1, keepdims=True)

    def matrix(self, exchange, present):
        """A of an exchange, without losses."""
        a = self.schedule[exchange % len(self.schedule)]
        missing = ~np.outer(present, present) & ~np.eye(self.run.clients, dtype=bool)
        if self.run.weights == "sender" and not self.receivers_keep:
            a = np.where(missing, 0, a > 0)
            return a / a.sum(axis=0)
        return self.without(a, missing)

    def without(self, a, missing):
        """The same where some shares stay where they are."""
        left = np.where(missing, a, 0)
        return np.where(missing, 0, a) + np.diag(left.sum(axis=1 if self.receivers_keep else 0))

    def mix(self, exchange, present):
        n = self.run.clients
        a = self.matrix(exchange, present)
        lost = self.run.lost(exchange, n) & (a > 0) & ~np.eye(n, dtype=bool)
        if self.run.acknowledged or self.run.mixing == "plain":
            a = self.without(a, lost)
            lost[:] = False
        a = self.run.lazy * np.eye(n) + (1 - self.run.lazy) * a
        if self.run.mixing == "plain":
            self.z = self.with_least(a @ self.z)
        else:
            self.push_sum(a, lost)

    def with_least(self, z):
        return np.where(z > 0, np.maximum(z, self.mirror.least), z)

    def push_sum(self, a, lost):
        arrives = (a > 0) & ~lost
        a = np.where(self.has_mass(), a, np.eye(self.run.clients))
        sums = np.hstack([self.w[:, None] * self.z, self.w[:, None]])
        arrived = np.where(lost, 0, a) @ sums
        s, w = np.hsplit(self.with_what_was_lost(arrived, np.where(lost, a, 0)[:, :, None] * sums, arrives), [-1])
        self.w = w[:, 0]
        self.z = np.where(w >= LEAST_MASS, self.with_least(s / np.where(w > 0, w, 1)), self.z)

    def with_what_was_lost(self, arrived, lost, arrives):
        """A message that gets through brings what was lost over its edge before."""
        late = np.where(arrives[:, :, None], self.under_way, 0)
        self.under_way = self.under_way - late + lost
        return arrived + late.sum(axis=1)
