"""--feature-share: histograms of features that clients release before the first round, and the constants that come of them."""

import math
import random
import shutil
import unittest

import h5py

from histogram_case import *

RECORDS = 1500  # of each
SHARE = 0.1
UNITS = {"age": (45, 12), "income": (5e4, 3e4), "rate": (0.02, 0.01)}


def table(records=CLIENTS * RECORDS, seed=5, person=False):
    """Features in their own units, all of which tell the label alike."""
    draw = random.Random(seed)
    lines = [",".join([*(["person"] if person else []), *UNITS, "y"])]
    for i in range(records):
        label = draw.choice([-1, 1])
        row = [f"{mean + deviation * draw.gauss(0.4 * label, 1):.5g}" for mean, deviation in UNITS.values()]
        lines.append(",".join([*([str(i // 3)] if person else []), *row, str(label)]))
    return "\n".join(lines) + "\n"


def chosen(result):
    return [line for line in result.err.splitlines() if line.startswith("tuning: standardise ")]


class Features(HistogramCase):
    def setUp(self):
        super().setUp()
        self.write("data.csv", table())
        self.words = ["--source", "data.csv", "--clients", CLIENTS, "--partition", "iid", "--intercept", "--tuning", "auto",
                      "--score-share", 0]
        self.mu = [*self.words, "--mechanism", "gaussian", "--mu", 0.6]

    def rows(self, path):
        return [json.loads(line) for line in (self.folder / path).read_text().splitlines()]

    def scales(self, output):
        text = self.config(output)["standardise"]
        self.assertTrue(text.startswith("values:"), text)
        return [(0, 1, 0) if each == "drop" else tuple(map(float, each.split("/"))) for each in text[len("values:"):].partition(",label=")[0].split(",")]

    def test_records_in_their_own_units_are_learned(self):
        self.write("test.csv", table(2000, seed=6))
        accuracy, promised = {}, {}
        for command in ("omd", "fedavg"):
            for name, words in (("scaled", []), ("own", ["--feature-share", 0])):
                result = self.run_alone([command, *self.mu, *words, "--test", "test.csv", "--output", f"{command}-{name}", "--json"])
                accuracy[command, name] = result.summary()["metrics"]["test"]["accuracy"]
                promised[name] = result.summary()["tuning"]["most_lost"]
                self.assertIn({"scaled": f"expect to lose at most {promised[name] or 0:g} points. What would help most is ",
                               "own": "what is lost cannot be foretold: features may have units of their own. --standardise"}[name], result.err)
            self.assertIsNone(promised["own"])
            self.assertLess(promised["scaled"], 5)
            self.assertGreater(100 * accuracy[command, "scaled"], 75.6 - promised["scaled"])  # of 75.6 that the best model has
            for (mean, deviation), (found, scale, clip) in zip(UNITS.values(), self.scales(f"{command}-scaled")):
                self.assertAlmostEqual(found, mean, delta=0.6 * deviation)
                self.assertLess(abs(math.log2(scale / deviation)), 1)
                self.assertEqual(clip, 5)
            self.assertGreater(accuracy[command, "scaled"], accuracy[command, "own"] + 0.05, accuracy)
            self.assertNotIn("standardise", self.config(f"{command}-own"))
            notes = self.summary_in(f"{command}-scaled")["notes"]
            self.assertTrue([note for note in notes if "features are standardised and clipped" in note], notes)
            for name in ("scaled", "own"):
                notes = " ".join(self.summary_in(f"{command}-{name}")["notes"])
                self.assertEqual("features: nothing shows their units" in notes, name == "own", notes)

    def test_units_that_nothing_shows_have_a_note(self):
        """Laplace noise releases no constants; given ones are known."""
        note = "features: nothing shows their units"
        laplace = [*self.words, "--mechanism", "laplace", "--epsilon", 2, "--noise-key", "seed"]
        self.write("constants.csv", "feature,mean,sd\n" + "".join(f"{name},{mean},{deviation}\n" for name, (mean, deviation) in UNITS.items()))
        for command in ("omd", "fedavg"):
            for name, words, says in (("own", [], True), ("given", ["--standardise", "constants.csv"], False)):
                result = self.run_alone([command, *laplace, *words, "--output", f"{command}-{name}", "--json"])
                notes = " ".join(result.summary()["notes"])
                self.assertEqual(note in notes, says, notes)
                self.assertEqual("or choose --mechanism gaussian" in notes, says, notes)

    def test_a_norm_of_the_constant_alone_shows_no_units(self):
        """Beside an intercept's 1 the norm of three features of size 0.001 is that of features of one scale. Without a note such a run
        ended at a coin's accuracy. Histograms that find one scale are none of these."""
        note = "features: nothing shows their units"
        for name, deviation, words, says in (
                ("laplace", 1e-3, ["--mechanism", "laplace", "--epsilon", 4], True),
                ("gaussian", 1e-3, ["--mechanism", "gaussian", "--mu", 0.6, "--feature-share", 0], True),
                ("of-one-scale", 1, ["--mechanism", "gaussian", "--mu", 0.6, "--feature-share", SHARE], False)):
            draw = random.Random(8)
            self.write("data.csv", "a,b,c,y\n" + "".join(
                ",".join(f"{deviation * draw.gauss(0.4 * label, 1):.7f}" for _ in range(3)) + f",{label}\n"
                for label in (draw.choice([-1, 1]) for _ in range(CLIENTS * RECORDS))))
            result = self.run_alone(["omd", *self.words, *words, "--noise-key", "seed", "--output", name, "--json"])
            notes = " ".join(result.summary()["notes"])
            self.assertEqual(note in notes, says, notes)

    def test_lines_of_0_and_1_for_columns_in_units_of_their_own_have_a_note(self):
        """They leave a column as it is, which the rule takes for standardised: R2 was half of what runs without them have, without a word."""
        draw = random.Random(8)
        rows = [[draw.gauss(0, scale) for scale in (1000, 1, 0.01)] for _ in range(CLIENTS * RECORDS)]
        self.write("data.csv", "a,b,c,y\n" + "".join(f"{a:.5g},{b:.5g},{c:.5g},{5 + a / 100 + 10 * b:.5g}\n" for a, b, c in rows))
        words = ["omd", *self.words, "--loss", "squared", "--mechanism", "gaussian", "--mu", 0.6, "--noise-key", "seed", "--json"]
        for name, deviations, says in (("neutral", (1, 1, 1), True), ("right", (1000, 1, 0.01), False)):
            lines = "".join(f"{column},0,{deviation}\n" for column, deviation in zip("abc", deviations))
            self.write("constants.csv", f"feature,mean,sd\n{lines}y,5,14\n")
            result = self.run_alone([*words, "--standardise", "constants.csv", "--output", name])
            notes = " ".join(result.summary()["notes"])
            self.assertEqual("Correct its lines, or leave it out" in notes, says, notes)

    def test_networks_of_features_of_one_scale_are_not_said_to_have_units(self):
        """Their parameters are more than their features."""
        draw = random.Random(8)
        self.write("data.csv", "a,b,c,y\n" + "".join(
            ",".join(f"{draw.gauss(0.4 * label, 1):.4f}" for _ in range(3)) + f",{label}\n"
            for label in (draw.choice([-1, 1]) for _ in range(CLIENTS * RECORDS))))
        words = [word for word in self.mu if word != "--intercept"] + ["--loss", "logistic", "--model", "mlp:3-8-1", "--feature-share", 0]
        notes = " ".join(self.run_alone(["omd", *words, "--noise-key", "seed", "--output", "run", "--json"]).summary()["notes"])
        self.assertNotIn("features: nothing shows their units", notes)

    def test_no_norms_beside_them(self):
        result = self.good(1, [*self.mu, "--scale-share", 0, "--output", "run"])
        self.assertEqual(len(chosen(result)), 1, result.err)
        privacy = self.summary_in("run")["privacy"]
        self.assertIsNone(privacy["norms"])
        self.assertAlmostEqual(privacy["mu"], 0.6, delta=1e-12)

    def test_networks_learn_them_too(self):
        words = [word for word in self.mu if word != "--intercept"] + ["--loss", "logistic", "--model", "mlp:3-4-1"]
        result = self.good(1, [*words, "--test", self.write("test.csv", table(2000, seed=6)), "--output", "run"])
        self.assertEqual(len(chosen(result)), 1)
        summary = self.summary_in("run")
        self.assertGreater(summary["metrics"]["test"]["accuracy"], 0.65)

    @fewer
    def test_the_same_bits_on_all_layouts(self):
        self.check_layouts(self.mu, "standardise", layouts((1, 4, 2)))

    def test_a_record_pays_its_price_in_all(self):
        privacy = self.summary_of(1, [*self.mu, "--noise-correlation", "none", "--delta", 1e-6, "--noise-key", "seed"], "run")["privacy"]
        within = float(self.config("run")["scale-share"])
        features, looks, gradient = (0.6 * math.sqrt(share) for share in (SHARE, (1 - SHARE) * within, (1 - SHARE) * (1 - within)))
        self.assertLessEqual(privacy["mu"], 0.6)
        self.assertAlmostEqual(privacy["mu"], 0.6, delta=1e-12)
        for found, expected in ((privacy["mu_per_release"], gradient), (privacy["features"]["mu"], features), (privacy["norms"]["mu"], looks)):
            self.assertAlmostEqual(found, expected, delta=1e-12)
        self.assertGreater(within, 0)
        self.assertEqual(privacy["features"]["share"], SHARE)
        batch = int(self.config("run")["batch"])
        whole = math.hypot(math.sqrt(privacy["releases"]) * batch * gradient, RECORDS * features, RECORDS * looks)
        self.assertAlmostEqual(privacy["client_mu"], whole, delta=1e-9 * whole)
        self.assertIn("released once histograms or means of every feature and of the label of all its records", privacy["statement"])
        result = self.run_alone(["privacy", "ledger", "run/private/0/ledger", "--json"])
        for losses in json.loads(result.out)["losses"]:
            self.assertAlmostEqual(losses["record"]["mu"], 0.6, delta=1e-9)
            self.assertAlmostEqual(losses["client_total"]["mu"] / whole, 1, delta=1e-9)

    def test_several_passes_share_a_total(self):
        privacy = self.summary_of(1, [*self.words, "--mechanism", "gaussian", "--total-epsilon", 3], "run")["privacy"]
        self.assertEqual(self.config("run")["epochs"], "16")
        self.assertLessEqual(privacy["epsilon"], 3)
        self.assertAlmostEqual(privacy["epsilon"], 3, delta=1e-6)
        self.assertAlmostEqual(privacy["features"]["mu"], math.sqrt(SHARE) * privacy["mu"], delta=1e-9)

    def test_the_ledger_has_it_before_the_others(self):
        self.good(1, [*self.mu, "--scale-share", 0, "--output", "run", "--ledger", "ledger"])
        kinds = [(row["kind"], row["run"].rpartition(":")[2] if ":" in row["run"] else "rounds")
                 for row in self.rows("ledger") if "run" in row]
        self.assertEqual(kinds[:4], [(kind, "features") for kind in ("open", "reserve", "end")] + [("open", "rounds")])
        summary = self.summary_in("run")
        self.assertEqual(summary["privacy"]["ledger"]["earlier_runs"], 0)
        self.assertAlmostEqual(summary["privacy"]["ledger"]["record_epsilon"], summary["privacy"]["record_epsilon"], delta=1e-9)

    def test_a_model_applies_to_records_in_their_own_units(self):
        self.good(1, [*self.mu, "--output", "run", "--test", self.write("test.csv", table(2000, seed=6))])
        summary = self.summary_in("run")
        scored = self.succeeded(self.run_alone(["score", "run", "--source", "test.csv", "--json"]))
        self.assertAlmostEqual(json.loads(scored.out)["metrics"]["accuracy"], summary["metrics"]["test"]["accuracy"], delta=1e-9)

    def test_a_configuration_has_its_result(self):
        first = self.summary_of(1, [*self.mu, "--noise-key", "seed"], "run")
        again = self.run_alone(["omd", "--config", "run/config.ini", "--output", "again", "--json"], as_they_are=True)
        self.assertEqual(chosen(again), [])
        for key in ("mu", "client_mu", "mu_per_release", "norms", "features"):
            self.assertEqual(again.summary()["privacy"][key], first["privacy"][key], key)
        self.assertEqual(again.summary()["final_model"], first["final_model"])
        self.assertFalse([row for row in self.rows("again/private/0/ledger") if row.get("run", "").endswith((":norms", ":features"))])

    def test_choices_and_notes_stay_where_a_client_is_lost(self):
        """Those of the start that released, and of no rule for the clients that are left."""
        words = [*self.mu, "--batch", 10, "--noise-key", "seed", "--checkpoint-every", 50, "--progress", "off"]
        self.good(2, [*words, "--output", "whole"])
        with interrupted("checkpoint:1"):
            self.run_ranks(2, [*words, "--output", "run"])
        result = self.run_ranks(2, ["--resume", "run", "--lost", 1])
        self.assertEqual((result.code, chosen(result)), (0, []), result)
        whole, left = self.summary_in("whole"), self.summary_in("run")
        self.assertEqual([loss["clients"] for loss in left["lost"]], [[1]])
        self.assertNotEqual(left["final_model"], whole["final_model"])
        self.assertEqual(left["tuning"], whole["tuning"])
        self.assertTrue(whole["notes"])
        self.assertEqual([note for note in whole["notes"] if note not in left["notes"]], [])

    def test_figures_that_were_shared_before_the_rounds_stay_named(self):
        """Sums of columns, by which a run without noise standardises them: also where the run begins anew."""
        words = [*self.words, "--mechanism", "none", "--checkpoint-every", 50, "--progress", "off"]
        self.good(2, [*words, "--output", "whole"])
        shared = self.summary_in("whole")["privacy"]["shared_metrics"]
        self.assertTrue([each for each in shared if "sums of squares of each client's columns" in each], shared)
        with interrupted("after rename /run-id:0"):
            self.run_ranks(2, [*words, "--output", "run"])
        self.good(2, ["--resume", "run"])
        self.assertEqual(self.summary_in("run")["privacy"]["shared_metrics"], shared)

    def test_a_resumed_run_does_not_release_again(self):
        """It has the choices and notes of the start that released, from a checkpoint and without one."""
        words = [*self.mu, "--batch", 10, "--noise-correlation", "none", "--noise-key", "seed", "--checkpoint-every", 50, "--progress", "off"]
        self.good(2, [*words, "--output", "whole"])
        whole = self.summary_in("whole")
        self.assertTrue([note for note in whole["notes"] if "features are standardised" in note], whole["notes"])
        for name, point in (("kept", "checkpoint:0"), ("anew", "after rename /run-id:0")):
            with self.subTest(name):
                with interrupted(point):
                    self.run_ranks(2, [*words, "--output", name])
                notes = (self.folder / name / "notes.json").read_text()
                self.write(f"{name}/notes.json", notes[:-9])
                damaged = self.run_ranks(2, ["--resume", name])
                self.assertEqual((damaged.code, f"{name}/notes.json' is damaged" in damaged.err), (3, True), damaged)
                self.write(f"{name}/notes.json", notes)
                result = self.run_ranks(2, ["--resume", name])
                self.assertEqual((result.code, chosen(result)), (0, []), result)
                resumed = self.summary_in(name)
                for key in ("mu", "client_mu", "norms", "features"):
                    self.assertEqual(whole["privacy"][key], resumed["privacy"][key], key)
                self.assertEqual(whole["final_model"], resumed["final_model"])
                self.assertEqual(whole["tuning"], resumed["tuning"])
                self.assertEqual([note for note in whole["notes"] if note not in resumed["notes"]], [])
                opened = [row["run"] for row in self.rows(f"{name}/private/0/ledger") if row["kind"] == "open"]
                self.assertEqual(sum(run.endswith(":features") for run in opened), 1)

    def test_ledgers_charge_the_same_however_ranks_share_clients(self):
        """Ranks with few and with many records, which one rank goes on with."""
        for client in range(CLIENTS):
            self.write(f"{client}.csv", table((1, 1, 2, 2)[client] * RECORDS, seed=client))
        words = ["--source", "{client}.csv", *self.mu[2:], "--noise-key", "seed", "--checkpoint-every", 50, "--progress", "off"]
        words = [word for word in words if word not in ("--partition", "iid")]
        whole = self.summary_of(2, words, "whole")["privacy"]
        with interrupted("checkpoint:0"):
            self.run_ranks(2, [*words, "--output", "run"])
        resumed = self.run_ranks(1, ["--resume", "run", "--json"]).summary()["privacy"]

        def charged(path):
            losses = json.loads(self.run_alone(["privacy", "ledger", path, "--json"]).out)["losses"]
            return {client: [each[kind]["mu"] for kind in ("record", "one_per_batch", "client_total")]
                    for each in losses for client in range(each["client"], each["through"] + 1)}

        before = {**charged("whole/private/0/ledger"), **charged("whole/private/1/ledger")}
        self.assertEqual(len(before), CLIENTS)
        self.assertEqual(charged("run/private/0.1/ledger"), before)
        self.assertEqual(resumed["client_epsilon"], whole["client_epsilon"])
        self.assertAlmostEqual(max(mu[-1] for mu in before.values()) / whole["client_mu"], 1, delta=1e-12)

    def test_a_command_that_is_repeated_with_its_keys_takes_it_up(self):
        words = [*self.mu, *self.keys(), "--ledger", "ledger"]
        first = self.good(1, [*words, "--output", "run-1"])
        again = self.good(1, [*words, "--output", "run-2"])
        self.assertEqual((len(chosen(first)), chosen(first)), (1, chosen(again)))
        losses = json.loads(self.run_alone(["privacy", "ledger", "ledger", "--json"]).out)["losses"][0]["record"]
        share_within = float(self.config("run-1")["scale-share"])
        self.assertAlmostEqual(losses["mu"], 0.6 * math.sqrt(2 - SHARE - (1 - SHARE) * share_within), delta=1e-9)

    def test_persons_count_once(self):
        self.write("data.csv", table(3 * CLIENTS * RECORDS, person=True))
        words = [*self.mu, "--unit", "person", "--person", "person", "--output", "run"]
        result = self.good(1, words)
        self.assertEqual(len(chosen(result)), 1, result.err)
        for (mean, deviation), (found, *_) in zip(UNITS.values(), self.scales("run")):
            self.assertAlmostEqual(found, mean, delta=0.6 * deviation)

    def test_categories_stay_as_they_are(self):
        lines = table().splitlines()
        colours = ["red", "green", "blue"]
        self.write("data.csv", "\n".join(["colour," + lines[0], *(f"{colours[i % 3]},{line}" for i, line in enumerate(lines[1:]))]) + "\n")
        self.write("encode.csv", "column,category,value\ncolour,red,1\ncolour,green,2\ncolour,blue,3\n")
        result = self.good(2, [*self.mu, "--encode", "onehot:encode.csv", "--output", "run"])
        self.assertIn("mean and deviation of 3 of 3 features", result.err)
        self.assertEqual(self.scales("run")[0], (0, 1), "and are not clipped")
        self.assertEqual(len(self.scales("run")), 4)

    def test_missing_values_move_no_mean(self):
        """They become 0 once features are standardised by the others, whether indicators say where or not; on any ranks."""
        lines = (self.folder / "data.csv").read_text().splitlines()
        rows = [line.split(",") for line in lines[1:]]
        shares = ["--feature-share", 0.2, "--scale-share", 0]  # noise decides whether further looks follow
        whole = self.good(1, [*self.mu, *shares, "--output", "whole"])
        for i, row in enumerate(rows):
            row[i % 3] = row[i % 3] if i % 4 else ["", "NA", "?"][i % 3]
        self.write("data.csv", "\n".join([lines[0], *map(",".join, rows)]) + "\n")
        self.assertIn("mean and deviation of 3 of 3 features", whole.err)
        words = [*self.mu, *shares, "--missing"]
        self.good(1, [*words, "zero", "--output", "zero"])
        self.check_layouts([*words, "indicator"], "standardise", (1, 2, 4))
        for run in ("zero", "run-1"):
            for (mean, deviation, *_), (expected, spread, *_) in zip(self.scales(run), self.scales("whole"), strict=True):
                self.assertAlmostEqual(mean, expected, delta=0.2 * spread)
                self.assertLess(abs(math.log(deviation / spread)), math.log(1.3))

    def test_nothing_is_released_where_it_would_be_of_no_use(self):
        self.write("constants.csv", "feature,mean,sd\n" + "".join(f"{name},{m},{s}\n" for name, (m, s) in UNITS.items()))
        self.write("start.csv", "0,0,0,0\n" * CLIENTS)
        asked = ["--feature-share", 0.2]
        for name, (words, why) in {
                "standardised": (["--standardise", "constants.csv"], "scaled already"), "scaled": (["--scale", 0.1], "scaled already"),
                "norm": (["--norm", 3], "--norm"), "clip": (["--clip", 3], "--clip"), "step": (["--step", 0.1], "--step"),
                "start": (["--start", "start.csv"], "the start"), "domain": (["--domain", "ball:3"], "the domain")}.items():
            with self.subTest(name):
                result = self.good(1, [*self.mu, *asked, *words, "--output", name])
                self.assertEqual(chosen(result), [], name)
                self.assertRegex(result.err, rf"features are left as they are: .*{why}")
                self.assertIsNone(self.summary_in(name)["privacy"]["features"])
                self.assertEqual(self.config(name)["feature-share"], "0")
        laplace = self.good(1, [*self.words, "--mechanism", "laplace", "--epsilon", 1, *asked, "--output", "laplace"])
        self.assertRegex(laplace.err, "features are left as they are: .*Gaussian")

    def test_sparse_records_to_test_on_leave_features_as_they_are(self):
        self.write("test.svm", "1 1:45 2:50000 3:0.02\n-1 1:40 2:40000\n")
        result = self.good(1, [*self.mu, "--test", "test.svm", "--output", "run"])
        self.assertEqual(chosen(result), [])
        self.assertIn("features are left as they are: those of --test are sparse", result.err)
        self.assertNotIn(":features", (self.folder / "run/private/0/ledger").read_text())

    def test_norms_show_that_features_have_one_scale(self):
        """And histograms of them cost nothing."""
        draw = random.Random(8)
        self.write("data.csv", "a,b,c,y\n" + "".join(f"{draw.gauss(0, 1)},{draw.gauss(0, 1)},{draw.gauss(0, 1)},{draw.choice([-1, 1])}\n"
                                                    for _ in range(CLIENTS * RECORDS // 7)))
        self.assertEqual(chosen(self.good(1, [*self.words, "--mechanism", "gaussian", "--mu", 0.35, "--noise-key", "seed", "--output", "run"])), [])
        self.assertEqual((self.config("run")["feature-share"], self.config("run")["scale-share"]), ("0", "0.01"))
        privacy = self.summary_in("run")["privacy"]
        self.assertAlmostEqual(privacy["mu"], 0.35, delta=1e-12)
        self.assertAlmostEqual(privacy["ledger"]["record_epsilon"], privacy["record_epsilon"], delta=1e-9)
        lines = (self.folder / "data.csv").read_text().splitlines()
        self.write("data.csv", "\n".join([lines[0], *(",".join([*(f"{float(each) / 1000:.6f}" for each in row[:3]), row[3]])
                                                      for row in (line.split(",") for line in lines[1:]))]) + "\n")
        result = self.good(1, [*self.words, "--mechanism", "gaussian", "--mu", 0.35, "--noise-key", "seed", "--output", "tiny"])
        self.assertIn("standardise values:", " ".join(chosen(result)), "beside the constant of an intercept their norm is that of one scale")

    def test_histograms_tell_more_of_scales_than_norms(self):
        """Where they cost little they are asked: the norm of a typical record is that of one scale, and one feature is far from 0."""
        draw = random.Random(8)
        def rows(count):
            yield "a,b,c,d,y"
            for _ in range(count):
                label = draw.choice([-1, 1])
                yield ",".join(f"{offset + draw.gauss(0.2 * label, 1) / 4:.4f}" for offset in (2, 0, 0, 0)) + f",{label}"
        self.write("data.csv", "\n".join(rows(CLIENTS * RECORDS)) + "\n")
        self.assertIn("standardise values:", chosen(self.good(1, [*self.mu, "--noise-key", "seed", "--output", "run"]))[0])

    def test_features_far_from_zero_have_no_norm_of_one_scale(self):
        """Their directions are nearly those of the constant: as they are, models of three classes have lost half of what can be learned."""
        draw = random.Random(9)
        self.write("data.csv", "a,b,c,d,e,y\n" + "".join(
            ",".join(f"{draw.gauss(3 + shift * label, 0.5):.4f}" for shift in (0.5, -0.3, 0, 0, 0)) + f",{label}\n"
            for label in (draw.choice([0, 1, 2]) for _ in range(CLIENTS * RECORDS))))
        self.good(1, [*self.mu, "--loss", "softmax:3", "--output", "run"])
        for mean, *_ in self.scales("run"):
            self.assertAlmostEqual(mean, 3, delta=1)

    def test_features_of_one_scale_stay_as_they_are(self):
        draw = random.Random(8)
        lines = ["a,b,c,y"]
        for _ in range(CLIENTS * RECORDS):
            label = draw.choice([-1, 1])
            lines.append(",".join(f"{draw.gauss(0.3 * label, 1):.4f}" for _ in range(3)) + f",{label}")
        self.write("data.csv", "\n".join(lines) + "\n")
        first = self.good(1, [*self.mu, "--feature-share", SHARE, "--noise-key", "seed", "--output", "run"])
        self.assertIn("tuning: standardise none: features have one scale", first.err)
        config = self.config("run")
        self.assertEqual((config["feature-share"], config.get("standardise")), ("0.1", None))
        summary = self.summary_in("run")
        self.assertAlmostEqual(summary["privacy"]["mu"], 0.6, delta=1e-12)
        self.assertEqual([note for note in summary["notes"] if "standardised" in note], [])
        again = self.run_alone(["omd", "--config", "run/config.ini", "--output", "again", "--json"], as_they_are=True)
        self.assertEqual(again.summary()["final_model"], summary["final_model"])

    def test_few_records_pay_nothing_and_answer_a_constant(self):
        """Nothing could show how large values are, and in units of their own they would be of no use."""
        lines = table(40).splitlines()
        self.write("data.csv", "\n".join([lines[0], *(line.rpartition(",")[0] + (",-1" if i % 4 == 0 else ",1") for i, line in enumerate(lines[1:]))]) + "\n")
        result = self.good(1, [*self.words, "--mechanism", "gaussian", "--mu", 0.1, "--epochs", 16, "--test", self.write("test.csv", table(40, seed=9)), "--output", "run"])
        self.assertEqual(self.scales("run"), [(0, 1, 0)] * 3)
        self.assertRegex(result.err, "no feature is learned from: .*--ranges")
        self.assertIn("expect a constant answer", result.err)
        privacy = self.summary_in("run")["privacy"]
        self.assertIsNone(privacy["features"])
        self.assertAlmostEqual(privacy["mu"], 0.4, delta=1e-12)
        self.assertEqual(len(set(self.predictions("run", "test.csv"))), 1)

    RANGED = {"spread": (0, 200, lambda draw: draw.expovariate(1) * 2), "year": (1900, 2100, lambda draw: 1980 + 15 * draw.gauss(0, 1)),
              "degrees": (-50, 50, lambda draw: -8 + 4 * draw.gauss(0, 1))}

    def ranged(self, records, seed, name, number=False):
        """A table whose values fill little of their ranges; the label is a class, or a number."""
        draw = random.Random(seed)
        lines = [",".join([*self.RANGED, "y"])]
        for _ in range(records):
            row = [value(draw) for *_, value in self.RANGED.values()]
            score = 2 * (row[0] - 2) / 2 + (row[1] - 1980) / 15 - (row[2] + 8) / 4
            label = f"{700 + 5 * (score + 0.5 * draw.gauss(0, 1)):.4f}" if number else 1 if score + draw.gauss(0, 1) > 0 else -1
            lines.append(",".join([*(f"{value:.5g}" for value in row), str(label)]))
        self.write("ranges.csv", "feature,low,high\n" + "".join(f"{name},{low},{high}\n" for name, (low, high, _) in self.RANGED.items()) +
                   ("y,600,800\n" if number else ""))
        return self.write(name, "\n".join(lines) + "\n")

    def test_ranges_tell_where_histograms_look(self):
        """A year has no octave of its own; its distance from the start of its range has."""
        self.ranged(2000, 1, "data.csv")
        words = [*self.words, "--mechanism", "gaussian", "--total-epsilon", 1, "--noise-key", "seed",
                 "--test", self.ranged(1000, 2, "test.csv"), "--ranges", "ranges.csv"]
        self.check_layouts(words, "standardise", (1, 2, 4))
        summary = self.summary_in("run-1")
        for (found, scale, clip), mean, deviation in zip(self.scales("run-1"), (2, 1980, -8), (2, 15, 4)):
            self.assertAlmostEqual(found, mean, delta=1.5 * deviation)
            self.assertLess(abs(math.log2(scale / deviation)), 1.5)
            self.assertEqual(clip, 5)
        self.assertGreater(summary["metrics"]["test"]["accuracy"], 0.8)
        self.assertIsNotNone(summary["tuning"]["most_lost"])
        self.assertNotIn("ranges", self.config("run-1"), "standardise has taken their place")
        again = self.run_alone(["omd", "--config", "run-1/config.ini", "--output", "again", "--json"], as_they_are=True)
        self.assertEqual(again.summary()["final_model"], summary["final_model"])

    def test_ranges_that_hold_no_values(self):
        """All values count as the end that is nearest: the run says so, and foretells no loss. It promised a small one."""
        self.ranged(2000, 1, "data.csv")
        words = [*self.words, "--mechanism", "gaussian", "--total-epsilon", 1, "--noise-key", "seed", "--ranges", "ranges.csv"]
        self.assertNotIn("Check --ranges", self.good(1, [*words, "--output", "right"]).err)
        for wrong, names in ((1, list(self.RANGED)[:1]), (3, list(self.RANGED))):
            lines = [f"{name},{1e6 if k < wrong else low},{2e6 if k < wrong else high}" for k, (name, (low, high, _)) in enumerate(self.RANGED.items())]
            self.write("ranges.csv", "\n".join(["feature,low,high", *lines]) + "\n")
            err = " ".join(self.good(1, [*words, "--output", f"wrong-{wrong}"]).err.split())
            self.assertIn(f"values of some features at an end of their ranges alone, where all beyond it count too ({', '.join(names)})", err)
            self.assertEqual([scale[0] for scale in self.scales(f"wrong-{wrong}")[:wrong]], [1e6] * wrong)
            self.assertNotIn("expect to lose at most", err)

    def test_ranges_and_few_records_give_means(self):
        """Five hundred records that no histogram would show."""
        self.ranged(500, 1, "data.csv")
        words = [*self.words, "--mechanism", "gaussian", "--total-epsilon", 0.3, "--noise-key", "seed", "--ranges", "ranges.csv"]
        self.check_layouts(words, "standardise", (1, 2, 4))
        result = self.good(2, [*words, "--test", self.ranged(1000, 2, "test.csv"), "--output", "tested"])
        self.assertRegex(chosen(result)[0], "mean and deviation of 3 of 3 features by released means within ranges, which cost each record 0.2 of")
        privacy = self.summary_in("tested")["privacy"]
        self.assertEqual(privacy["features"]["share"], 0.2)
        self.assertLessEqual(privacy["epsilon"], 0.3)
        self.assertAlmostEqual(privacy["features"]["mu"], 0.2 ** 0.5 * privacy["mu"], delta=1e-9)
        rows = self.rows("tested/private/0/ledger")
        self.assertTrue([row for row in rows if row.get("run", "").endswith(":features") and row["kind"] == "end"])
        predictions = self.predictions("tested", "test.csv")
        self.assertGreater(len(set(predictions)), 100)

    def test_ranges_take_the_place_of_features_that_are_not_found(self):
        """Labels need histograms, so that features have no means; nothing is dropped."""
        self.ranged(150, 1, "data.csv", number=True)
        self.write("ranges.csv", "".join(self.folder.joinpath("ranges.csv").read_text().splitlines(True)[:-1]))
        result = self.good(1, [*self.words, "--loss", "squared", "--mechanism", "gaussian", "--total-epsilon", 0.5, "--ranges", "ranges.csv", "--output", "run"])
        scales = self.config("run")["standardise"].split("values:")[1].split(",")
        self.assertEqual(scales[:3], ["100/33.3333/5", "2000/33.3333/5", "0/16.6667/5"])
        self.assertNotIn("dropped", result.err)

    def test_ranges_of_labels_show_how_large_they_are(self):
        self.ranged(2000, 1, "data.csv", number=True)
        result = self.good(2, [*self.words, "--loss", "squared", "--mechanism", "gaussian", "--total-epsilon", 2, "--noise-key", "seed", "--ranges", "ranges.csv",
                               "--test", self.ranged(1000, 2, "test.csv", number=True), "--output", "run"])
        summary = self.summary_in("run")
        self.assertGreater(summary["metrics"]["test"]["r2"], 0.8)
        self.assertLess(abs(sum(self.predictions("run", "test.csv")) / 1000 - 700), 5, "in units of their own")
        self.assertNotIn("are a guess", result.err)

    def test_ranges_and_few_records_give_means_of_labels_too(self):
        """A third of the price of means tells where labels are: no histogram of theirs is paid for."""
        self.ranged(500, 1, "data.csv", number=True)
        test = self.ranged(300, 2, "test.csv", number=True)
        self.write("ranges.csv", (self.folder / "ranges.csv").read_text().replace("y,600,800", "y,600,1200"))
        words = [*self.words, "--loss", "squared", "--mechanism", "gaussian", "--total-epsilon", 0.4, "--noise-key", "seed", "--ranges", "ranges.csv"]
        self.check_layouts(words, "standardise", (1, 2, 4))
        result = self.good(1, [*words, "--test", test, "--output", "tested"])
        self.assertRegex(chosen(result)[0], "mean and deviation of 3 of 3 features and of labels by released means within ranges, which cost each record 0.2 of")
        mean, deviation = map(float, self.config("tested")["standardise"].split("label=")[1].split("/"))
        self.assertLess(abs(mean - 700), 75, "nearer than the middle of the range, 900")
        self.assertLess(deviation, 100, "nearer than a sixth of the range")
        self.assertEqual(float(self.config("tested")["scale-share"]), 0)
        self.assertNotIn("norms", self.config("tested")["histogram-price"])
        self.assertIn("what is lost cannot be foretold: values may fill little of their ranges", result.err)
        self.good(1, [*words, "--scale-share", 0.2, "--output", "asked"])
        self.assertIn("norms=", self.config("asked")["histogram-price"])

    def test_labels_in_the_outer_part_of_their_range_and_little_signal_have_a_constant(self):
        """All of the price goes to the constant, since labels may be far from the part of their range where models start."""
        self.ranged(120, 1, "data.csv", number=True)
        ranges = (self.folder / "ranges.csv").read_text().replace("y,600,800", "y,600,1200")
        test = self.ranged(300, 2, "test.csv", number=True)
        self.write("ranges.csv", ranges)
        words = [*self.words, "--loss", "squared", "--mechanism", "gaussian", "--total-epsilon", 0.3, "--noise-key", "seed", "--ranges", "ranges.csv"]
        self.check_layouts(words, "standardise", (1, 2, 4))
        result = self.good(1, [*words, "--test", test, "--output", "tested"])
        self.assertRegex(result.err, "no feature is learned from: noise would outweigh .* More records or a higher price")
        self.assertNotIn("--ranges says it", result.err)
        self.assertIn("expect a constant answer", result.err)
        self.assertIsNone(self.summary_in("tested")["privacy"]["features"])
        answers = set(self.predictions("tested", "test.csv"))
        self.assertEqual(len(answers), 1)
        self.assertLess(abs(answers.pop() - 700), 150, "runs start at 825, a quarter of the way from the middle of the range to the end near zero")
        result = self.good(1, [*words[:-6], "--total-epsilon", 2, *words[-4:], "--test", test, "--output", "more"])
        self.assertNotIn("no feature is learned from", result.err)

    def test_classes_are_not_scaled(self):
        """Labels 0 and 2 of a range would all have been of one class."""
        self.ranged(200, 1, "data.csv", number=True)
        for loss in ("logistic", "poisson"):
            for tuning in ("auto", "off"):
                result = self.run_alone(["omd", "--source", "data.csv", "--clients", 2, "--loss", loss, "--tuning", tuning, "--mechanism", "none", "--ranges", "ranges.csv"])
                self.assertNotEqual(result.code, 0)
                self.assertRegex(result.err, "ranges.csv has a line for the label: labels are ")

    def test_ranges_that_are_far_too_wide_promise_nothing(self):
        self.ranged(500, 1, "data.csv")
        self.write("ranges.csv", "feature,low,high\nspread,0,50000\nyear,-90000,90000\ndegrees,-20000,20000\n")
        result = self.good(1, [*self.words, "--mechanism", "gaussian", "--total-epsilon", 0.3, "--noise-key", "seed", "--ranges", "ranges.csv", "--test", self.ranged(300, 2, "test.csv"), "--output", "run"])
        self.write("ranges.csv", "")
        self.assertIn("what is lost cannot be foretold: values may fill little of their ranges", result.err)

    def test_values_of_one_size_are_named(self):
        """A seal is nearly the same for all records, and no look shows how it differs."""
        def sealed(name):
            lines = (self.folder / name).read_text().splitlines()
            return self.write(name, "seal," + lines[0] + "\n" + "".join(f"{1e5 + 0.01 * (i % 7)},{line}\n" for i, line in enumerate(lines[1:])))

        self.ranged(3000, 1, "data.csv")
        sealed("data.csv")
        self.ranged(300, 2, "test.csv")
        result = self.good(1, [*self.words, "--mechanism", "gaussian", "--total-epsilon", 3, "--noise-key", "seed", "--test", sealed("test.csv"), "--output", "run"])
        named = "of one size, not how they differ [(]seal[)]"
        self.assertRegex(result.err, named)
        self.assertNotIn("cannot be foretold", result.err)
        lines = (self.folder / "data.csv").read_text().splitlines()
        self.write("data.csv", "\n".join([lines[0], lines[1].replace(lines[1].split(",")[0], "", 1), *lines[2:]]) + "\n")
        flagged = self.good(2, [*self.words, "--mechanism", "gaussian", "--total-epsilon", 3, "--noise-key", "seed", "--missing", "indicator", "--output", "flagged"])
        self.assertRegex(flagged.err, named, "among other features than the table has columns")
        self.write("data.csv", "a,b,y\n" + "".join(f"{1e5 + i % 2},{2e5 + i % 3},{1 if i % 3 else -1}\n" for i in range(6000)))
        result = self.good(1, [*self.words, "--mechanism", "gaussian", "--total-epsilon", 3, "--noise-key", "seed", "--test", self.write("t.csv", "a,b,y\n100001,200001,1\n100000,200002,-1\n"), "--output", "two"])
        self.assertIn("what is lost cannot be foretold: histograms do not show how values differ", result.err)

    def test_figures_of_clipped_labels_say_so(self):
        self.ranged(500, 1, "data.csv", number=True)
        self.ranged(300, 2, "test.csv", number=True)
        self.write("ranges.csv", "feature,low,high\nspread,0,200\nyear,1900,2100\ndegrees,-50,50\ny,0,700\n")
        result = self.good(1, [*self.words, "--loss", "squared", "--mechanism", "none", "--test", "test.csv", "--ranges", "ranges.csv", "--output", "run"])
        self.assertRegex(result.err, r"1\d\d of 300 labels of --test lie at an end of their range or beyond: figures are of labels clipped to it")

    def test_without_noise_ranges_cost_nothing(self):
        """Values that fill little of their ranges are learned like standardised ones, and an error of a thousand ranges harms nobody."""
        self.ranged(2000, 1, "data.csv")
        self.ranged(1000, 2, "test.csv")
        with open(self.folder / "data.csv", "a") as file:
            file.write("2e5,1980,-8,-1\n")
        accuracy = {}
        for name, words in (("ranges", ["--ranges", "ranges.csv"]), ("plain", [])):
            accuracy[name] = self.summary_of(2, [*self.words, "--mechanism", "none", "--test", "test.csv", *words], name)["metrics"]["test"]["accuracy"]
        self.assertGreater(accuracy["ranges"], 0.84)
        self.assertGreaterEqual(accuracy["ranges"], accuracy["plain"])

    def predictions(self, run, source):
        self.succeeded(self.run_alone(["predict", run, "--source", source, "--output", "predictions.csv", "--force"]))
        return [float(line.split(",")[1]) for line in (self.folder / "predictions.csv").read_text().splitlines()[1:]]

    def test_features_that_are_not_found_are_dropped_one_by_one(self):
        """Scales of a table of words, a feature that is always 0, and one whose values are scattered over sixty octaves."""
        draw = random.Random(3)
        def rows(count):
            yield "words,offset,dead,scattered,y"
            for _ in range(count):
                label = draw.choice([-1, 1])
                words = draw.expovariate(0.1) if draw.random() < 0.2 + 0.3 * (label > 0) else 0
                yield f"{words:.4g},{1e6 + 2e5 * (label + draw.gauss(0, 1)):.6g},0,{draw.choice([-1, 1]) * 2.0 ** draw.uniform(-20, 43):.5g},{label}"
        self.write("data.csv", "\n".join(rows(4000)) + "\n")
        self.write("test.csv", "\n".join(rows(1000)) + "\n")
        words = [*self.words, "--mechanism", "gaussian", "--total-epsilon", 0.5, "--test", "test.csv"]
        self.check_layouts(words, "standardise", (1, 2, 4))
        summary = self.summary_in("run-1")
        scales = self.scales("run-1")
        self.assertEqual(scales[3], (0, 1, 0))
        self.assertTrue(2 <= scales[2][2] <= 5, "zeros are seen, and so many others as noise may hide")
        self.assertTrue([note for note in summary["notes"] if "1 of 4 features are dropped (scattered)" in note], summary["notes"])
        self.assertGreater(summary["metrics"]["test"]["accuracy"], 0.7)
        with h5py.File(self.folder / "run-1/model.h5") as file:
            self.assertEqual(list(file["preparation/clip"]), [each[2] if len(each) > 2 else 0 for each in scales])
        scored = self.succeeded(self.run_alone(["score", "run-1", "--source", "test.csv", "--json"]))
        self.assertAlmostEqual(json.loads(scored.out)["metrics"]["accuracy"], summary["metrics"]["test"]["accuracy"], delta=1e-9)
        losses = json.loads(self.run_alone(["privacy", "ledger", "run-1/private/0/ledger", "--json"]).out)["losses"]
        self.assertAlmostEqual(losses[0]["record"]["mu"], summary["privacy"]["mu"], delta=1e-9)

    def prices(self, count, seed):
        """Labels near a million, which the features explain by 80 %."""
        draw = random.Random(seed)
        for _ in range(count):
            size, age = draw.gauss(90, 30), draw.gauss(40, 15)
            yield f"{size:.5g},{age:.4g},{1e6 + 2000 * (size - 90) - 3000 * (age - 40) + draw.gauss(0, 37000):.7g}"

    def test_labels_that_are_numbers_are_learned_in_their_own_units(self):
        self.write("data.csv", "size,age,y\n" + "\n".join(self.prices(6000, 1)) + "\n")
        self.write("test.csv", "size,age,y\n" + "\n".join(self.prices(1000, 2)) + "\n")
        words = [*self.words, "--loss", "squared", "--mechanism", "gaussian", "--total-epsilon", 3, "--test", "test.csv"]
        self.check_layouts(words, "standardise", (1, 2, 4))
        summary, config = self.summary_in("run-1"), self.config("run-1")
        mean, deviation = map(float, config["standardise"].rpartition(",label=")[2].split("/"))
        self.assertAlmostEqual(mean, 1e6, delta=4e4)
        self.assertLess(abs(math.log2(deviation / 83000)), 1)
        privacy = summary["privacy"]
        self.assertAlmostEqual(privacy["norms"]["share"], 0.02, msg="means of features and the histogram of labels in one")
        self.assertIn("a histogram of the labels of all its records", privacy["statement"])
        self.assertIn("histograms or means of every feature and of the label", privacy["statement"])
        self.assertGreater(summary["metrics"]["test"]["r2"], 0.7)
        self.assertAlmostEqual(sum(self.predictions("run-1", "test.csv")) / 1000, 1e6, delta=4e4)
        scored = self.succeeded(self.run_alone(["score", "run-1", "--source", "test.csv", "--json"]))
        self.assertAlmostEqual(json.loads(scored.out)["metrics"]["r2"], summary["metrics"]["test"]["r2"], delta=1e-9)
        losses = json.loads(self.run_alone(["privacy", "ledger", "run-1/private/0/ledger", "--json"]).out)["losses"]
        self.assertAlmostEqual(losses[0]["record"]["mu"], privacy["mu"], delta=1e-9)
        again = self.run_alone(["omd", "--config", "run-1/config.ini", "--output", "again", "--json"], as_they_are=True)
        self.assertEqual(again.summary()["final_model"], summary["final_model"])

    def test_features_beside_labels_that_are_numbers_are_looked_at_twice(self):
        """Their octaves alone leave a year and a height by several deviations. Clients of unequal size, persons, and pairs."""
        draw, rows = random.Random(1), []
        for k in range(3000):
            year, height, lot = draw.gauss(1970, 25), draw.gauss(170, 8), draw.expovariate(0.01)
            label = 9e5 + 4000 * (year - 1970) + 500 * lot + draw.gauss(0, 5e4)
            rows.append((0 if k < 2000 else 1 + k % 4, k // 2, f"{year:.5g},{height:.4g},{lot:.4g},{label:.7g}"))
        self.write("data.csv", "client,year,height,lot,y\n" + "".join(f"{client},{rest}\n" for client, _, rest in rows))
        self.write("persons.csv", "who,year,height,lot,y\n" + "".join(f"{who},{rest}\n" for _, who, rest in rows))
        common = ["--clients", 5, "--loss", "squared", "--tuning", "auto", "--mechanism", "gaussian", "--total-epsilon", 8]
        words = [*common, "--source", "data.csv", "--partition", "column:client"]
        truth = ((1970, 25), (170, 8), (100, 100))
        cases = {"records": words, "pairs": [*words, "--trust", "pairs"],
                 "persons": [*common, "--source", "persons.csv", "--person", "who", "--unit", "person", "--partition", "iid"]}
        for label, own in cases.items():
            with self.subTest(label):
                self.good(1, [*own, "--noise-key", "seed", "--output", label])
                for (mean, deviation), (found, spread, *_) in zip(truth, self.scales(label)):
                    self.assertLess(abs(found - mean) / deviation, 1, (found, mean))
                    self.assertLess(spread / deviation, 6, (spread, deviation))
                self.assertIn("with means and histograms of columns", self.summary_in(label)["privacy"]["statement"])
        self.check_layouts(words, "standardise", (1, 2, 4))
        losses = json.loads(self.run_alone(["privacy", "ledger", "run-1/private/0/ledger", "--json"]).out)["losses"]
        self.assertAlmostEqual(losses[0]["record"]["mu"], self.summary_in("run-1")["privacy"]["mu"], delta=1e-9)

    def test_values_that_fill_little_of_their_octaves_are_looked_at_more_closely(self):
        """About an octave's edge, or within one: classes were a coin's toss. Clients of unequal size, persons, pairs, and norms that come first."""
        truth = ((64, 1), (16, 0.1), (128, 15), (-8, 0.2), (40.7, 0.05))
        draw, rows = random.Random(3), []
        for k in range(4000):
            own = [draw.gauss(0, 1) for _ in truth]
            label = 1 if own[0] + own[1] - own[2] - own[3] + own[4] + draw.gauss(0, 0.7) > 0 else -1
            rows.append((0 if k < 2000 else 1 + k % 4, k // 2, ",".join(f"{mean + deviation * each:.6g}" for each, (mean, deviation) in zip(own, truth)) + f",{label}"))
        self.write("data.csv", "client,a,b,c,d,e,y\n" + "".join(f"{client},{rest}\n" for client, _, rest in rows[:3500]))
        self.write("persons.csv", "who,a,b,c,d,e,y\n" + "".join(f"{who},{rest}\n" for _, who, rest in rows[:3500]))
        test = self.write("test.csv", "a,b,c,d,e,y\n" + "".join(f"{rest}\n" for _, _, rest in rows[3500:]))
        common = ["--clients", 5, "--tuning", "auto", "--mechanism", "gaussian", "--score-share", 0, "--noise-key", "seed", "--test", test]
        words = [*common, "--source", "data.csv", "--partition", "column:client"]
        cases = {"records": [*words, "--total-epsilon", 4], "norms": [*words, "--total-epsilon", 0.5], "pairs": [*words, "--total-epsilon", 1.5, "--trust", "pairs"],
                 "persons": [*common, "--source", "persons.csv", "--person", "who", "--unit", "person", "--partition", "iid", "--total-epsilon", 4]}
        for label, own in cases.items():
            with self.subTest(label):
                run = self.good(1, [*own, "--output", label])
                for (mean, deviation), (found, spread, *_) in zip(truth, self.scales(label)):
                    self.assertLess(abs(found - mean) / deviation, 2, (found, mean))
                    self.assertLess(spread / deviation, 4, (spread, deviation))
                self.assertGreater(self.summary_in(label)["metrics"]["test"]["accuracy"], 0.8)
                self.assertIn("histograms of columns", self.summary_in(label)["privacy"]["statement"])
                self.assertNotIn("of one size", run.err)
        self.assertEqual(self.ends("norms"), [":norms", ":features", ":within", ":within-2", ":within-3"])
        for label, layouts in (("norms", (1, 2, 4)), ("pairs", (1, 2))):
            for earlier in self.folder.glob("run-*"):
                shutil.rmtree(earlier)
            self.check_layouts(cases[label], "standardise", layouts)
            losses = json.loads(self.run_alone(["privacy", "ledger", "run-1/private/0/ledger", "--json"]).out)["losses"]
            self.assertAlmostEqual(losses[0]["record"]["mu"], self.summary_in("run-1")["privacy"]["mu"], delta=1e-9)

    def ends(self, run):
        """The ends of the ids of releases before the rounds, in a client's ledger."""
        opened = [row["run"] for row in self.rows(f"{run}/private/0/ledger") if row.get("kind") == "open"]
        return [name[name.index(":"):] for name in opened if ":" in name]

    def test_constants_of_all_columns_say_how_long_records_are(self):
        """Too few records show it, and a rule that takes them for short loses twenty points."""
        draw, lines = random.Random(1), []
        for _ in range(500):
            own = [draw.gauss(0, 1) for _ in range(12)]
            lines.append(",".join(f"{50 + 9 * each:.5g}" for each in own) + f",{300 + 40 * (sum(own) / 3 + draw.gauss(0, 1)):.6g}")
        self.write("data.csv", ",".join(f"x{j}" for j in range(12)) + ",y\n" + "\n".join(lines) + "\n")
        words = [*self.words, "--loss", "squared", "--mechanism", "gaussian", "--total-epsilon", 0.5, "--noise-key", "seed"]
        constants = ",".join(["50/9"] * 12)
        run = self.good(1, [*words, "--standardise", f"values:{constants},label=300/70", "--output", "all"])
        self.assertIn(f"norm {math.sqrt(13):.3f}", run.err)
        self.assertIn("label-size 1", run.err)
        for label, some in (("part", constants.replace("50/9", "0/1", 1)), ("none", ",".join(["0/1"] * 12))):
            run = self.good(1, [*words, "--standardise", f"values:{some}", "--output", label])
            self.assertNotIn("norm 3.606", run.err)

    def test_labels_that_nothing_shows(self):
        self.write("data.csv", "size,age,y\n" + "\n".join(self.prices(30, 1)) + "\n")
        result = self.good(1, [*self.words, "--loss", "squared", "--mechanism", "gaussian", "--mu", 0.1, "--noise-key", "seed", "--output", "run"])
        self.assertIn("no feature is learned from", result.err)
        self.assertIn("too few at this price to show how large labels are", result.err)
        self.assertIsNone(self.summary_in("run")["privacy"]["norms"])

    def shifted(self, records, place, size, seed):
        """Three features, and labels `place` + `size` times their sum with noise."""
        draw = random.Random(seed)
        lines = []
        for _ in range(records):
            own = [draw.gauss(0, 1) for _ in range(3)]
            lines.append(",".join(f"{each!r}" for each in (*own, place + size * (sum(own) + draw.gauss(0, 1)))))
        return "a,b,c,y\n" + "\n".join(lines) + "\n"

    def test_losses_of_numbers_suit_labels_of_any_units(self):
        """Far from 0, tiny, and as they are: no loss is worse than a constant, which has about 1.6 (huber) to 2 times the loss."""
        for place, size in ((0, 1), (400, 5), (-1e-5, 1e-6)):
            self.write("data.csv", self.shifted(3000, place, size, 1))
            self.write("test.csv", self.shifted(1000, place, size, 2))
            labels = [float(line.split(",")[-1]) for line in (self.folder / "test.csv").read_text().splitlines()[1:]]
            for loss, tau in (("huber", 0.5), ("absolute", 0.5), ("quantile:0.8", 0.8)):
                with self.subTest(loss, place=place):
                    output = f"{loss.partition(':')[0]}-{place}"
                    result = self.good(1, [*self.words, "--loss", loss, "--mechanism", "gaussian", "--total-epsilon", 2, "--noise-key", "seed",
                                           "--test", "test.csv", "--output", output])
                    self.assertEqual("counts in are deviations of labels" in result.err, loss == "huber", result.err)
                    self.assertEqual("predicts no middle of labels" in result.err, tau != 0.5, result.err)
                    self.assertEqual([note for note in self.summary_in(output)["notes"] if "no better on --test" in note], [])

                    def lost(scores):
                        return sum((label - score) * (tau if label > score else tau - 1) for label, score in zip(labels, scores))

                    best = lost([sorted(labels)[int(tau * len(labels))]] * len(labels))
                    self.assertLess(lost(self.predictions(output, "test.csv")), 0.65 * best)
                    constant = self.summary_in(output)["metrics"].get("constant_loss")
                    self.assertEqual(constant is None, tau == 0.5)

    def test_few_records_with_labels_far_from_zero(self):
        """An answer that is far off says so, and none is further than noise in the constant takes it."""
        self.write("data.csv", self.shifted(300, 200, 7, 1))
        self.write("test.csv", self.shifted(1000, 200, 7, 2))
        for loss in ("huber", "absolute", "quantile:0.8"):
            with self.subTest(loss):
                output = loss.partition(":")[0]
                result = self.good(1, [*self.words, "--loss", loss, "--mechanism", "gaussian", "--total-epsilon", 1, "--noise-key", "seed",
                                       "--test", "test.csv", "--output", output])
                self.assertIn("what is lost cannot be foretold", result.err)
                metrics = self.summary_in(output)["metrics"]
                self.assertLess(metrics["test"]["rmse"], 40)
                if loss.startswith("quantile"):
                    worse = metrics["test_loss"] >= metrics["constant_loss"]
                    self.assertEqual(any("than the best constant answer" in note for note in self.summary_in(output)["notes"]), worse)

    def test_labels_smaller_than_histograms_show(self):
        self.write("data.csv", self.shifted(1500, 0, 1e-9, 1))
        result = self.good(1, [*self.words, "--loss", "squared", "--mechanism", "gaussian", "--total-epsilon", 2, "--noise-key", "seed", "--output", "run"])
        self.assertIn("labels are too small for histograms to show how small", result.err)
        self.assertIn("what is lost cannot be foretold: the constants of labels are a guess", result.err)

    def rare(self, records, intercept=-6.0, seed=1):
        """Ten features in their own units and a class that few records have, of clients of unequal size, and held-out records."""
        draw = random.Random(seed)
        for name, count in (("rare", records), ("held-out", 4000)):
            lines = [",".join([*(f"x{j}" for j in range(10)), "y"])]
            for _ in range(count):
                own = [draw.gauss(0, 1) for _ in range(10)]
                row = [f"{(j % 4) * 2.0 ** j + 2.0 ** j * value:.5g}" for j, value in enumerate(own)]
                lines.append(",".join([*row, str(int(draw.random() < 1 / (1 + math.exp(-intercept - 0.8 * sum((-1) ** (j // 2) * each for j, each in enumerate(own))))))]))
            self.write(f"{name}.csv", "\n".join(lines) + "\n")
        return ["--source", "rare.csv", "--clients", CLIENTS, "--partition", "dirichlet:alpha=2,balanced=0", "--tuning", "auto", "--mechanism", "gaussian",
                "--score-share", 0, "--total-epsilon", 1, "--test", "held-out.csv"]

    def started(self, output):
        """The shares of classes that a run has started with."""
        start = self.config(output)["start"]
        self.assertTrue(start.startswith("classes:"), start)
        return list(map(float, start.removeprefix("classes:").split(",")))

    def test_a_rare_class_is_found(self):
        """A run that starts at even odds learns the offsets of features for the frequent class before it has an intercept."""
        area, loss = {}, {}
        for seed in range(1, 7):
            words = self.rare(4800, seed=seed)
            for start in ("auto", "uniform"):
                summary = self.run_alone(["omd", *words, "--scale-share", 0, "--noise-key", "seed", "--seed", seed, *(["--start", start] if start == "uniform" else []), "--output", f"{start}-{seed}",
                                          "--json"]).summary()
                metrics = summary["metrics"]["test"]
                area.setdefault(start, []).append(metrics["auc"])
                loss.setdefault(start, []).append(metrics["log_loss"])
            ones = self.started(f"auto-{seed}")[1]
            self.assertLess(ones, 0.12)
        mean = lambda values: sum(values) / len(values)
        print(f"AUC {mean(area['auto']):.3f}, from even odds {mean(area['uniform']):.3f}; log-loss {mean(loss['auto']):.4f}, {mean(loss['uniform']):.4f}")
        self.assertGreater(mean(area["auto"]), mean(area["uniform"]) + 0.04, area)
        self.assertLess(mean(loss["auto"]), 0.85 * mean(loss["uniform"]), loss)

    def test_shares_of_classes_are_priced_and_have_the_same_bits_on_all_ranks(self):
        words = self.rare(4800, -2)
        self.check_layouts(words, "start", (1, 2, 4))
        summary = self.summary_in("run-1")
        truth = [float(line.rpartition(",")[2]) for line in (self.folder / "rare.csv").read_text().splitlines()[1:]]
        self.assertAlmostEqual(self.started("run-1")[1], sum(each > 0 for each in truth) / len(truth), delta=0.05)
        privacy = summary["privacy"]
        self.assertEqual(privacy["norms"]["share"] if privacy["norms"] else 0, float(self.config("run-1")["scale-share"]))
        self.assertIn("of every feature and of the label of all its records", privacy["statement"])
        losses = json.loads(self.run_alone(["privacy", "ledger", "run-1/private/0/ledger", "--json"]).out)["losses"]
        self.assertAlmostEqual(losses[0]["record"]["mu"], privacy["mu"], delta=1e-9)
        again = self.run_alone(["omd", "--config", "run-1/config.ini", "--output", "again", "--json"], as_they_are=True)
        self.assertEqual(again.summary()["final_model"], summary["final_model"])

    def test_shares_of_many_classes(self):
        draw = random.Random(2)
        rows = []
        for _ in range(6000):
            label = draw.choices(range(3), [0.85, 0.1, 0.05])[0]
            rows.append(",".join(f"{50 + 10 * draw.gauss(label == k, 1):.5g}" for k in range(3)) + f",{label}")
        self.write("data.csv", "a,b,c,y\n" + "\n".join(rows) + "\n")
        for command in ("omd", "fedavg"):
            result = self.run_alone([command, *self.words, "--loss", "softmax:3", "--mechanism", "gaussian", "--total-epsilon", 3, "--noise-key", "seed", "--output", command])
            self.succeeded(result)
            for share, truth in zip(self.started(command), (0.85, 0.1, 0.05)):
                self.assertAlmostEqual(share, truth, delta=0.03)

    def test_starts_at_shares_of_classes(self):
        """A user may know them, and pays nothing; what cannot be is refused before anything is learned."""
        plain = ["--source", "data.csv", "--clients", CLIENTS, "--mechanism", "none", "--tuning", "off", "--rounds", 1, "--step", 1e-12, "--loss", "logistic"]
        summary = self.summary_of(1, [*plain, "--intercept", "--start", "classes:0.9,0.1"], "known")
        for each, wanted in zip(summary["final_model"], [0, 0, 0, math.log(1 / 9)]):
            self.assertAlmostEqual(each, wanted, delta=1e-6)
        for words, text in ((["--intercept", "--start", "classes:0.9,0.2"], "whose sum is 1"), (["--intercept", "--start", "classes:1,0"], "positive"),
                            (["--intercept", "--start", "classes:0.5,0.3,0.2"], "3 shares, where the loss has 2 classes"), (["--start", "classes:0.9,0.1"], "no intercept"),
                            (["--intercept", "--start", "classes:0.9,x"], "--start")):
            result = self.run_ranks(1, [*plain, *words, "--output", "refused"])
            self.assertEqual(result.code, 2, result)
            self.assertRegex(result.messages()[0], text)
        squared = self.run_ranks(1, [*plain, "--loss", "squared", "--intercept", "--start", "classes:0.9,0.1", "--output", "refused"])
        self.assertRegex(squared.messages()[0], "gives no probabilities")

    def amounts(self, name, records, mean, seed):
        """Three features and amounts about `mean`, whose logarithms they tell."""
        draw = random.Random(seed)
        lines = []
        for _ in range(records):
            own = [draw.gauss(0, 1) for _ in range(3)]
            lines.append(",".join(f"{each!r}" for each in (*own, mean * math.exp(0.5 * own[0] - 0.4 * own[1]) * draw.gammavariate(2, 0.5))))
        self.write(name, "a,b,c,y\n" + "\n".join(lines) + "\n")

    def test_amounts_start_at_their_mean(self):
        """Scores are logarithms: at 0 an amount of 50,000 is 11 away, and noise let no run come so far."""
        for command in ("omd", "fedavg"):
            for mean in (5e4, 1, 1e-3):
                with self.subTest(command, mean=mean):
                    self.amounts("data.csv", 3000, mean, 1)
                    self.amounts("test.csv", 1000, mean, 2)
                    words = [command, *self.words, "--loss", "gamma", "--mechanism", "gaussian", "--total-epsilon", 1, "--noise-key", "seed", "--test", "test.csv"]
                    output = f"{command}-{mean:g}"
                    self.succeeded(self.run_alone([*words, "--output", output]))
                    start = self.config(output)["start"]
                    self.assertTrue(start.startswith("mean:"), start)
                    self.assertLess(abs(math.log(float(start.removeprefix("mean:")) / mean)), 0.7)
                    metrics = self.summary_in(output)["metrics"]["test"]
                    self.assertLess(metrics["deviance"], 0.7 * metrics["null_deviance"])

    def test_a_mean_is_priced_and_has_the_same_bits_on_all_ranks(self):
        self.amounts("data.csv", 3000, 200, 1)
        words = [*self.words, "--loss", "gamma", "--mechanism", "gaussian", "--total-epsilon", 2]
        self.check_layouts(words, "start", (1, 2, 4))
        privacy = self.summary_in("run-1")["privacy"]
        self.assertIn("of every feature and of the label of all its records", privacy["statement"])
        losses = json.loads(self.run_alone(["privacy", "ledger", "run-1/private/0/ledger", "--json"]).out)["losses"]
        self.assertAlmostEqual(losses[0]["record"]["mu"], privacy["mu"], delta=1e-9)
        again = self.run_alone(["omd", "--config", "run-1/config.ini", "--output", "again", "--json"], as_they_are=True)
        self.assertEqual(again.summary()["final_model"], self.summary_in("run-1")["final_model"])

    def test_starts_at_a_mean(self):
        self.amounts("data.csv", 30, 200, 1)
        plain = ["--source", "data.csv", "--clients", 2, "--mechanism", "none", "--tuning", "off", "--rounds", 1, "--step", 1e-12]
        model = self.summary_of(1, [*plain, "--loss", "gamma", "--intercept", "--start", "mean:200"], "known")["final_model"]
        for each, wanted in zip(model, [0, 0, 0, math.log(200)]):
            self.assertAlmostEqual(each, wanted, delta=1e-6)
        for words, text in ((["--loss", "gamma", "--intercept", "--start", "mean:0"], "above 0"), (["--loss", "gamma", "--start", "mean:200"], "no intercept"),
                            (["--loss", "squared", "--intercept", "--start", "mean:200"], "no logarithms of means"),
                            (["--loss", "gamma", "--intercept", "--start", "mean:x"], "--start")):
            result = self.run_ranks(1, [*plain, *words, "--output", "refused"])
            self.assertEqual(result.code, 2, result)
            self.assertRegex(result.messages()[0], text)

    def test_too_few_records_for_shares_of_classes(self):
        words = self.rare(60, 0)
        self.good(1, [*words, "--total-epsilon", 0.3, "--noise-key", "seed", "--output", "run"])
        self.assertEqual(self.config("run")["start"], "uniform")
        self.assertIsNone(self.summary_in("run")["privacy"]["features"])

    def test_a_budget_may_forbid_it(self):
        result = self.good(1, [*self.mu, "--budget", 100, "--ledger", "ledger", "--batch", 1, "--noise-correlation", "none", "--output", "run"])
        self.assertEqual(chosen(result), [])
        self.assertIn("histograms of features are not released: the --budget does not allow it", result.err)

    def test_usage(self):
        off = ["--tuning", "off", "--feature-share", 0.1]
        for words, text in ((["--feature-share", 0.6], "feature-share"), ([*off, "--unit", "component"], "records"),
                            ([*off, "--mu", "schedule:from=0.1,to=0.2"], "feature-share"),
                            (["--standardise", "values:1/2,3/0,1/1"], "MEAN/SD")):
            result = self.run_ranks(1, [*self.mu, *words, "--output", "run"])
            self.assertEqual(result.code, 2, result)
            self.assertRegex(result.messages()[0], text)
        result = self.run_ranks(1, [*self.mu, "--standardise", "values:1/2", "--output", "run"])
        self.assertEqual(result.code, 3, result)
        self.assertRegex(result.messages()[0], "3 feature columns")
        result = self.run_ranks(1, [*self.words, "--mechanism", "laplace", "--epsilon", 1, *off, "--output", "run"])
        self.assertRegex(result.messages()[0], "gaussian alone")


if __name__ == "__main__":
    unittest.main()
