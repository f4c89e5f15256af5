#!/usr/bin/env python3
"""AUC of `starling vertical --protocol shares` on credit default beside the price: the figures of docs/methods/shares.md.

  jobs/vertical-shares.py --data FOLDER            # three runs at each of epsilon .3, 1 and 3, and without noise: half a minute
  jobs/vertical-shares.py --data FOLDER --runs 1 --records 3000

FOLDER has default_credit_hetero_guest.csv.gz and default_credit_hetero_host.csv.gz (FATE's examples/data). Records whose id's SHA-256 is divisible
by five are held out; --records keeps so many of the others, the first ones. Each run has noise of its own. Prints the AUC and what the
runs foretold, and writes shares.csv.
"""

import argparse
import gzip
import hashlib
import json
import pathlib
import subprocess
import tempfile

import experiment

PRICES = ("0.3", "1", "3", "none")


def split(folder, scratch, party, records):
    header, *rows = gzip.open(folder / f"default_credit_hetero_{party}.csv.gz", "rt").read().splitlines()
    place = header.split(",").index("id")
    of_id = {row: int(hashlib.sha256(row.split(",")[place].encode()).hexdigest(), 16) % 5 == 0 for row in rows}
    learned = [row for row in rows if not of_id[row]]
    for name, lines in (("train", learned[:records or None]), ("test", [row for row in rows if of_id[row]])):
        (scratch / f"{party}-{name}.csv").write_text("\n".join([header, *lines]) + "\n")


def play(starling, scratch, price):
    noise = ["none"] if price == "none" else ["gaussian", "--total-epsilon", price, "--delta", "1e-5"]
    with tempfile.TemporaryDirectory(dir=scratch) as run:
        done = subprocess.run([starling, "vertical", "--protocol", "shares", "--clients", "2", "--parties", "guest-train.csv,host-train.csv", "--test",
                               "guest-test.csv,host-test.csv", "--id", "id", "--label", "y", "--loss", "logistic", "--mechanism", *noise,
                               "--progress", "off", "--json", "--output", f"{run}/run"], cwd=scratch, check=True, capture_output=True, text=True)
    summary = json.loads(done.stdout)
    outlook = [note for note in summary["notes"] if note.startswith("outlook: ")]
    return summary["metrics"]["test"]["auc"], outlook[0] if outlook else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starling", help="the program; default: that of the build, else of the path")
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder of the two tables")
    parser.add_argument("--runs", type=experiment.positive, default=3, help="runs at each price [3]")
    parser.add_argument("--records", type=experiment.positive, help="records to learn from; default: all")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."), help="folder for shares.csv [.]")
    chosen = parser.parse_args()
    starling = experiment.find_starling(chosen.starling)
    starling = str(pathlib.Path(starling).resolve()) if "/" in str(starling) else starling
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        for party in ("guest", "host"):
            split(chosen.data, scratch, party, chosen.records)
        for price in PRICES:
            found = [play(starling, scratch, price) for _ in range(chosen.runs)]
            print(f"epsilon {price:>4}: AUC {' '.join(f'{auc:.4f}' for auc, _ in found)}  {found[0][1]}", flush=True)
            lines += [(price, number, auc) for number, (auc, _) in enumerate(found, 1)]
    chosen.output.mkdir(parents=True, exist_ok=True)
    experiment.write_csv(chosen.output / "shares.csv", ("epsilon", "run", "auc"), lines)


if __name__ == "__main__":
    main()
