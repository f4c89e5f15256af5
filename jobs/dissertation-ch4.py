#!/usr/bin/env python3
"""Judges what the dissertation's chapter 4 claims of virtual queues, on the stream of budget.py
(jobs/dissertation-ch4.ini), where the constraint binds: how regret and violation grow with the horizon T under the
cautiousness V' = 1 of its simulation, V' = sqrt(T) and V' = T^0.75, with alpha = T, and with theorem 1's alpha =
max{T, V' sqrt(T)}, which is another one for V' = T^0.75 alone. V' = 1 runs with the chapter's Laplace noise, too (epsilon = 0.5
for a record, gradients clipped to 1).

Beside them run what the figure compares with: its text names two algorithms by their regret bounds alone, O(sqrt(T)/eps + T/(eps V')) and
O(T/eps). Stand-ins under the same noise are the literature's other two methods for long-term constraints that the program has: the
queue at V' = sqrt(T), and the saddle point of chapter 3 (jobs/dissertation-ch3.ini).

V' and alpha depend on T, so that an exponent is one over runs with horizons of their own. Regret is against the best model
that keeps the constraint over the whole run, per client. Equal arguments give equal figures.

The K-benchmark's regrets are those that the program finds itself (--benchmark-window).

Writes figures.csv, runs.csv, and the pictures bounds (the dissertation's Fig. 4.1: three bounds per round, without
constants), sublinearity (measured), regret and violation.
"""

import importlib

import budget
import experiment

saddle = importlib.import_module("dissertation-ch3")

POWERS = {"1": 0, "sqrt(T)": 0.5, "T^0.75": 0.75, "T^0.75, theorem 1's alpha": 0.75, "1, with noise": 0, "sqrt(T), with noise": 0.5}
SADDLE = "saddle point, with noise"
BOUNDS = {  # of the regret, at K = 1 and caution V; eps = 0.5
    "proposed: K T / (V' eps) + sqrt(T)": lambda T: T / 0.5 + T ** 0.5,
    "[91]: sqrt(T) / eps + T / (eps V')": lambda T: T ** 0.5 / 0.5 + T / 0.5,
    "[76]: T / eps": lambda T: T / 0.5,
}
NOISE = ["--mechanism", "laplace", "--epsilon", 0.5, "--clip", 1]
# Exponent of the violation as docs/methods/constraints.md has it.
EXPECTED = {"sqrt(T)": 0.43, "T^0.75": 0.71}
EXPECTED_REGRET = 1.08
WINDOWS = (1, 100)  # rounds in every one of which the K-benchmark's comparator keeps the constraint


def cases(stream, horizons):
    queues = {f"{title}, T = {T}": ["--config", "jobs/dissertation-ch4.ini", "--source", stream.path, "--rounds", T,
                                    "--caution", T ** power,
                                    *(["--queue-smoothing", max(T, T ** (power + 0.5))] if "alpha" in title else []),
                                    *(NOISE if "noise" in title else [])]
              for title, power in POWERS.items() for T in horizons}
    return queues | {f"{SADDLE}, T = {T}": saddle.preset(stream, "--rounds", T, *NOISE) for T in horizons}


def window_cases(stream, rounds):
    """Runs of the figure's V' = 1 whose regret the program finds itself, against the K-benchmarks of windows K."""
    return {f"K = {K}": ["--config", "jobs/dissertation-ch4.ini", "--source", stream.path, "--rounds", rounds, "--regret",
                         "static", "--benchmark-window", K] for K in WINDOWS}


class Growth:
    """Of one V': regret and violation over the horizons, with exponents where all of the values are above zero."""

    def __init__(self, figures, title, horizons):
        names = [f"{title}, T = {T}" for T in horizons]
        self.regret = [figures.regret[name] for name in names]
        self.violation = [figures.violation[name] for name in names]
        self.regret_exponent = self.exponent(horizons, self.regret)
        self.violation_exponent = self.exponent(horizons, self.violation)

    @staticmethod
    def exponent(horizons, values):
        return experiment.fitted_exponent(horizons, values) if min(values) > 0 else None

    @staticmethod
    def text(values, exponent):
        shown = ", ".join(f"{value:.0f}" for value in values)
        return f"{shown} (exponent {exponent[0]:.2f} +- {exponent[1]:.1g})" if exponent else f"{shown} (no exponent)"


def judge_baselines(claims, found, horizons):
    """The figure's comparison, by runs under the same noise."""
    last = {title: growth.regret[-1] / horizons[-1] for title, growth in found.items() if title.endswith("with noise")}
    proposed = last["1, with noise"]
    claims.add(4, "Fig. 4.1: faster than two other algorithms, by their bounds O(sqrt(T)/eps + T/(eps V')), O(T/eps)",
               f"regret / T at T = {horizons[-1]}, epsilon = 0.5: " + ", ".join(f"{value:.4f} ({title})" for title, value in last.items()),
               all(proposed < value for title, value in last.items() if title != "1, with noise"),
               "at V' = 1 all three bounds are linear in T, and bounds without constants order no algorithms. The saddle point and "
               "V' = sqrt(T) stand in for the two, whose text gives no more than their bounds.")


def judge_bounds(claims, found, horizons):
    one, root = found["1"], found["sqrt(T)"]
    vanishing = one.regret[-1] / horizons[-1] < 0.5 * max(one.regret[0], 0) / horizons[0]
    claims.add(4, "Fig. 4.1: with K = 1 and V' = 1 regret / t decays to zero, faster than the other algorithms",
               "against the long-term comparator regret / T is " + ", ".join(f"{value / T:.4f}" for value, T in zip(one.regret, horizons)) + " at T = "
               + ", ".join(map(str, horizons)), one.regret[-1] <= 0 or vanishing,
               "with V' = 1 and alpha = T the gradients move a model by no more than 1/2 in all, and the bound that the "
               "figure plots, K T / (V' epsilon) + sqrt(T), is linear in T itself.")
    noisy = found["1, with noise"]
    claims.add(4, "Fig. 4.1 is of the private algorithm: the same under its Laplace noise (epsilon = 0.5)",
               "regret / T is " + ", ".join(f"{value / T:.4f}" for value, T in zip(noisy.regret, horizons)),
               noisy.regret[-1] <= 0 or noisy.regret[-1] / horizons[-1] < 0.5 * max(noisy.regret[0], 0) / horizons[0],
               "noise on the constraint lifts the queue, which never falls below 0: the constraint is kept by far more than it asks "
               "for, at the cost of the loss.")
    claims.add(4, "(4.17): regret O(K T / (V' epsilon) + sqrt(T)), V' = sqrt(T), no noise",
               "regret " + Growth.text(root.regret, root.regret_exponent),
               max(root.regret) <= 0 or bool(root.regret_exponent and root.regret_exponent[0] <= 0.6),
               "even against the long-term comparator, K = T, regret stays below zero: the queue is slow to rise, and what "
               "is gained until then outweighs all that follows.")
    for title, power in POWERS.items():
        growth, bound = found[title], (power + 1) / 2
        claims.add(4, f"(4.17): violation O(sqrt(V' T)), V' = {title}: exponent at most {bound:g}",
                   "violation " + Growth.text(growth.violation, growth.violation_exponent),
                   growth.violation_exponent is None or growth.violation_exponent[0] <= bound + 0.1,
                   "the bound is derived without noise, which here comes with every value of the constraint." if "noise" in title and power else
                   "the sum of the constraint is about the queue's height, which settles at V' times the multiplier."
                   if power else
                   "the constraint is kept, since the gradients of the loss weigh next to nothing against the queue.")


def judge_windows(claims, summaries):
    values = {}
    for summary in summaries.values():
        for entry in summary["regret"]["constrained"]:
            values[entry["window"]] = entry["static_per_client_round"]
    whole = values.pop(None)
    claims.add(4, "Fig. 4.1, section 4.2: with K = 1 the regret bound is good; V' = 1", "regret per client-round "
               + ", ".join(f"{value:.4f} for K = {K}" for K, value in values.items()) + f", {whole:.4f} for K = T",
               values[1] < whole and values[1] <= 0,
               "a comparator that keeps the constraint in every single round must do so for the worst record, and loses to "
               "a model that hardly moves: the bound holds with K = 1 because it asks for next to nothing.")


def judge_numbers(claims, found):
    one = found["1"]
    claims.add(4, f"(this project) V' = 1: regret exponent {EXPECTED_REGRET}", "regret "
               + Growth.text(one.regret, one.regret_exponent),
               one.regret_exponent is not None and abs(one.regret_exponent[0] - EXPECTED_REGRET) <= 0.1,
               "regret that grows at least as T is no learning.")
    for title, exponent in EXPECTED.items():
        growth = found[title]
        claims.add(4, f"(this project) V' = {title}, alpha = T: regret <= 0, exponent of the violation {exponent}",
                   f"regret {Growth.text(growth.regret, None).split(' (')[0]}; violation "
                   + Growth.text(growth.violation, growth.violation_exponent),
                   max(growth.regret) <= 0 and growth.violation_exponent is not None
                   and abs(growth.violation_exponent[0] - exponent) <= 0.1,
                   "the queue settles at V' times the multiplier, hence an exponent near that of V' itself.")


def judge(claims, setting):
    horizons = (500, 2_000) if setting.quick else (10_000, 31_623, 100_000)
    stream = budget.Stream(setting.runs.scratch / "budget.csv", horizons)
    summaries = setting.all(cases(stream, horizons) | window_cases(stream, horizons[0]))
    figures = saddle.Figures(stream, summaries)
    found = {title: Growth(figures, title, horizons) for title in (*POWERS, SADDLE)}
    judge_bounds(claims, found, horizons)
    judge_baselines(claims, found, horizons)
    judge_windows(claims, {name: summaries[name] for name in window_cases(stream, horizons[0])})
    judge_numbers(claims, found)
    figures.write(setting.folder / "runs.csv")
    experiment.draw_curves(setting.folder, "sublinearity", ("Regret per round of runs of T rounds", "T",
                                                            "regret per client and round"),
                           {title if title == SADDLE else f"V' = {title}": (horizons, [value / T for value, T in zip(growth.regret, horizons)])
                            for title, growth in found.items()}, ["set logscale x", "set xzeroaxis"])
    times = range(1, 101)
    experiment.draw_curves(setting.folder, "bounds", ("Fig. 4.1: bounds on the regret per round, K = 1, V' = 1, without constants", "iteration",
                                                      "bound / t"), {title: (times, [bound(t) / t for t in times]) for title, bound in BOUNDS.items()})
    saddle.pictures(setting, stream, {f"V' = {title}": f"{title}, T = {horizons[-1]}" for title in POWERS}, horizons[-1],
                    {})


if __name__ == "__main__":
    experiment.judge_chapter(__doc__, "results-dissertation-ch4", judge)
