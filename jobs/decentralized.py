#!/usr/bin/env python3
"""Who sends to whom in the rounds of a run, as the MPI library itself counts it.

  jobs/decentralized.py --ranks 6 -- omd --topology my.topo --source synthetic:drift --mechanism laplace --epsilon 1

It plays the run twice under Open MPI's monitoring, for 870 and for 990 rounds, with --exchange messages: MPI does not see
what a rank reads in the memory of a neighbour on its host, which is the same vectors. All that ranks do together before the
first round and after the last (options, digests, results) is the same in both and cancels in the difference; what is
left are 120 rounds, with every message in them: point to point or within a collective, of the method or of anything else.
Then it looks whether

  - no collective took place in these rounds, and nothing was set up (both runs have as many; what ranks tell each other
    of privacy at the end may be worded longer after more rounds, and does not count),
  - ranks that share no edge of the graph sent each other nothing at all,
  - ranks that share one sent what summary.json says, message for message and byte for byte,

and prints the matrix of messages and yes or no. Exit codes: 0 yes, 1 no, 2 it could not be found out.

Some rounds are reported: after the rounds 0 to 10, then each at least 15 % after the one before, and after every power
of two, each rank tells rank 0 the sum of its clients' models and a few figures, of which history.csv is made. There is
no such round between 863 and 991; --rounds takes others, and the answer is then no if they are reported ones and some
rank shares no edge with rank 0."""

import argparse
import collections
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import experiment

ROUNDS = (870, 990)
RUNS = ("less", "more")  # as long as each other: so are the texts that ranks agree on
KINDS = {"E": "messages", "I": "messages within collectives", "C": "parts in collectives", "S": "one-sided writes",
         "R": "one-sided reads"}
LINE = re.compile(r"([EICSR])\t(\d+)\t(\d+)\t(\d+) bytes\t(\d+) msgs sent")


def give_up(text):
    experiment.say(f"decentralized.py: {text}")
    sys.exit(2)


# ---- what MPI has counted, and what the run says ---------------------------------------------------------------------


def read_counts(folder, name, ranks):
    """{kind: {(from, to): (messages, bytes)}} of one run, from what each rank's monitor has left."""
    counts = {kind: collections.Counter() for kind in KINDS}
    sizes = {kind: collections.Counter() for kind in KINDS}
    for rank in range(ranks):
        path = folder / f"{name}.{rank}.prof"
        if not path.exists():
            give_up(f"{path} is missing (Open MPI has not monitored the run) see whether `ompi_info | grep monitoring` "
                    "finds its component, and leave the parameter pml alone")
        for kind, sender, receiver, size, messages in LINE.findall(path.read_text()):
            pair = int(sender), int(receiver)
            if pair[0] != rank:
                give_up(f"{path} speaks of rank {sender} (it is to be that of rank {rank})")
            counts[kind][pair] += int(messages)
            sizes[kind][pair] += int(size)
    return {kind: {pair: (counts[kind][pair], sizes[kind][pair]) for pair in counts[kind]} for kind in KINDS}


def less(long, short):
    """Differences of (messages, bytes) that are not nothing."""
    result = {}
    for pair in sorted({*long, *short}):
        difference = tuple(a - b for a, b in zip(long.get(pair, (0, 0)), short.get(pair, (0, 0))))
        if difference != (0, 0):
            result[pair] = difference
    return result


def read_summary(folder, name):
    path = folder / name / "summary.json"
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        give_up(f"{path}: {error}")


def traffic_between(summary, home):
    """{(rank, rank): (messages, bytes)} of the edges between clients on different ranks."""
    total = collections.defaultdict(lambda: (0, 0))
    for sender, receiver, messages, size in summary["traffic"]["edges"]:
        pair = home(sender), home(receiver)
        if pair[0] != pair[1]:
            total[pair] = total[pair][0] + messages, total[pair][1] + size
    return dict(total)


# ---- the graph -------------------------------------------------------------------------------------------------------


def edges_of_graph(program, file):
    """Of all phases; None of a graph that never repeats, of which there are too many."""
    done = subprocess.run([program, "topology", "draw", file], capture_output=True, text=True)
    if done.returncode != 0:
        give_up(done.stderr.strip())
    if re.search(r'label="round \d+"', done.stdout):
        return None
    edges = set()
    for sender, receiver, both in re.findall(r"p\d+_(\d+) -> p\d+_(\d+) \[penwidth=\S+( dir=none)?", done.stdout):
        edges.add((int(sender), int(receiver)))
        if both:  # two opposite edges of one weight are one line
            edges.add((int(receiver), int(sender)))
    return edges


def allowed_pairs(program, graph, summary, long, home):
    """Pairs of ranks that share an edge, and where that is known from."""
    if graph is None:
        clients = summary["clients"]
        edges = {(u, (u + (1 << k)) % clients) for u in range(clients) for k in range((clients - 1).bit_length())}
        source = "an exponential graph"
    else:
        edges, source = edges_of_graph(program, graph), graph
    if edges is None:
        return set(long), f"summary.json ({graph} never repeats)"
    return {(home(u), home(v)) for u, v in edges if home(u) != home(v)}, source


# ---- what comes out --------------------------------------------------------------------------------------------------


def is_reported(done):
    """Whether ranks report to rank 0 after this round: RecordRounds, and NetworkReporter's landmarks."""
    due = 0
    while due < done:
        due += 1 if due < 10 else (3 * due + 19) // 20
    return due == done or done & (done - 1) == 0


def matrix(found, allowed, ranks):
    width = max([len(str(messages)) for messages, _ in found.values()] + [len(str(ranks)), 5]) + 2
    lines = [" " * 6 + "".join(f"{to:>{width}}" for to in range(ranks))]
    for sender in range(ranks):
        cells = []
        for to in range(ranks):
            messages = found.get((sender, to), (0, 0))[0]
            shared = (sender, to) in allowed
            cells.append("-" if sender == to else str(messages) if shared or messages else ".")
            cells[-1] += "" if shared or not messages else "!"
        lines.append(f"{sender:>6}" + "".join(f"{cell:>{width}}" for cell in cells))
    return "\n".join(lines)


def faults(found, expected, allowed, wire, one_each):
    """Sentences saying why not."""
    for kind in "ICSR":
        for (sender, to), (messages, size) in found[kind].items():
            if messages != 0:
                yield f"{messages} {KINDS[kind]} ({size} bytes) from rank {sender} to rank {to}"
    own = found["E"]
    for sender, to in sorted({*own, *expected}):
        messages, size = own.get((sender, to), (0, 0))
        said = expected.get((sender, to), (0, 0))
        if (sender, to) not in allowed:
            if (messages, size) != (0, 0):
                yield f"{messages} messages ({size} bytes) from rank {sender} to rank {to}, which share no edge"
            if said != (0, 0):
                yield f"summary.json has {said[0]} messages from rank {sender} to rank {to}, which share no edge"
        elif one_each and (messages, size) != said:
            yield (f"{messages} messages ({size} bytes) from rank {sender} to rank {to}, where summary.json says "
                   f"{said[0]} ({said[1]} bytes)")
    total = tuple(sum(column) for column in zip(*own.values())) if own else (0, 0)
    if total != wire:
        yield f"{total[0]} messages ({total[1]} bytes) in all, where summary.json says {wire[0]} ({wire[1]} bytes)"


def judge(folder, program, graph):
    """Compares the two runs of a folder, prints what comes out and returns the exit code."""
    short, long = (read_summary(folder, name) for name in RUNS)
    ranks, clients = long["ranks"], long["clients"]
    if (short["ranks"], short["clients"]) != (ranks, clients) or short["rounds"] >= long["rounds"]:
        give_up(f"{folder}: less and more are not two runs that differ in rounds alone")
    for name, summary in zip(RUNS, (short, long)):
        if len(summary["traffic"]["edges"]) != summary["traffic"]["edge_count"]:
            give_up(f"{folder}/{name}: its summary does not list all edges (there are too many)")

    def home(client):
        return client * ranks // clients

    counts = [read_counts(folder, name, ranks) for name in RUNS]
    found = {kind: less(counts[1][kind], counts[0][kind]) for kind in KINDS}
    said = less(traffic_between(long, home), traffic_between(short, home))
    wire = tuple(long["traffic"][key] - short["traffic"][key] for key in ("rank_messages", "rank_bytes"))
    allowed, source = allowed_pairs(program, graph, long, traffic_between(long, home), home)
    problems = list(faults(found, said, allowed, wire, ranks == clients))
    first, last = short["rounds"] + 1, long["rounds"]
    print(f"Messages in rounds {first} to {last}, from rank (row) to rank (column), as MPI counts them;\n"
          f". is nothing, ! is beside the edges, which are those of {source}.\n")
    print(matrix(found["E"], allowed, ranks) + "\n")
    for problem in problems:
        print(problem)
    other_texts = max([abs(size) for messages, size in found["C"].values() if messages == 0], default=0)
    if other_texts:
        print(f"(as many collectives in both runs; texts that ranks join in them differ in length by {other_texts} bytes)")
    silent = ranks * (ranks - 1) - len(allowed)
    reported = sum(is_reported(done) for done in range(first, last + 1))
    if reported:
        print(f"{reported} of these rounds are reported to rank 0 for history.csv (see --help)")
    if problems:
        print("no: not all that passes goes over edges, or not as counted")
        return 1
    print(f"yes: {wire[0]} messages of {wire[1]} bytes in all, as in summary.json; 0 bytes between the {silent} pairs "
          "of ranks without an edge; no collective")
    return 0


# ---- the two runs ----------------------------------------------------------------------------------------------------


def play(options, folder, program, words):
    """Both runs, into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    exchange = ["--exchange", "messages"] if words[0] in ("omd", "infer") else []  # others have messages alone
    for name, rounds in zip(RUNS, options.rounds):
        monitored = ["--mca", "pml_monitoring_enable", "2", "--mca", "pml_monitoring_enable_output", "3", "--mca",
                     "pml_monitoring_filename", str(folder / name)]
        command = [*shlex.split(options.mpirun), "-n", str(options.ranks), *monitored, program, *words, *exchange,
                   "--rounds", str(rounds), "--output", str(folder / name), "--progress", "off"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            give_up(f"{shlex.join(command)} ended with exit code {done.returncode}\n{done.stdout}{done.stderr}")


def option_of(words, name):
    """The value of an option among the words of a command; None if it is not there."""
    for word, after in zip(words, [*words[1:], None]):
        if word == name:
            return after
        if word.startswith(name + "="):
            return word[len(name) + 1:]
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=experiment.positive, default=4, help="ranks to start (4)")
    parser.add_argument("--rounds", type=experiment.positive, nargs=2, default=ROUNDS, metavar=("A", "B"),
                        help="rounds of the two runs (870 990); with as many digits as each other")
    parser.add_argument("--graph", metavar="FILE", help="topology file that the edges are taken from; default: that of "
                        "the command's --topology, or an exponential graph of its clients")
    parser.add_argument("--starling", metavar="PATH", help="the program; default: this project's build, else the path")
    parser.add_argument("--mpirun", default=os.environ.get("STARLING_MPIRUN", "mpirun") + " --oversubscribe",
                        help="the launcher, with options (mpirun --oversubscribe)")
    parser.add_argument("--folder", metavar="DIR", help="keep the two runs and MPI's counts there")
    parser.add_argument("--read", action="store_true", help="run nothing: look at what --folder holds")
    parser.add_argument("command", nargs="*", help="omd and its options, after --; without --rounds and --output")
    options = parser.parse_args()
    program = experiment.find_starling(options.starling)
    graph = options.graph or option_of(options.command, "--topology")
    if options.read:
        if not options.folder:
            parser.error("--read needs --folder")
        sys.exit(judge(pathlib.Path(options.folder), program, graph))
    if not options.command:
        parser.error("say what to run: -- omd …")
    if option_of(options.command, "--exchange") is not None:
        parser.error("MPI counts messages alone, so that the runs have --exchange messages: leave out --exchange")
    if len(str(options.rounds[0])) != len(str(options.rounds[1])) or options.rounds[0] >= options.rounds[1]:
        parser.error("--rounds: the second must be larger and have as many digits (texts would differ in length)")
    with tempfile.TemporaryDirectory(prefix="starling-decentralized-") as scratch:
        folder = pathlib.Path(options.folder or scratch).resolve()
        play(options, folder, program, options.command)
        sys.exit(judge(folder, program, graph))


if __name__ == "__main__":
    main()
