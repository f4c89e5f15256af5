"""Online vertical federated learning: the same bits on any number of ranks, exactly counted, as Algorithm 1 has it; data that do not
fit together are refused by every rank alike."""

import csv
import math
import os
import random
import signal
import unittest

from harness import *

UNUSABLE, UNREADABLE, STOPPED_SAFELY = 2, 3, 75
LAYOUTS = (1, 3, 5, 7)  # of four parties and rank 0; the last has ranks that host nobody
PARTIES, EMBEDDING, HEAD = 4, 3, 12 * 4 + 4 + 4 * 2 + 2
REFUSING = (1, 3) if SLOW else (1,)  # test_files_that_do_not_fit has several ranks by default
TRAIN = 6
SPECTRUM = ["--clients", PARTIES, "--source", f"synthetic:spectrum:train={TRAIN},test=5,samples=8", "--feature-net", "d-7-3", "--head",
            "d-4-d", "--rounds", 12]
NONE = ["--mechanism", "none"]
GAUSSIAN = ["--mechanism", "gaussian", "--mu", "0.5", "--noise-key", "seed"]
NETWORKS = ["--feature-net", "d-5-3", "--head", "d-4-d"]


class VerticalCase(MethodCase):
    command = "vertical"

    def rounds(self, output):
        with open(self.folder / output / "rounds.csv", newline="") as file:
            return list(csv.DictReader(file))

    def networks(self, output):
        """Parameters by client, the head being client 0, as bytes; none without h5py. Without noise each party has its own part."""
        found = {}
        for path in (self.folder / output / "networks").glob("*.h5") if h5py else []:
            with h5py.File(path) as file:
                for client in file:
                    self.assertNotIn(int(client), found)
                    found[int(client)] = file[client][()].tobytes()
        for path in (self.folder / output / "private").glob("*/model-part-*.h5") if h5py else []:
            client = int(path.stem.rsplit("-", 1)[1])
            self.assertNotIn(client, found)
            with h5py.File(path) as file:
                layers = sorted(file["parameters"], key=lambda name: int(name.split("-")[0]))
                parts = [file["parameters"][name][each][()].ravel() for name in layers for each in ("weights", "bias")]
            found[client] = numpy.concatenate(parts).tobytes()
        return found

    def outcome(self, words, output, ranks=1):
        """All that must not depend on the layout."""
        summary = self.summary(words, output, ranks)
        return self.traces(summary, output)

    def traces(self, summary, output):
        return [bits(summary["final_model"]), bits(summary["loss"]["mean"]), (self.folder / output / "rounds.csv").read_text(),
                self.networks(output)]


def table(count, seed=1):
    """Records with an id, two columns for each of two parties, and a label of all four."""
    draw = random.Random(seed)
    rows = []
    for i in range(count):
        x = [round(draw.gauss(0, 1), 4) for _ in range(4)]
        rows.append((f"r{i}", x, int(x[0] - x[1] + x[2] - 0.5 * x[3] + 0.3 * draw.gauss(0, 1) > 0)))
    return rows


class Files(VerticalCase):
    """guest.csv has labels and two columns, host.csv two others in another order of records."""

    WORDS = ["--parties", "guest.csv,host.csv", "--id", "id", "--loss", "softmax", "--batch", 7, "--step", 0.2, *NETWORKS, *NONE]

    def write_files(self, rows, shuffled=True):
        others = list(rows)
        if shuffled:
            random.Random(5).shuffle(others)
        self.write("guest.csv", "id,y,a,b\n" + "".join(f"{name},{y},{x[0]},{x[1]}\n" for name, x, y in rows))
        self.write("host.csv", "id,c,d\n" + "".join(f"{name},{x[2]},{x[3]}\n" for name, x, _ in others))
        self.write("all.csv", "a,b,c,d,y\n" + "".join(",".join(map(str, x)) + f",{y}\n" for _, x, y in rows))


class HeldOut(Files):
    """Both parties predict test.csv's records together; host-test.csv has them in another order."""

    TEST = ["--test", "guest-test.csv,host-test.csv"]
    WORDS = [*Files.WORDS[:-2], "--clients", 2, *NONE]
    TABLE = ["--source", "all.csv", "--columns", "a,b/c,d", "--label", "y"]
    DOUBLE = ["--precision", "double"]

    def setUp(self):
        super().setUp()
        self.write_files(table(70))
        self.held_out = table(45, seed=9)
        for name in ("guest", "host", "all"):
            os.rename(self.folder / f"{name}.csv", self.folder / f"{name}-train.csv")
        self.write_files(self.held_out)
        for name in ("guest", "host", "all"):
            os.rename(self.folder / f"{name}.csv", self.folder / f"{name}-test.csv")
            os.rename(self.folder / f"{name}-train.csv", self.folder / f"{name}.csv")

    def scored(self, words, output, ranks=1):
        metrics = self.summary(words, output, ranks)["metrics"]
        return metrics["test"], metrics["test_loss"], metrics["test_accuracy"]

    def played(self, layers, parameters, x):
        """A network of dense layers with ReLU between them."""
        for i, (inputs, outputs) in enumerate(zip(layers, layers[1:])):
            weights, parameters = parameters[:inputs * outputs].reshape(inputs, outputs), parameters[inputs * outputs:]
            x = x @ weights + parameters[:outputs]
            parameters = parameters[outputs:]
            x = numpy.maximum(x, 0) if i + 2 < len(layers) else x
        self.assertEqual(len(parameters), 0)
        return x

    def outputs(self, output, clip=math.inf):
        """Of the networks of a run, for the held-out records in the order of the labels."""
        networks = {client: numpy.frombuffer(found) for client, found in self.networks(output).items()}
        x = numpy.array([values for _, values, _ in self.held_out])
        embeddings = [self.played([2, 5, 3], networks[k], x[:, 2 * k - 2:2 * k]) for k in (1, 2)]
        for rows in embeddings:
            rows *= numpy.minimum(1, clip / numpy.linalg.norm(rows, axis=1))[:, None]
        return self.played([6, 4, 2], networks[0], numpy.hstack(embeddings))

    def check_metrics(self, found, outputs, delta=1e-12):
        y = numpy.array([label for _, _, label in self.held_out])
        margins = outputs[:, 1] - outputs[:, 0]
        p = 1 / (1 + numpy.exp(-margins))
        pairs = margins[y == 1][:, None] - margins[y == 0]
        self.assertEqual(found["records"], len(y))
        self.assertAlmostEqual(found["accuracy"], ((margins > 0) == y).mean(), delta=1e-12)
        self.assertAlmostEqual(found["auc"], (pairs > 0).mean(), delta=1e-12)
        self.assertAlmostEqual(found["log_loss"], -numpy.log(numpy.where(y == 1, p, 1 - p)).mean(), delta=delta)
        self.assertAlmostEqual(found["brier"], ((p - y) ** 2).mean(), delta=delta)

    @needs_h5py
    def test_predictions_are_those_of_the_networks(self):
        found, loss, accuracy = self.scored([*self.WORDS, *self.DOUBLE, *self.TEST], "run", 3)
        self.check_metrics(found, self.outputs("run"))
        labels = [label for _, _, label in self.held_out]
        larger = max(labels.count(0), labels.count(1)) / len(labels)
        self.assertEqual(self.summary_in("run")["metrics"]["larger_class"], larger)
        self.assertAlmostEqual(loss, found["log_loss"], delta=1e-12)
        self.assertEqual(accuracy, found["accuracy"])

    @fewer
    def test_the_same_on_any_number_of_ranks_and_from_one_table(self):
        without = self.outcome(self.WORDS, "without")
        expected = self.scored([*self.WORDS, *self.TEST], "one")
        self.assertEqual(self.networks("one"), without[3])
        for ranks in (2, 3, 5) if SLOW else (5,):
            self.assertEqual(self.scored([*self.WORDS, *self.TEST], f"on-{ranks}", ranks), expected)
        one_table = [*self.TABLE, "--test", "all-test.csv", *self.WORDS[4:]]
        self.assertEqual(self.scored(one_table, "table", 3), expected)
        self.assertEqual(self.scored([*self.WORDS, *self.TEST, "--labels", "head"], "head"), expected)
        self.assertEqual(self.scored([*self.WORDS, *self.TEST, "--baseline", "central"], "central"), expected)
        coarse = [*self.WORDS, *self.TEST, "--quantiser", "scalar:2", "--bits", "sublinear:2"]
        self.assertNotEqual(self.scored(coarse, "coarse")[1], expected[1])

    def test_labels_of_a_file_of_their_own(self):
        expected = self.scored([*self.WORDS, *self.TEST], "one")
        for name in ("guest", "guest-test"):
            rows = [line.split(",") for line in (self.folder / f"{name}.csv").read_text().splitlines()]
            self.write(f"{name}-labels.csv", "".join(",".join(row[:2]) + "\n" for row in rows))
            self.write(f"{name}.csv", "".join(",".join([row[0], *row[2:]]) + "\n" for row in rows))
        words = [*self.WORDS, "--label-source", "guest-labels.csv"]
        self.assertEqual(self.scored([*words, *self.TEST, "--test-label-source", "guest-test-labels.csv"], "apart", 3), expected)

    @needs_h5py
    def test_held_out_records_are_public_and_so_not_noised(self):
        noisy = [*self.WORDS[:-2], *self.DOUBLE, *GAUSSIAN[:-1], "random", "--embedding-clip", 0.3]
        words = [*noisy, *self.TEST]
        result = self.succeeded(self.play([*words, "--output", "run", "--json"], 3))
        self.assertIn("the records of --test count as public", result.err)
        summary = result.summary()
        self.check_metrics(summary["metrics"]["test"], self.outputs("run", 0.3), delta=1e-7)  # the bound has a margin for roundings
        self.assertEqual(summary["accuracy"], summary["metrics"]["test"]["accuracy"])
        self.assertIsNone(summary["metrics"]["progressive_accuracy"])
        self.assertNotIn("accuracy", summary["withheld"])
        without = self.play([*noisy, "--output", "without", "--json"])
        self.assertEqual(summary["privacy"]["record_epsilon"], without.summary()["privacy"]["record_epsilon"])

    def test_what_does_not_fit_is_refused(self):
        self.refused(UNUSABLE, [*SPECTRUM, *NONE, "--test", "all-test.csv"], "--test with a spectrum")
        self.refused(UNUSABLE, [*self.WORDS, "--test", "synthetic:two-gaussians:p=2,n=9,synthetic:two-gaussians:p=2,n=9"], "--test")
        self.refused(UNUSABLE, [*self.WORDS, "--test", "guest-test.csv"], "1 files for 2 parties")
        self.refused(UNUSABLE, [*self.WORDS, "--test-label-source", "all.csv"], "--test-label-source")
        self.write("wide.csv", "id,c,d,e\n" + "".join(f"r{i},1,2,3\n" for i in range(45)))
        self.refused(UNREADABLE, [*self.WORDS, "--test", "guest-test.csv,wide.csv"], "--test: party 2 has 3 columns, where it has 2",
                     ranks=3)
        self.write("other.csv", "id,c,f\n" + "".join(f"r{i},1,2\n" for i in range(45)))
        self.refused(UNREADABLE, [*self.WORDS, "--test", "guest-test.csv,other.csv"], "--test")
        self.write("few.csv", "id,c,d\n" + "".join(f"r{i},1,2\n" for i in range(44)))
        self.refused(UNREADABLE, [*self.WORDS, "--test", "guest-test.csv,few.csv"], "44")
        self.refused(UNUSABLE, [*self.TABLE, *self.WORDS[4:], "--test", "{client}.csv"], "must be one table")


class Runs(VerticalCase):
    @slow
    def test_equal_bits_on_any_number_of_ranks(self):
        kinds = {"all": ["--local-steps", 3, "--quantiser", "scalar:3", "--quantise-head", 8],
                 "head": ["--labels", "head", "--quantiser", "hexagonal:4"],
                 "adam": ["--optimizer", "adam", "--precision", "double", "--bits", "sublinear:2", "--quantiser", "scalar:4"],
                 "central": ["--baseline", "central"], "noisy": ["--local-steps", 2, *GAUSSIAN],
                 "noisy-head": ["--labels", "head", *GAUSSIAN]}
        for name, more in kinds.items():
            with self.subTest(name):
                words = [*SPECTRUM, *(NONE if "--mechanism" not in more else []), *more]
                found = {ranks: self.outcome(words, f"{name}-{ranks}", ranks) for ranks in LAYOUTS}
                self.assertEqual(len(self.rounds(f"{name}-1")), 12)
                for ranks in LAYOUTS[1:]:
                    self.assertEqual(found[ranks], found[1], f"{ranks} ranks")

    def test_central_learning_is_the_same(self):
        """Bit for bit, whatever the labels' setting; another number of local steps is another method."""
        central = self.outcome([*SPECTRUM, *NONE, "--baseline", "central"], "central")
        found = {name: self.outcome([*SPECTRUM, *NONE, *more], name, 3)
                 for name, more in {"vertical": [], "head": ["--labels", "head"], "steps": ["--local-steps", 2]}.items()}
        losses = {name: [(row["loss"], row["test_loss"]) for row in self.rounds(name)] for name in ("central", *found)}
        for name in ("vertical", "head"):
            self.assertEqual(losses[name], losses["central"], name)
            self.assertEqual((found[name][0], found[name][3]), (central[0], central[3]), name)
        self.assertNotEqual(losses["steps"], losses["central"])

    @fewer
    def test_bits_are_counted_exactly(self):
        numbers = PARTIES * TRAIN * EMBEDDING
        up = {"float32": 32 * numbers, "float16": 16 * numbers, "scalar:1": numbers + 64 * PARTIES,
              "scalar:5": 5 * numbers + 64 * PARTIES, "hexagonal:2": 2 * numbers + 64 * PARTIES}
        for quantiser, expected in up.items():
            for head, of_head in {"float32": 32 * HEAD, "6": 6 * HEAD + 64}.items():
                if head == "6" and quantiser != "scalar:5" and not SLOW:
                    continue
                traffic = self.summary([*SPECTRUM, *NONE, "--quantiser", quantiser, "--quantise-head", head],
                                       f"{quantiser}-{head}".replace(":", "-"))["traffic"]
                self.assertEqual(traffic["uplink_bits_per_round"], expected, quantiser)
                self.assertEqual(traffic["downlink_bits_per_round"], expected + of_head, quantiser)
                self.assertEqual(traffic["uplink_bits"], 12 * expected)
        traffic = self.summary([*SPECTRUM, *NONE, "--labels", "head", "--quantiser", "scalar:5"], "head")["traffic"]
        self.assertEqual((traffic["uplink_bits_per_round"], traffic["downlink_bits_per_round"]), (up["scalar:5"], 32 * numbers))
        traffic = self.summary([*SPECTRUM, *NONE, "--baseline", "central"], "central", 3)["traffic"]
        self.assertEqual((traffic["uplink_bits_per_round"], traffic["downlink_bits_per_round"]), (32 * PARTIES * TRAIN * 10, 0))

    @fewer
    def test_parties_that_are_absent(self):
        """They count with zeros, send nothing, learn nothing and pay nothing."""
        self.write("absences.csv", "round,client\n2,1\n2,4\n7,2\n")
        words = [*SPECTRUM, *NONE, "--dropout-model", "absences.csv"]
        summary = self.summary(words, "some")
        self.assertIn("in 3 of 48 rounds of a party it was absent", " ".join(summary["notes"]))
        each = 32 * TRAIN * EMBEDDING
        self.assertEqual([float(row["uplink_bits"]) for row in self.rounds("some")],
                         [each * (4 - {2: 2, 7: 1}.get(t, 0)) for t in range(12)])
        found = {ranks: self.outcome(words, f"some-{ranks}", ranks) for ranks in layouts(LAYOUTS)}
        self.assertEqual(list(found.values()), [found[1]] * len(found))
        self.write("all.csv", "".join(f"{t},{u}\n" for t in range(12) for u in range(1, 5)))
        self.summary([*SPECTRUM, *NONE, "--dropout-model", "all.csv"], "all")
        self.summary([*SPECTRUM, *NONE, "--baseline", "lazy:0"], "lazy")
        absent, lazy = self.networks("all"), self.networks("lazy")
        for party in range(1, 5) if h5py else ():
            self.assertEqual(absent[party], lazy[party])
        noisy = [*SPECTRUM, *GAUSSIAN, "--protocol", "embeddings"]
        whole, some = self.summary(noisy, "whole"), self.summary([*noisy, "--dropout", "0.5"], "half")
        self.assertLess(some["privacy"]["mu"], whole["privacy"]["mu"] + 1e-12)
        for more, text in (["--baseline", "central"], "--baseline central"), (["--regret", "static"], "--regret static"):
            self.fails(UNUSABLE, [*SPECTRUM, *NONE, "--dropout", "0.2", *more], text)
        self.write("head.csv", "3,0\n")
        self.fails(UNUSABLE, [*SPECTRUM, *NONE, "--dropout-model", "head.csv"], "client 0 would be absent in round 3")

    def test_bits_that_change(self):
        """B + half the binary logarithm of the round, rounded up; a line for each round in rounds.csv."""
        words = [*SPECTRUM, *NONE, "--quantiser", "scalar:4"]
        summary = self.summary([*words, "--bits", "sublinear:2"], "sublinear")
        expected = [(2 + math.ceil(0.5 * math.log2(t))) * PARTIES * TRAIN * EMBEDDING + 64 * PARTIES for t in range(1, 13)]
        self.assertEqual([float(row["uplink_bits"]) for row in self.rounds("sublinear")], expected)
        self.assertEqual(summary["traffic"]["uplink_bits"], sum(expected))
        for quantiser, first in (("scalar", 15), ("hexagonal", 11)):  # all bits in round 2, and no more from round 5 on
            few = self.summary([*words[:-1], f"{quantiser}:4", "--bits", f"sublinear:{first}"], quantiser)
            self.assertEqual([float(row["uplink_bits"]) for row in self.rounds(quantiser)],
                             [(first + (t > 1)) * PARTIES * TRAIN * EMBEDDING + 64 * PARTIES for t in range(1, 13)])
            self.assertIn(f"--bits sublinear:{first}: from round 5 on it asks for more than the {first + 1} bits", " ".join(few["notes"]))
        self.assertNotIn("--bits", " ".join(summary["notes"]))
        self.write("bits.txt", "".join(f"{t},{1 + t // 4}\n" for t in range(12)))
        self.summary([*words, "--bits", "schedule:bits.txt"], "file")
        self.assertEqual([float(row["uplink_bits"]) for row in self.rounds("file")],
                         [(1 + t // 4) * PARTIES * TRAIN * EMBEDDING + 64 * PARTIES for t in range(12)])

    def test_who_stops_learning(self):
        """Losses are alike until then; afterwards nothing goes down."""
        self.summary([*SPECTRUM, *NONE], "run")
        self.summary([*SPECTRUM, *NONE, "--baseline", "lazy:5"], "lazy")
        self.summary([*SPECTRUM[:-1], 5, *NONE], "short")
        rows, lazy = self.rounds("run"), self.rounds("lazy")
        self.assertEqual(rows[:5], lazy[:5])
        self.assertEqual(rows[5]["loss"], lazy[5]["loss"])  # predicted before it is learned from
        self.assertNotEqual(rows[5]["test_loss"], lazy[5]["test_loss"])
        self.assertEqual({row["downlink_bits"] for row in lazy[5:]}, {"0"})
        self.assertEqual(self.networks("lazy"), self.networks("short"))

    def test_an_embedding_of_one_value(self):
        """A range of 0 loses nothing: as good as floats."""
        self.write("flat.csv", "".join(f"1,1,{0.1 * (i % 7)}\n" for i in range(40)))
        words = ["--source", "flat.csv", "--columns", "0/1", "--clients", 2, "--batch", 5, "--feature-net", "d-3-1", "--head",
                 "d-3-d", *NONE]
        self.summary([*words, "--quantiser", "scalar:2"], "coarse", 3)
        self.summary(words, "exact")
        self.assertEqual([row["loss"] for row in self.rounds("coarse")], [row["loss"] for row in self.rounds("exact")])
        self.assertLess(float(self.rounds("coarse")[-1]["loss"]), float(self.rounds("coarse")[0]["loss"]))

    def test_it_learns(self):
        words = [*SPECTRUM[:-1], 400, "--step", 0.05, *NONE]
        summary = self.summary(words, "run")
        tests = [float(row["test_loss"]) for row in self.rounds("run")]
        self.assertLess(sum(tests[-50:]), 0.5 * sum(tests[:50]))
        losses = [float(row["loss"]) for row in self.rounds("run")]
        self.assertAlmostEqual(summary["metrics"]["mse"], sum(losses) / len(losses), places=7)
        self.assertAlmostEqual(summary["metrics"]["test_loss"], tests[-1], places=7)
        self.assertEqual([note for note in summary["notes"] if "is called as a label" in note], [], "its y is a place")

    def test_regret(self):
        """What was played is the losses' sum, and no fixed networks that were found are worse than the last ones."""
        summary = self.summary([*SPECTRUM, *NONE, "--regret", "static", "--regret-passes", 5], "run", 3)
        regret = summary["regret"]
        self.assertAlmostEqual(regret["played"], sum(float(row["loss"]) for row in self.rounds("run")), places=5)
        self.assertAlmostEqual(regret["static"], regret["played"] - regret["hindsight"], places=9)
        self.assertAlmostEqual(regret["per_round"], regret["static"] / 12, places=9)
        self.assertIn("Adam", regret["method"])
        alone = self.summary([*SPECTRUM, *NONE, "--regret", "static", "--regret-passes", 5], "alone")["regret"]
        self.assertEqual(bits(alone), bits(regret))

    def test_a_signal_during_the_search_in_hindsight_leaves_it_to_a_later_start(self):
        words = [*SPECTRUM, *NONE, "--regret", "static", "--regret-passes", 2]
        with interrupted(f"after rename /private/0/checkpoint-{SPECTRUM[-1]}:0", signal.SIGTERM):
            self.assertEqual(self.play([*words, "--output", "cut"], 3).code, STOPPED_SAFELY)
        self.succeeded(self.play(["--resume", "cut"], 3))
        self.assertEqual(bits(self.summary_in("cut")["regret"]), bits(self.summary(words, "whole", 3)["regret"]))

    def test_a_report(self):
        summary = self.summary([*SPECTRUM, *NONE, "--quantiser", "scalar:4"], "run", 5)
        self.assertEqual((summary["command"], summary["clients"], summary["ranks"], summary["rounds"]), ("vertical", 4, 5, 12))
        again = self.succeeded(self.run_alone(["report", "run"]))
        self.assertIn("vertical", again.out)
        self.assertIn("544 bits up", again.out)  # 4 (6 * 3 * 4 + 64)
        self.assertEqual(self.summary_in("run")["traffic"], summary["traffic"])

    def test_signals_leave_whole_results(self):
        for number in (signal.SIGUSR1, signal.SIGTERM):
            with self.subTest(number.name):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                job = self._start([(3, ["vertical", *SPECTRUM[:-1], 10**8, *NONE, "--progress", "off", "--output", "run"], [])],
                                  RANK_SCRIPT)
                pids = job.pids(3)
                wait_until(lambda: (self.folder / "run" / "rounds.csv").exists() and len(self.rounds("run")) > 20, "rounds are played")
                for pid in pids:
                    os.kill(pid, number)
                result = job.finish(30)
                self.assertEqual(result.codes, [STOPPED_SAFELY] * 3, result)
                self.assertEqual(result.messages(), [], result)
                summary = self.summary_in("run")
                rows = self.rounds("run")
                self.assertEqual([int(row["round"]) for row in rows], list(range(1, summary["rounds"] + 1)))
                self.assertEqual(summary["traffic"]["uplink_bits"], sum(float(row["uplink_bits"]) for row in rows))
                self.assertIn("stopped by a signal", " ".join(summary["notes"]))
                if h5py:
                    self.assertEqual(sorted(self.networks("run")), list(range(PARTIES + 1)))


class Tables(Files):
    @fewer
    def test_files_in_any_order_are_one_table(self):
        rows = table(50)
        self.write_files(rows)
        one = self.outcome(["--source", "all.csv", "--columns", "a,b/2-3", "--clients", 2, *self.WORDS[4:]], "one")
        for ranks in layouts((1, 2, 3)):
            words = [*self.WORDS, "--clients", 2]
            self.assertEqual(self.outcome(words, f"files-{ranks}", ranks), one, ranks)
        self.write("1.csv", (self.folder / "guest.csv").read_text())
        self.write("2.csv", (self.folder / "host.csv").read_text())
        pattern = ["--source", "{client}.csv", "--clients", 2, *self.WORDS[2:]]
        self.assertEqual(self.outcome(pattern, "pattern", 3), one)
        # Eight rounds of seven records; the last has one.
        self.assertEqual([row["round"] for row in self.rounds("one")], [str(t) for t in range(1, 9)])

    def test_labels_may_stand_apart(self):
        """And their order is the one that counts; with labels at rank 0 alone nobody else reads them."""
        rows = table(50)
        self.write_files(rows)
        one = self.outcome([*self.WORDS, "--clients", 2], "one")
        self.write("labels.csv", "id,y\n" + "".join(f"{name},{y}\n" for name, _, y in rows))
        shuffled = list(rows)
        random.Random(9).shuffle(shuffled)
        self.write("guest.csv", "id,a,b\n" + "".join(f"{name},{x[0]},{x[1]}\n" for name, x, _ in shuffled))
        for who in ("all", "head"):
            words = [*self.WORDS, "--clients", 2, "--label-source", "labels.csv", "--labels", who]
            found = self.outcome(words, who, 3)
            self.assertEqual([found[0], found[1], found[3]], [one[0], one[1], one[3]], who)

    @needs_h5py
    def test_predictions_by_hand(self):
        """Networks that never learn are the start values on record: losses, accuracy and AUC of them by plain arithmetic."""
        rows = table(50)
        self.write_files(rows)
        words = ["--source", "all.csv", "--columns", "0-1/2-3", "--clients", 2, *self.WORDS[4:], "--precision", "double", "--baseline",
                 "lazy:0"]
        summary = self.summary(words, "run")
        layers = {}
        for client, content in self.networks("run").items():
            layers[client] = self.layers(numpy.frombuffer(content), (6, 4, 2) if client == 0 else (2, 5, 3))
        margins, losses = [], []
        for _, x, y in rows:
            embeddings = [*self.forward(layers[1], x[:2]), *self.forward(layers[2], x[2:])]
            scores = self.forward(layers[0], embeddings)
            margins.append((scores[1] - scores[0], y))
            losses.append(math.log(sum(math.exp(s - scores[y]) for s in scores)))
        self.assertAlmostEqual(summary["loss"]["mean"], sum(losses) / 50, places=9)
        for t, row in enumerate(self.rounds("run")):
            own = losses[7 * t:7 * t + 7]
            self.assertAlmostEqual(float(row["loss"]), sum(own) / len(own), places=7)
            right = [(margin > 0) == (y > 0) for margin, y in margins[7 * t:7 * t + 7]]
            self.assertAlmostEqual(float(row["accuracy"]), sum(right) / len(right), places=7)
        pairs = [(a > b) + 0.5 * (a == b) for a, y in margins if y for b, z in margins if not z]
        self.assertAlmostEqual(summary["metrics"]["auc"], sum(pairs) / len(pairs), places=9)

    @staticmethod
    def layers(parameters, sizes):
        """[(weights, biases)] of dense layers."""
        found, at = [], 0
        for inputs, outputs in zip(sizes, sizes[1:]):
            found.append((parameters[at:at + inputs * outputs].reshape(inputs, outputs).T,
                          parameters[at + inputs * outputs:at + (inputs + 1) * outputs]))
            at += (inputs + 1) * outputs
        assert at == len(parameters)
        return found

    @staticmethod
    def forward(layers, x):
        for depth, (weights, biases) in enumerate(layers):
            x = weights @ numpy.array(x) + biases
            if depth + 1 < len(layers):
                x = numpy.maximum(x, 0)
        return x.tolist()

    def test_other_losses(self):
        rows = table(60)
        self.write_files(rows)
        common = ["--source", "all.csv", "--columns", "0-1/2-3", "--clients", 2, "--batch", 7, "--step", 0.2, *NETWORKS, *NONE,
                  "--epochs", 3]
        for loss, metric in (("logistic", "auc"), ("mse", "mse")):
            summary = self.summary([*common, "--loss", loss], loss)
            self.assertIn(metric, summary["metrics"])
            self.assertEqual(summary["rounds"], 27)
        self.assertGreater(self.summary([*common, "--loss", "logistic", "--epochs", 30], "long")["metrics"]["auc"], 0.8)


class Privacy(Files):
    def test_what_a_record_pays(self):
        """Its embedding and each local step's gradient: (1 + E) releases, so sqrt(1 + E) mu, whatever the number of ranks."""
        self.write_files(table(49))
        for steps in (1, 3):
            privacy = self.summary([*self.WORDS[:-2], "--clients", 2, *GAUSSIAN, "--local-steps", steps], f"run-{steps}", 3)["privacy"]
            self.assertAlmostEqual(privacy["mu"], 0.5 * math.sqrt(1 + steps), places=6)
            one = self.run_alone(["privacy", "spend", "--mechanism", "gaussian", "--mu", 0.5, "--delta", "1e-5", "--releases",
                                  1 + steps, "--json"])
            self.assertAlmostEqual(privacy["record_epsilon"], one.summary()["epsilon"], places=6)
            alone = self.summary([*self.WORDS[:-2], "--clients", 2, *GAUSSIAN, "--local-steps", steps], f"alone-{steps}")["privacy"]
            self.assertEqual(alone["record_epsilon"], privacy["record_epsilon"])

    def test_the_ledger_has_every_release(self):
        self.write_files(table(49))
        words = [*self.WORDS[:-2], "--clients", 2, "--local-steps", 2, *GAUSSIAN, "--noise-key", "random", "--ledger", "ledger-{client}"]
        self.summary(words, "run", 3)
        for client in (1, 2):
            self.succeeded(self.run_alone(["privacy", "ledger", f"ledger-{client}", "--verify", "--json"]))
            rows = [json.loads(line) for line in (self.folder / f"ledger-{client}").read_text().splitlines()]
            self.assertEqual(rows[-1]["rounds"], 7)

    def test_metrics_of_private_records_stay_private(self):
        """Losses, accuracies and the AUC tell of labels: they go to rank 0's own folder alone, unless they are declared shared."""
        self.write_files(table(49))
        words = [*self.WORDS[:-2], "--clients", 2, "--mechanism", "gaussian", "--mu", "0.5"]
        for who in ("all", "head"):
            self.succeeded(self.play([*words, "--labels", who, "--output", who]))
            self.assertFalse((self.folder / who / "rounds.csv").exists())
            self.assertEqual((self.folder / who / "private/0/rounds.csv").read_text().count("\n"), 8)
            summary = self.summary_in(who)
            self.assertEqual((summary["loss"]["mean"], summary["accuracy"], summary["metrics"]["auc"]), (None, None, None))
            self.assertLessEqual({"loss.mean", "accuracy", "metrics.auc"}, set(summary["withheld"]))
            for line in csv.DictReader((self.folder / who / "history.csv").read_text().splitlines()):
                self.assertEqual((line["loss"], line["accuracy"]), ("", ""))
        shared = self.summary([*words, "--metrics", "shared"], "shared")
        self.assertGreater(shared["loss"]["mean"], 0)
        named = " ".join(shared["privacy"]["shared_metrics"])
        for text in ("area under the ROC curve", "readers of rounds.csv", "losses and accuracies of predictions"):
            self.assertIn(text, named)

    def test_no_hindsight_where_records_are_private(self):
        """Refused before anything is played or charged: columns would go to rank 0 as they are."""
        self.write_files(table(49))
        for more in ([], ["--metrics", "shared"], ["--metrics", "local"]):
            self.refused(UNUSABLE, [*self.WORDS[:-2], "--clients", 2, "--mechanism", "gaussian", "--mu", "0.5", "--regret", "static", *more],
                         "--regret where records or metrics are private")

    def test_nothing_is_covered_without_noise(self):
        self.write_files(table(49))
        text = self.play([*self.WORDS, "--clients", 2, "--output", "run"]).out
        self.assertRegex(text, "(?i)not protected|protects nothing|nothing is protected|no protection|none")

    def test_labels_that_all_know(self):
        """They are no secret, and the statement says so; where rank 0 alone has them they are paid for."""
        self.write_files(table(49))
        paid = {}
        for who in ("all", "head"):
            result = self.succeeded(self.play([*self.WORDS[:-2], "--clients", 2, *GAUSSIAN, "--labels", who, "--output", who]))
            self.assertRegex(result.out, "labels")
            paid[who] = result.out
        self.assertNotEqual(paid["all"], paid["head"])


class BadInput(Files):
    def test_ids_that_nobody_named(self):
        self.write("guest.csv", "id,y,a\n" + "".join(f"{i},{i % 2},{i / 9}\n" for i in range(20)))
        self.write("host.csv", "id,b\n" + "".join(f"{i},{i / 7}\n" for i in range(20)))
        self.refused(UNUSABLE, [*self.WORDS[:2], *self.WORDS[4:], "--clients", 2], "party 1 has a column 'id' and there is no --id")

    def test_options(self):
        cases = [
            (["--labels", "head", "--local-steps", 2], "--labels head with --local-steps 2: .*Use --local-steps 1"),
            (["--labels", "head", "--quantise-head", 4], "--quantise-head with --labels head"),
            (["--baseline", "central", "--quantiser", "scalar:4"], "--baseline central with --quantiser"),
            (["--baseline", "central", "--labels", "head"], "--baseline central with --labels head"),
            (["--baseline", "lazy"], "lazy"),
            (["--baseline", "lazy:12"], "lazy:12 of 12 rounds"),
            (["--baseline", "sometimes"], "unknown baseline 'sometimes'"),
            (["--quantiser", "scalar:0"], "bits=0"),
            (["--quantiser", "hexagonal:0"], "bits=0"),
            (["--quantiser", "ternary:2"], "ternary.*known are "),
            (["--quantise-head", 0], "bits=0"),
            (["--bits", "sublinear:0", "--quantiser", "scalar:4"], "0 bits"),
            (["--bits", "sublinear:2"], "scalar or hexagonal"),
            (["--feature-net", "d-0-3"], "layer of size 0"),
            (["--feature-net", "3-x-3"], "^starling: --feature-net: '3-x-3': 'x' is no size"),
            (["--loss", "linear"], "unknown loss 'linear': known are mse, "),
            (["--feature-net", "7-3"], "begins with 7 and there are 10 inputs"),
            (["--head", "13-4-d"], "begins with 13 and there are 12 inputs"),
            (["--head", "d-4-3"], "--loss mse with 3 outputs"),
            (["--loss", "softmax"], "--loss softmax for records with 2 targets"),
            (["--batch", 10], "train="),
            (["--epochs", 2], "no end"),
            (["--columns", "0/1/2/3"], "--columns"),
            (["--clients", 3, "--source", "synthetic:spectrum:receivers=4"], "3"),
            (["--regret-passes", 3], "--regret static"),
            (["--embedding-clip", 3], "without noise"),
        ]
        for words, message in cases:
            with self.subTest(" ".join(map(str, words))):
                self.refused(UNUSABLE, [*SPECTRUM, *NONE, *words], message)

    def test_protection(self):
        cases = [(["--baseline", "central", *GAUSSIAN], "--baseline central with --mechanism gaussian"),
                 (["--mechanism", "laplace", "--epsilon", 1], "Use gaussian"),
                 ([*GAUSSIAN, "--unit", "component"], "--unit component"),
                 ([*GAUSSIAN, "--audit"], "--audit"),
                 ([], "--mechanism")]
        for words, message in cases:
            with self.subTest(" ".join(map(str, words))):
                self.refused(UNUSABLE, [*SPECTRUM, *words], message)

    def test_ranks_and_parties(self):
        self.refused(UNUSABLE, [*SPECTRUM[2:], *NONE], "one rank and no parties")
        self.write_files(table(20))
        self.refused(UNUSABLE, self.WORDS, "2 parties on 1 rank", ranks=2)
        self.refused(UNUSABLE, [*self.WORDS, "--clients", 3], "--clients 3 and columns of 2 parties", ranks=3)

    def test_columns(self):
        self.write_files(table(20))
        for columns, message in (("0-1/", "group 2 .* is empty"), ("0-1/1-2", "given to party 1 and to party 2"),
                                 ("0-1/2-9", "9"), ("0-1/e", "no column 'e'")):
            with self.subTest(columns):
                words = ["--source", "all.csv", "--clients", 2, "--columns", columns, "--loss", "softmax", *NETWORKS, *NONE]
                self.refused(UNUSABLE, words, message)
        self.refused(UNUSABLE, ["--source", "all.csv", "--clients", 2, "--loss", "softmax", *NETWORKS, *NONE], "Give --columns")

    @fewer
    def test_files_that_do_not_fit(self):
        """All ranks end by one message, for the first that noticed."""
        rows = table(20)
        self.write_files(rows)
        host = (self.folder / "host.csv").read_text().splitlines()
        cases = [
            (["host.csv", host[:-1]], ["20", "19", "each record needs both"]),
            (["host.csv", [*host[:-1], "stranger,1,2"]], ["host.csv: the id of record 20"]),
            (["host.csv", [*host[:-1], host[1]]], ["host.csv", "stood in record"]),
            (["host.csv", [host[0], *(line.rsplit(",", 1)[0] + ",nan" for line in host[1:])]], ["host.csv"]),
            (["host.csv", host[:1]], ["host.csv"]),
        ]
        for number, ((name, lines), messages) in enumerate(cases):
            with self.subTest(messages[-1]):
                self.write_files(rows)
                self.write(name, "\n".join(lines) + "\n")
                for ranks in (1, 3) if SLOW else (3,) if number < 2 else (1,):
                    self.refused(UNREADABLE, [*self.WORDS, "--clients", 2], *messages, ranks=ranks)

    @fewer
    def test_a_party_without_columns(self):
        self.write_files(table(20))
        self.write("host.csv", "id\n" + "".join(f"r{i}\n" for i in range(20)))
        for ranks in REFUSING:
            self.refused(UNUSABLE, [*self.WORDS, "--clients", 2], "host.csv: no column is left as a feature", ranks=ranks)

    @fewer
    def test_columns_that_one_party_drops(self):
        """As if its file had none; a column that no party has is nobody's."""
        rows = table(20)
        self.write_files(rows)
        one = self.outcome([*self.WORDS, "--clients", 2], "one")
        host = (self.folder / "host.csv").read_text().splitlines()
        self.write("host.csv", "\n".join(f"{line},{'when' if i == 0 else 'late'}" for i, line in enumerate(host)) + "\n")
        for ranks in REFUSING:
            self.assertEqual(self.outcome([*self.WORDS, "--clients", 2, "--drop", "when"], f"dropped-{ranks}", ranks), one)
            self.refused(UNUSABLE, [*self.WORDS, "--clients", 2, "--drop", "when,wen"],
                         "--drop: no party's file has a column 'wen'", ranks=ranks)

    @fewer
    def test_row_counts_without_ids(self):
        rows = table(20)
        self.write_files(rows, shuffled=False)
        host = (self.folder / "host.csv").read_text().splitlines()
        self.write("host.csv", "\n".join(line.split(",", 1)[1] for line in host[:-1]) + "\n")
        self.write("guest.csv", "y,a,b\n" + "".join(f"{y},{x[0]},{x[1]}\n" for _, x, y in rows))
        for ranks in REFUSING:
            self.refused(UNREADABLE, [*self.WORDS[:2], *self.WORDS[4:], "--clients", 2], "20", "19", "each record needs both", ranks=ranks)

    @fewer
    def test_no_labels(self):
        rows = table(20)
        self.write_files(rows)
        self.write("guest.csv", "id,a,b\n" + "".join(f"{name},{x[0]},{x[1]}\n" for name, x, _ in rows))
        for who in ("all", "head"):
            for ranks in REFUSING:
                words = [*self.WORDS, "--clients", 2, "--labels", who]
                self.refused(UNREADABLE, words, "guest.csv: labels are missing: .*--label-source", ranks=ranks)
                self.refused(UNUSABLE, [*words, "--label", "y"], "guest.csv: no column 'y'", ranks=ranks)

    def test_labels_that_are_no_classes(self):
        rows = [(name, x, 5 if i == 7 else y) for i, (name, x, y) in enumerate(table(20))]
        self.write_files(rows)
        self.refused(UNREADABLE, [*self.WORDS, "--clients", 2], "guest.csv: row 9: a label is outside the set", ranks=3)

    def test_columns_in_their_own_units_lead_to_constants(self):
        """As the message says, by what `starling data describe` shows of a column."""
        self.write("raw.csv", "a,b,y\n" + "".join(f"{x},{50000 + 20000 * x},{int(x > 0.5)}\n" for x in (i * 0.37 % 1 for i in range(200))))
        words = ["--source", "raw.csv", "--columns", "0/1", "--loss", "logistic", *NONE, "--epochs", 20]
        result = self.play([*words, "--output", "raw"], 3)
        self.assertRegex(self.message_of(result, UNREADABLE), "far from mean 0 and deviation 1, .*starling data describe .*by --standardise")
        rows = {row["name"]: row for row in json.loads(self.run_alone(["data", "describe", "raw.csv", "--json"]).out)["columns"]}
        self.write("constants.csv", "feature,mean,sd\n" + "".join(f"{name},{row['mean']},{row['sd']}\n" for name, row in rows.items()))
        done = self.play([*words, "--standardise", "constants.csv", "--output", "run"], 3)
        self.assertEqual(done.code, 0, done)
        self.assertGreater(self.summary_in("run")["accuracy"], 0.9)

    @fewer
    def test_numbers_that_run_away(self):
        """A network out of bounds ends the run."""
        for ranks in (1, 5):
            for more in ([], ["--labels", "head"], ["--baseline", "central"], ["--quantiser", "scalar:4"]):
                if ranks > 1 and more and not SLOW:
                    continue
                with self.subTest(f"{ranks} {more}"):
                    shutil.rmtree(self.folder / "run", ignore_errors=True)
                    result = self.play([*SPECTRUM, *NONE, "--step", "1e12", *more, "--output", "run"], ranks)
                    self.assertRegex(self.message_of(result, UNREADABLE), "a network is not finite or has numbers beyond 1e.08: .*--step")


if __name__ == "__main__":
    unittest.main()
