#!/usr/bin/env python3
"""Runs every command with two builds of starling and compares what they leave: for changes that must change nothing.

usage: tools/golden.py OLD NEW [--only REGEX] [--keep DIR]

  OLD, NEW      two starling programs (OLD is that of the commit before, NEW that of the change)
  --only REGEX  only the cases whose name matches
  --keep DIR    work there, and leave the run directories

Compared bit for bit: every data set of run.h5, clients/*.h5 and other HDF5 files, tables (CSV), and the numbers of
summary.json. Ledgers are compared row by row. Left out: times, names of programs, hashes over times, and sentences
(texts may be reworded; --texts compares them too). Noise comes from --noise-key seed, so that runs can be repeated.
Ends with 1 if anything differs, and names it.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import h5py

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "data"
SEED = "--noise-key seed --seed 5"
LAPLACE = f"--mechanism laplace --epsilon 2 {SEED}"
GAUSSIAN = f"--mechanism gaussian --mu 1 {SEED}"
UNTUNED_LAPLACE, UNTUNED_GAUSSIAN = f"{LAPLACE} --tuning off", f"{GAUSSIAN} --tuning off"
NONE = f"--mechanism none {SEED}"
DRIFT = "--source synthetic:drift:informative=1,n=120"
GAUSSIANS = "--source synthetic:two-gaussians:p=4,n=200 --batch 20 --loss dwd"
PARTIES = "--source parties.csv --columns 0,1/2,3 --label 4"
LINEAR = "--source synthetic:linear:p=3 --loss huber:1.345"

# name: (ranks, words); {top} is the folder of ready topologies.
CASES = {
    "omd-tuned": (2, f"omd {DRIFT} {GAUSSIAN} --clients 4 --epochs 3"),
    "omd-ring": (3, f"omd {DRIFT} {UNTUNED_LAPLACE}"),
    "omd-unbalanced": (2, f"omd {DRIFT} {UNTUNED_LAPLACE} --topology {{top}}/unbalanced-5.topo --clients 5 --domain ball:3 --average tail"),
    "omd-plain": (2, f"omd {DRIFT} {UNTUNED_LAPLACE} --topology {{top}}/metropolis-path-4.topo --clients 4 --mixing plain"),
    "omd-entropic": (2, f"omd {DRIFT} {UNTUNED_GAUSSIAN} --clients 4 --mirror entropic --step 0.2"),
    "omd-regret": (2, f"omd {DRIFT} {NONE} --clients 4 --regret both --metrics shared --domain ball:3"),
    "omd-troubled": (2, f"omd {DRIFT} {UNTUNED_LAPLACE} --clients 6 --dropout 0.2 --link-loss 0.1 --gossip-steps 2"),
    "omd-unacknowledged": (2, f"omd {DRIFT} {UNTUNED_LAPLACE} --clients 5 --link-loss 0.1 --link-loss-model unacknowledged"),
    "omd-changing": (2, f"omd {DRIFT} {UNTUNED_GAUSSIAN} --topology {{top}}/endless-matching-8.topo --clients 8 --batch 3"),
    "omd-constraints": (2, f"omd {LINEAR} --rounds 60 {NONE} --clients 4 --domain ball:2 "
                           "--constraint box:low=-0.5,high=0.5+energy:cost=1,budget=0.7 --regret static --metrics shared"),
    "omd-queue": (2, f"omd {LINEAR} --rounds 60 {UNTUNED_GAUSSIAN} --clients 4 --domain ball:2 --dual queue "
                     "--constraint data:column=1,max=0.1"),
    "omd-mlp": (2, f"omd {DRIFT} {UNTUNED_GAUSSIAN} --clients 3 --model mlp:5-4-1 --batch 4"),
    "omd-averages": (2, "omd --loss none --rounds 40 --seed 3 --clients 3 --start {starts} --topology {top}/unbalanced-3.topo"),
    "omd-checkpoints": (2, f"omd {DRIFT} {UNTUNED_LAPLACE} --checkpoint-every 50 --record-every 7 --json-models"),
    "omd-dissertation": (2, f"omd {DRIFT} --mechanism dissertation --epsilon 2 --unit component {SEED}"),
    "fedavg": (3, f"fedavg {DRIFT} {UNTUNED_GAUSSIAN}"),
    "fedavg-tuned": (2, f"fedavg {DRIFT} {GAUSSIAN} --clients 4 --epochs 3 --local-steps 2"),
    "renewable-open": (3, f"renewable {GAUSSIANS} {NONE}"),
    "renewable-offline": (3, f"renewable {GAUSSIANS} {NONE} --variant offline"),
    "renewable-paper": (3, f"renewable {GAUSSIANS} {GAUSSIAN} --variant private --trust central --l2 0.1"),
    "renewable-masked": (3, f"renewable {GAUSSIANS} {GAUSSIAN} --variant private --trust masked --l2 0.1"),
    "infer-aggregated": (3, f"infer {LINEAR} --rounds 300 {GAUSSIAN}"),
    "infer-ring": (2, f"infer {LINEAR} --rounds 200 --clients 8 --topology {{top}}/unbalanced-8.topo {GAUSSIAN}"),
    "infer-study": (2, f"infer {LINEAR} --rounds 200 --replications 4 {GAUSSIAN}"),
    "vertical-spectrum": (3, f"vertical --source synthetic:spectrum --rounds 40 {NONE}"),
    "vertical-table": (3, f"vertical {PARTIES} --loss softmax --batch 10 --step 0.2 {GAUSSIAN} --feature-net d-4 --head d-2"),
    "vertical-quantised": (3, f"vertical {PARTIES} --loss softmax --batch 10 --step 0.2 {NONE} --feature-net d-4 --head d-2 "
                              "--quantiser scalar:8 --bits sublinear:2 --regret static --metrics shared"),
    "vertical-shares": (3, f"vertical {PARTIES} --protocol shares --loss logistic {GAUSSIAN} --test parties.csv"),
    "vertical-numbers": (2, f"vertical {PARTIES} --protocol shares --clients 2 --loss huber:1 {GAUSSIAN} --rounds 8"),
    "topology-make": (0, "topology make exponential --clients 16 --output g.topo"),
    "topology-check": (0, "topology check {top}/unbalanced-8.topo --json"),
    "topology-torus": (0, "topology check {top}/torus-16.topo --json"),
    "privacy-spend": (0, "privacy spend --mechanism gaussian --mu 0.5 --releases 40 --delta 1e-6 --json"),
    "privacy-calibrate": (0, "privacy calibrate --mechanism gaussian --epsilon 1 --delta 1e-5 --releases 100 --json"),
    "data-make": (0, "data make linear:p=3 --clients 2 --records 50 --output r-{client}.csv"),
}

# Keys of summary.json and of ledger rows that hold times, names, or hashes over them.
VOLATILE = {"time", "run", "run_id", "mask_keys", "determined_by", "digest", "seconds", "rounds_per_second", "command_line", "version", "hash", "previous", "heads", "notes",
            "starling", "revision", "rates", "output", "directory", "started", "ended", "host", "hosts", "libraries",
            "evaluation_bytes"}  # counts the bytes of agreements, whose encoding may change
TEXTS = {"statement", "recipients", "shared_metrics", "neighbours", "description"}


def pruned(value, texts):
    if isinstance(value, dict):
        return {key: pruned(each, texts) for key, each in value.items()
                if key not in VOLATILE and (texts or key not in TEXTS)}
    if isinstance(value, list):
        return [pruned(each, texts) for each in value]
    return value


def hdf5_content(path):
    found = {}
    with h5py.File(path, "r") as file:
        def visit(name, item):
            if isinstance(item, h5py.Dataset):
                content = item[()]  # texts are objects, told by what they say
                found[name] = (str(item.dtype), item.shape, content.tolist() if content.dtype == object else content.tobytes())
        file.visititems(visit)
    return found


def content(path, texts):
    """What must be equal of a file; None for files that hold times, pictures or nothing comparable."""
    if path.suffix in (".h5", ".hdf5"):
        return hdf5_content(path)
    if path.name.startswith("ledger") and path.suffix == "":
        return [pruned(json.loads(line), texts) for line in path.read_text().splitlines() if line.startswith("{")]
    if path.suffix == ".json":
        return pruned(json.loads(path.read_text()), texts)
    if path.name == "config.ini":
        return [line for line in path.read_text().splitlines() if not line.startswith("output")]
    if path.suffix in (".csv", ".topo"):
        return path.read_text()
    if path.name == "stdout":
        text = path.read_text()
        return pruned(json.loads(text), texts) if text.lstrip().startswith("{") else None
    return None


def run(program, name, ranks, words, folder):
    folder.mkdir(parents=True)
    (folder / "starts.csv").write_text("1,0\n0,1\n-1,2\n")
    cells = [[(i * factor) % 101 / 50 - 1 for factor in (37, 53, 71, 89)] for i in range(200)]
    (folder / "parties.csv").write_text("".join(f"{','.join(map(str, row))},{int(sum(row) > 0)}\n" for row in cells))
    words = words.replace("{top}", str(ROOT / "topologies")).replace("{starts}", "starts.csv").split()
    if ranks:
        words = ["mpirun", "--oversubscribe", "-n", str(ranks), program, *words, "--output", "run", "--progress", "off"]
    else:
        words = [program, *words]
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_mtl": "^psm,psm2,ofi"}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    (folder / "stdout").write_text(done.stdout)
    (folder / "stderr").write_text(done.stderr)
    return done


def complaint(done):
    lines = [line for line in done.stderr.splitlines() if line.startswith("starling: ")]
    return lines[0] if lines else done.stderr.strip()[-300:]


def first_difference(a, b, where=""):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(set(a) | set(b)):
            if key not in a or key not in b:
                return f"{where}/{key} is missing in one of them"
            found = first_difference(a[key], b[key], f"{where}/{key}")
            if found:
                return found
        return None
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (left, right) in enumerate(zip(a, b)):
            found = first_difference(left, right, f"{where}[{i}]")
            if found:
                return found
        return None
    return None if a == b else f"{where}: {str(a)[:90]} / {str(b)[:90]}"


def differences(old, new, texts):
    names = {path.relative_to(top) for top in (old, new) for path in top.rglob("*") if path.is_file()}
    for name in sorted(names):
        if not (old / name).exists() or not (new / name).exists():
            yield f"{name}: only in one of them"
            continue
        before, after = content(old / name, texts), content(new / name, texts)
        if before != after:
            yield f"{name}: {first_difference(before, after) if isinstance(before, (dict, list)) else 'differs'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep")
    parser.add_argument("--texts", action="store_true")
    given = parser.parse_args()
    programs = {"old": str(pathlib.Path(given.old).resolve()), "new": str(pathlib.Path(given.new).resolve())}
    top = pathlib.Path(given.keep or tempfile.mkdtemp(prefix="starling-golden-")).resolve()
    bad = 0
    for name, (ranks, words) in CASES.items():
        if not re.search(given.only, name):
            continue
        results = {}
        for which, program in programs.items():
            folder = top / name / "work"
            shutil.rmtree(folder, ignore_errors=True)
            results[which] = run(program, name, ranks, words, folder)
            kept = top / name / which
            shutil.rmtree(kept, ignore_errors=True)
            folder.rename(kept)
        found = list(differences(top / name / "old", top / name / "new", given.texts))
        if results["old"].returncode != results["new"].returncode:
            found.insert(0, f"exit codes {results['old'].returncode} and {results['new'].returncode}: "
                            + complaint(results["new"]))
        elif results["old"].returncode not in (0, 1):
            found.insert(0, f"both end with {results['old'].returncode}: {complaint(results['old'])}")
        print(f"{'equal  ' if not found else 'DIFFERS'} {name}")
        for line in found[:6]:
            print(f"        {line}")
        bad += bool(found)
    if not given.keep:
        shutil.rmtree(top, ignore_errors=True)
    print(f"{bad} case(s) differ" if bad else "all cases are equal")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
