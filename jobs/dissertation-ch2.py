#!/usr/bin/env python3
"""Re-runs the simulation of the dissertation's section 2.4 (jobs/dissertation-ch2.ini): three clients, its weights, both
of its starts, 50 repetitions; and sets what comes out beside what is printed there, with a verdict and a reason. The
same on the informative stream, whose labels can be learned, stands beside it.

The data are synthetic and public, and the noise comes from the seed: equal arguments give equal figures.

Writes figures.csv, components.csv, regret.csv, and for both streams fig-2.1 and fig-2.2: the components of all clients
over the rounds of the first repetition, with x* dashed (.csv; .svg if gnuplot is installed).
"""

import math
import shutil
import sys
import tempfile

import experiment
from experiment import error_of_mean, mean

ROUNDS, DIMENSION, EPSILON = 50, 5, 0.1
W = [[0.2, 0.2, 0.8], [0.5, 0.4, 0.1], [0.3, 0.4, 0.1]]
STREAMS = {"as printed": "synthetic:drift", "informative": "synthetic:drift:informative=1"}
STARTS = {
    1: [[0.2] * 5, [0.2] * 5, [0.2, 0.2, 0.2, 0.2, 0.4]],
    2: [[0.5, 0, 0, 0.25, 0.25], [0.25, 0.125, 0.125, 0.25, 0.25], [0.2, 0.1, 0.4, 0.2, 0.1]],
}
# x* as printed, of the first repetition and averaged over 50.
PRINTED = {
    1: ([0.1657, 0.1429, 0.1605, 0.2360, 0.2949], [0.2352, 0.1994, 0.2079, 0.1703, 0.1871]),
    2: ([0.3945, 0.0894, 0.1124, 0.1532, 0.2505], [0.2339, 0.0678, 0.1618, 0.25, 0.2864]),
}
PRINTED_REPETITIONS = 50
NEVER = "1e-300"  # a step so short that no model moves: exp(-1e-300 g) is 1
DEVIATIONS = 3  # within which a printed figure counts as one that ours could have been


def vector(values):
    return "(" + ", ".join(f"{value:.4f}" for value in values) + ")"


def distance(x, y):
    return math.dist(x, y)


def mixed(start):
    """Where mixing alone takes the starts, once they have been brought to the simplex."""
    models = [[value / sum(row) for value in row] for row in start]
    for _ in range(1000):
        models = [[sum(W[v][u] * models[v][i] for v in range(3)) for i in range(DIMENSION)] for u in range(3)]
    return models[0]


def counts():
    """How many times each client counts in the limit of mixing; 1 would be fair."""
    unit = [[float(u == v) for v in range(3)] for u in range(3)]
    for _ in range(1000):
        unit = [[sum(W[v][u] * unit[v][i] for v in range(3)) for i in range(3)] for u in range(3)]
    return [3 * share for share in unit[0]]


def shrinkage():
    """What Algorithm 3 leaves of a gradient: E[g^] is about 1/sqrt(d) + c (g - mean(g)); returns c."""
    b = math.log(ROUNDS) ** 2 / EPSILON
    return 2 / ((2 * b + 1) * math.sqrt(DIMENSION))


class Experiment:
    def __init__(self, runs, repetitions, workers):
        self.runs, self.repetitions, self.workers = runs, repetitions, workers

    def repeat(self, name, words):
        """Summaries of all repetitions; the first one's folder, named `name`, stays."""

        def job(seed):
            folder = name if seed == 1 else f"{name}-{seed}"
            summary = self.runs.run(folder, ["--config", "jobs/dissertation-ch2.ini", "--seed", seed, *words])
            if seed > 1:
                shutil.rmtree(self.runs.scratch / folder)
            return summary

        return experiment.in_parallel(
            self.workers, [lambda seed=seed: job(seed) for seed in range(1, self.repetitions + 1)])

    def all(self):
        """Summaries by (stream, start), and by (stream, "uniform") and (stream, "never")."""
        results = {}
        for stream, source in STREAMS.items():
            for start in STARTS:
                results[stream, start] = self.repeat(
                    run_name(stream, start),
                    ["--source", source, "--start", f"jobs/dissertation-ch2-start-{start}.csv"])
            results[stream, "uniform"] = self.repeat(
                run_name(stream, "uniform"), ["--source", source, "--start", "uniform"])
            results[stream, "never"] = self.repeat(
                run_name(stream, "never"), ["--source", source, "--start", "uniform", "--step", NEVER])
        return results


def run_name(stream, start):
    return f"{stream.replace(' ', '-')}-{start}"


def comparators(summaries):
    return [summary["regret"]["comparator"] for summary in summaries]


def by_component(vectors):
    return list(zip(*vectors))


class Report:
    """Lines of figure, printed value, ours, verdict and reason."""

    def __init__(self):
        self.rows = []

    def add(self, stream, start, figure, printed, ours, verdict, reason):
        self.rows.append([stream, start, figure, printed, ours, verdict, reason])

    def show(self):
        place = None
        for stream, start, figure, printed, ours, verdict, reason in self.rows:
            if (stream, start) != place:
                place = (stream, start)
                print(f"\n== stream {stream}" + (f", start {start}" if start else ""))
            print(f"\n{figure}\n  printed  {printed}\n  ours     {ours}\n  verdict  {verdict}: {reason}")

    def write(self, path):
        experiment.write_csv(path, ["stream", "start", "figure", "printed", "ours", "verdict", "reason"], self.rows)


def judge_weights(report):
    sent = [sum(W[u]) for u in range(3)]
    received = [sum(W[v][u] for v in range(3)) for u in range(3)]
    fits = all(abs(total - 1) < 1e-9 for total in received)
    report.add(
        "as printed", "", "W: what each client receives by x_u = sum_v W_vu z_v", "1, 1, 1",
        ", ".join(f"{total:g}" for total in received) + "; its rows sum to " + ", ".join(f"{total:g}" for total in sent),
        "agrees" if fits else "differs",
        "the columns of W sum to one, so models stay on the simplex, but its rows do not: W is not doubly stochastic, and "
        "in the limit the clients count " + ", ".join(f"{share:.2f}" for share in counts()) + " times instead of once each.")


def judge_start(report, start):
    sums = [sum(row) for row in STARTS[start]]
    fits = all(abs(total - 1) < 1e-9 for total in sums)
    reason = ("every start lies on the simplex; the zeros of client 1 last until mixing feeds them, in round 1." if fits
              else "the third client starts off the simplex; it is run as printed: the program notes it, the first "
                   "round's loss is incurred there, and the first step, which normalises, makes it "
                   + vector([value / sums[2] for value in STARTS[start][2]]) + ".")
    report.add("as printed", start, "sums of the clients' starts", "1, 1, 1", ", ".join(f"{total:g}" for total in sums),
               "agrees" if fits else "differs", reason)


def judge_first(report, start, stars):
    printed, columns = PRINTED[start][0], by_component(stars)
    off = [abs(value - mean(column)) / max(experiment.deviation(column), 1e-12)
           for value, column in zip(printed, columns)]
    agrees = max(off) <= DEVIATIONS
    reason = (f"the random numbers are others, so the spread of ours decides: the printed x* is {max(off):.1f} standard "
              "deviations from our mean in its worst component" +
              (", so it may be one." if agrees else "; x* stays near uniform since every record tends to 1/sqrt(d)."))
    report.add("as printed", start, "x* of the first repetition", vector(printed), vector(stars[0]),
               f"agrees within {DEVIATIONS} standard deviations" if agrees else "differs", reason)


def judge_average(report, start, stars):
    printed, columns = PRINTED[start][1], by_component(stars)
    ours = [mean(column) for column in columns]
    share = math.sqrt(1 / len(stars) + 1 / PRINTED_REPETITIONS)
    off = [abs(value - centre) / max(share * experiment.deviation(column), 1e-12)
           for value, centre, column in zip(printed, ours, columns)]
    agrees = max(off) <= DEVIATIONS
    limit = mixed(STARTS[start])
    reason = (f"the worst component is {max(off):.1f} standard errors away; the coordinates of the stream are alike, so "
              f"that a mean x* has to come near uniform, from which the printed one is {distance(printed, [0.2] * 5):.3f} "
              f"away, ours {distance(ours, [0.2] * 5):.3f} (and from where mixing alone takes this start, "
              f"{distance(printed, limit):.3f} and {distance(ours, limit):.3f}).")
    report.add("as printed", start, f"x* averaged over repetitions (ours: {len(stars)})", vector(printed),
               vector(ours), f"agrees within {DEVIATIONS} standard errors" if agrees else "differs", reason)


def judge_dependence(report, results):
    same = all(comparators(results[stream, 1]) == comparators(results[stream, 2]) for stream in STREAMS)
    gap = max(abs(a - b) for a, b in zip(PRINTED[1][1], PRINTED[2][1]))
    report.add("as printed", "", "x* under start 1 against x* under start 2", f"averages up to {gap:.4f} apart",
               "the same numbers in every repetition" if same else "not the same numbers",
               "differs" if same else "agrees",
               "the best model in hindsight is a matter of the records alone, on which no start has any influence: what "
               "is printed cannot be it.")


def judge_convergence(report, stream, start, summaries):
    ends = [summary["models"] for summary in summaries]
    stars = comparators(summaries)
    apart = mean([max(distance(x, y) for x in models for y in models) for models in ends])
    away = mean([max(distance(x, star) for x in models) for models, star in zip(ends, stars)])
    moved = mean([max(distance(x, mixed(STARTS[start])) for x in models) for models in ends])
    converge = away < 0.02
    printed = "converge to x*" if stream == "as printed" else "(no such stream)"
    ours = f"{apart:.5f} from each other, {away:.4f} from x*, {moved:.4f} from where mixing alone ends (means)"
    reason = (f"Algorithm 3 leaves {shrinkage():.4f} of a gradient's differences, a step of eta/{1 / shrinkage():.0f}: the "
              "clients agree with each other and stay where mixing takes their starts, but for noise and the penalty"
              + (" (added after the noise here, since it depends on no record)." if stream == "as printed"
                 else ", also where there is something to learn."))
    verdict = "no printed figure" if stream != "as printed" else "agrees within 0.02" if converge else "differs"
    report.add(stream, start, "where the clients end", printed, ours, verdict, reason)


def judge_regret(report, stream, results):
    def total(start):
        values = [summary["regret"]["static"] for summary in results[stream, start]]
        return mean(values), error_of_mean(values)

    def both(start):
        return "{:.4f} +- {:.4f}".format(*total(start))

    moving, still = total("uniform")[0], total("never")[0]
    per_round = results[stream, "never"][0]["regret"]["client_rounds"]
    gain = [a["regret"]["static"] - b["regret"]["static"]
            for a, b in zip(results[stream, "uniform"], results[stream, "never"])]
    ours = (f"{both('uniform')} for the algorithm, {both('never')} for never moving from uniform (sums over {per_round} "
            f"client-rounds; the difference is {mean(gain):+.4f} +- {error_of_mean(gain):.4f}); from start 1 {both(1)}, "
            f"from start 2 {both(2)}")
    if stream == "as printed":
        verdict = "differs" if moving >= still else "agrees"
        reason = ("the algorithm does no better than never moving; never moving regrets this little because the stream "
                  "degenerates (the means drift away by t/2, and every normalised record tends to the same vector), and "
                  "the best model is hardly better than uniform.")
        printed = "a sublinear bound and clients that converge to x*; no figure"
    else:
        verdict, printed = "no printed figure", "(no such stream)"
        reason = ("here x* is far better than uniform, and so nearly all of the regret of never moving is there to be "
                  f"saved; the algorithm saves {100 * (1 - moving / still):.2f} % of it.")
    report.add(stream, "", "static regret against x*", printed, ours, verdict, reason)


def component_rows(results):
    rows = []
    for stream in STREAMS:
        for start in STARTS:
            summaries = results[stream, start]
            stars = comparators(summaries)
            who = [(f"client {u + 1}", [summary["models"][u] for summary in summaries]) for u in range(3)]
            for name, vectors in [*who, ("x*", stars)]:
                for i, column in enumerate(by_component(vectors)):
                    rows.append([stream, start, name, i + 1, column[0], mean(column), experiment.deviation(column)])
            for name, values in zip(("x* printed", "x* printed average"), PRINTED[start]):
                if stream == "as printed":
                    rows += [[stream, start, name, i + 1, "" if "average" in name else value,
                              value if "average" in name else "", ""] for i, value in enumerate(values)]
    return rows


def show_components(rows):
    """A table per stream and start: components in columns, first repetition and mean."""
    for stream in STREAMS:
        for start in STARTS:
            print(f"\n== stream {stream}, start {start}: components at the end (first repetition | mean)")
            mine = [row for row in rows if row[0] == stream and row[1] == start]
            for name in dict.fromkeys(row[2] for row in mine):
                def cells(column):
                    return "  ".join(f"{row[column]:.4f}" if row[column] != "" else "   -  "
                                     for row in mine if row[2] == name)
                print(f"  {name:<19}{cells(4)}  |  {cells(5)}")


def picture_script(name, title, star):
    """One panel per component: three clients, x* dashed."""
    lines = ["set terminal svg size 1000,560 dynamic background '#ffffff'", f"set output '{name}.svg'",
             "set datafile separator ','", f"set multiplot layout 2,3 title '{title}'", "set xlabel 'round'",
             "set yrange [0:*]", "unset key"]
    for i in range(DIMENSION):
        curves = [f"'{name}.csv' skip 1 using 1:{2 + DIMENSION * u + i} with lines lw 1.5 title 'client {u + 1}'"
                  for u in range(3)]
        curves.append(f"{star[i]:.17g} with lines dt 2 lc 'black' title 'x*'")
        lines += [f"set title 'component {i + 1}'", "plot " + ", \\\n     ".join(curves)]
    keys = [f"NaN with lines lw 1.5 title 'client {u + 1}'" for u in range(3)]
    lines += ["unset title; unset border; unset tics; unset xlabel; set key center; set yrange [0:1]",
              "plot " + ", ".join([*keys, "NaN with lines dt 2 lc 'black' title 'x*'"]), "unset multiplot"]
    return "\n".join(lines) + "\n"


def pictures(runs, results, folder):
    for stream in STREAMS:
        for start in STARTS:
            recorded = runs.models(run_name(stream, start))
            if recorded is None:
                experiment.say("no pictures: the recorded models cannot be read (neither h5py nor h5dump is installed)")
                return
            name = f"fig-2.{start}" + ("" if stream == "as printed" else "-informative")
            header = ["round"] + [f"client{u + 1}_{i + 1}" for u in range(3) for i in range(DIMENSION)]
            experiment.write_csv(folder / f"{name}.csv", header, (
                [t, *(value for model in models for value in model)] for t, models in zip(*recorded)))
            experiment.draw(folder, name, picture_script(
                name, f"Start {start}, stream {stream}: components of the clients, first repetition",
                comparators(results[stream, start])[0]))


def judge_all(results):
    report = Report()
    judge_weights(report)
    judge_dependence(report, results)
    judge_regret(report, "as printed", results)
    for start in STARTS:
        stars = comparators(results["as printed", start])
        judge_start(report, start)
        judge_first(report, start, stars)
        judge_average(report, start, stars)
        judge_convergence(report, "as printed", start, results["as printed", start])
    judge_regret(report, "informative", results)
    for start in STARTS:
        judge_convergence(report, "informative", start, results["informative", start])
    return report


def repeat_and_judge(runs, folder, repetitions, workers):
    """Runs all repetitions, writes tables and pictures into the folder; returns the report and the rows of components."""
    results = Experiment(runs, repetitions, workers).all()
    pictures(runs, results, folder)
    report = judge_all(results)
    rows = component_rows(results)
    report.write(folder / "figures.csv")
    experiment.write_csv(folder / "components.csv",
                         ["stream", "start", "who", "component", "first_repetition", "mean", "deviation"], rows)
    experiment.write_csv(folder / "regret.csv", ["stream", "start", "seed", "static_regret", "certificate"], (
        [stream, start, seed, summary["regret"]["static"], summary["regret"]["certificate"]["value"]]
        for (stream, start), summaries in results.items() for seed, summary in enumerate(summaries, 1)))
    return report, rows


def judge(claims, setting):
    """The same as claims beside those of the other chapters (dissertation.py)."""
    verdicts = {"agrees": experiment.HOLDS, "differs": experiment.FAILS, "no printed figure": experiment.OPEN}
    report, _ = repeat_and_judge(setting.runs, setting.folder, 1 if setting.quick else PRINTED_REPETITIONS, setting.workers)
    for stream, start, figure, printed, ours, verdict, reason in report.rows:
        where = f"{figure}, {stream} stream" + (f", start {start}" if start else "")
        claims.add(2, f"{where}: {printed}", ours, verdicts[verdict.split(" within")[0]], reason)


def main():
    parser = experiment.arguments(__doc__, "results-dissertation-ch2")
    parser.add_argument("--repetitions", metavar="N", type=experiment.positive, default=PRINTED_REPETITIONS,
                        help="seeds 1 to N (50)")
    options = parser.parse_args()
    starling = experiment.find_starling(options.starling)
    folder = experiment.output_folder(options.output)
    with tempfile.TemporaryDirectory(prefix="dissertation-ch2-") as scratch:
        report, rows = repeat_and_judge(experiment.Runs(starling, scratch), folder, options.repetitions, options.workers)
    show_components(rows)
    report.show()
    print(f"\nTables and pictures: {folder}")


if __name__ == "__main__":
    main()
