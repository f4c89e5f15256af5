#!/usr/bin/env python3
"""Judges what the dissertation's chapter 3 claims of saddle points under a long-term constraint, on the stream of
budget.py (jobs/dissertation-ch3.ini), where the constraint binds: how regret and violation grow, with and without noise.

Regret is against the best model that keeps the constraint over the whole run, per client unless it says otherwise. Noise
comes from the seed: equal arguments give equal figures.

Writes figures.csv, runs.csv, and the pictures regret and violation.
"""

import itertools

import budget
import experiment
from experiment import FAILS, HOLDS, OPEN, mean, with_error

NOISE = ["--mechanism", "laplace", "--tuning", "off", "--metrics", "shared", "--constraint-clip", 3.5]
# Regret | violation per client and exponent of the violation, as docs/methods/constraints.md has them.
EXPECTED = {2: (489, 0.52), 0.1: (25, 0.40)}
SIGNS = {2: (-1, 1), 0.1: (1, -1)}
WEAK = (0.1, 1)  # where a bound that is linear in T is all that can be had
NOISES = {
    10: "the program knows of a record's part in the constraint only that its L1 norm is at most 3.5, so that two of them "
        "may be 7 apart, where a box of width 0.4 allows 2: its noise is 3.5 times that of a mechanism which knows the "
        "box, and max(0, .) under noise keeps multipliers too high, which costs loss.",
    35: "with epsilon 3.5 times larger the noise is what n epsilon = 10 would mean for a mechanism that knows the box: a "
        "strong decay of the multiplier then forgives violations, and a weak one makes clients pay in loss for keeping "
        "the constraint.",
}


def preset(stream, *more):
    return ["--config", "jobs/dissertation-ch3.ini", "--source", stream.path, *more]


def cases(stream, rounds, seeds):
    found = {f"none-{gamma}": preset(stream, "--rounds", rounds, "--dual-regularisation", gamma) for gamma in EXPECTED}
    found["entropic"] = preset(stream, "--rounds", rounds, "--mirror", "entropic")
    for seed in seeds:
        for epsilon, gamma in itertools.product(NOISES, SIGNS):
            found[f"noise-{epsilon}-{gamma}-{seed}"] = preset(stream, "--rounds", rounds, "--dual-regularisation", gamma,
                                                              "--seed", seed, *NOISE, "--epsilon", epsilon)
        for epsilon in WEAK:
            found[f"epsilon-{epsilon}-{seed}"] = preset(stream, "--rounds", rounds, "--seed", seed, *NOISE, "--epsilon",
                                                        epsilon)
    return found


def regret_curve(runs, stream, name, rounds):
    """Rounds, and regret per client and round up to each of them."""
    history = runs.history(name)
    times = [int(t) for t in history["rounds"]]
    best = stream.comparator_losses(rounds, times)
    played, before, found = 0.0, 0, []
    for t, loss, least in zip(times, history["loss"], best):
        played += budget.CLIENTS * (t - before) * loss
        before = t
        found.append((played - least) / (budget.CLIENTS * t))
    return times, found


def violation_curve(runs, name):
    with open(runs.scratch / name / "violation.csv", newline="") as file:
        rows = [row for row in experiment.csv.DictReader(file) if int(row["round"]) > 0]
    return [int(row["round"]) for row in rows], [float(row["violation"]) / budget.CLIENTS for row in rows]


def pictures(setting, stream, names, rounds, exponents):
    """Regret per round and violation of runs {title: name}; `exponents`: what to add to a violation's title, by name."""
    experiment.draw_curves(
        setting.folder, "regret", ("Regret per client and round against the best model that keeps the constraint", "round",
                                   "regret per client and round"),
        {title: regret_curve(setting.runs, stream, name, rounds) for title, name in names.items()},
        ["set logscale x", "set xzeroaxis"])
    experiment.draw_curves(
        setting.folder, "violation", ("Sum of the constraint over rounds", "round", "sum per client"),
        {title + exponents.get(name, ""): violation_curve(setting.runs, name) for title, name in names.items()}, ["set logscale x", "set xzeroaxis"])


class Figures:
    """Regret and violation per client of every run, by name."""

    def __init__(self, stream, summaries):
        self.regret = {name: stream.regret(summary) / budget.CLIENTS for name, summary in summaries.items()}
        self.constraint = {name: summary["constraints"][0] for name, summary in summaries.items()}
        self.violation = {name: entry["violation"] / budget.CLIENTS for name, entry in self.constraint.items()}
        self.rounds = {name: summary["rounds"] for name, summary in summaries.items()}

    def exponent(self, name):
        return self.constraint[name]["violation_exponent"]

    def exponent_text(self, name):
        value = self.exponent(name)
        return "no exponent" if value is None else f"exponent {value:.2f}"

    def group(self, prefix):
        """Regrets and violations of the repetitions whose names begin so."""
        names = [name for name in self.regret if name.startswith(prefix + "-")]
        return [self.regret[name] for name in names], [self.violation[name] for name in names]

    def write(self, path):
        experiment.write_csv(path, ["run", "rounds", "regret", "violation", "violation_exponent", "dual"], (
            [name, self.rounds[name], self.regret[name], self.violation[name], self.exponent(name),
             self.constraint[name]["dual_final"]["mean"]] for name in self.regret))


def near(value, expected):
    return value is not None and abs(value - expected) <= 0.1


def judge_numbers(claims, figures):
    """The project's own figures (docs/methods/constraints.md)."""
    for gamma, (violation, exponent) in EXPECTED.items():
        name = f"none-{gamma}"
        claims.add(3, f"(this project) gamma = {gamma}, no noise: regret <= 0, violation {violation}, exponent {exponent}",
                   f"regret {figures.regret[name]:.0f}, violation {figures.violation[name]:.0f}, "
                   + figures.exponent_text(name),
                   figures.regret[name] <= 0 and near(figures.exponent(name), exponent),
                   "the sum of the constraint is what the multiplier loses to its decay, gamma eta_t lambda summed up or "
                   "gamma lambda sqrt(T), and what it takes to raise it: some of both is gained in loss.")
    for epsilon, reason in NOISES.items():
        for gamma, signs in SIGNS.items():
            regrets, violations = figures.group(f"noise-{epsilon}-{gamma}")
            verdict = judge_signs((regrets, violations), signs)
            claims.add(3, f"(this project) gamma = {gamma}, separate releases, n epsilon = {epsilon}: signs of (regret, violation) "
                       + "({}, {})".format(*("+" if sign > 0 else "-" for sign in signs)),
                       f"({with_error(regrets, '.0f')}, {with_error(violations, '.0f')}) over {len(regrets)} seeds",
                       verdict, reason + ("" if verdict != OPEN else " (One mean is within two standard errors of 0.)"))


def judge_signs(samples, signs):
    """Whether the means have these signs; open where none has another but one is within two standard errors of 0."""
    off = [sign * mean(values) / max(experiment.error_of_mean(values), 1e-12) for values, sign in zip(samples, signs)]
    return FAILS if min(off) < -2 else OPEN if min(off) < 2 else HOLDS


def judge_claims(claims, figures, rounds):
    levels = {epsilon: [value / rounds for value in figures.group(f"epsilon-{epsilon}")[0]] for epsilon in WEAK}
    levels[10] = [value / rounds for value in figures.group("noise-10-2")[0]]
    claims.add(3, "Theorem 1: regret O(V T / (epsilon max W_uu))",
               "regret per client-round " + "; ".join(f"{with_error(values, '.4f')} at epsilon {epsilon:g}"
                                                      for epsilon, values in levels.items()), HOLDS,
               "it holds of every algorithm, since losses are bounded: a bound that is linear in T promises nothing, and "
               "ours stays within it whether or not anything is learned.")
    for name, title in (("none-2", "Euclidean, (3.3)"), ("entropic", "entropic, (3.4)")):
        value = figures.exponent(name)
        claims.add(3, f"Theorem 1: constraint violation O(T^-1/4), gamma = 2, {title}",
                   f"violation {figures.violation[name]:.0f} per client after {rounds} rounds, {figures.exponent_text(name)}",
                   value is not None and value <= -0.25 + 0.1,
                   "the sum over rounds, which (3.1) bounds, grows" +
                   (f" as T^{value:.2f}; only its average per round shrinks, as T^{value - 1:.2f}." if value is not None
                    else " with gaps below zero, so that no exponent can be fitted."))


def judge(claims, setting):
    rounds = 2_000 if setting.quick else 100_000
    stream = budget.Stream(setting.runs.scratch / "budget.csv", [rounds])
    seeds = range(1, 2 if setting.quick else 9)
    summaries = setting.all(cases(stream, rounds, seeds))
    figures = Figures(stream, summaries)
    judge_claims(claims, figures, rounds)
    judge_numbers(claims, figures)
    figures.write(setting.folder / "runs.csv")
    pictures(setting, stream, {"gamma 2": "none-2", "gamma 0.1": "none-0.1", "gamma 2, entropic": "entropic",
                               "gamma 2, epsilon 35": "noise-35-2-1", "gamma 0.1, epsilon 35": "noise-35-0.1-1"}, rounds,
             {name: f" ({figures.exponent_text(name)})" for name in summaries})


if __name__ == "__main__":
    experiment.judge_chapter(__doc__, "results-dissertation-ch3", judge)
