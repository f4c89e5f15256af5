"""--trust pairs: clients hide each other by noise that they share. The same bits after kills; figures worked out anew."""

import csv
import itertools
import math
import unittest

from harness import *
from kills import Trial

DELTA = 1e-5
WORDS = ["--source", "synthetic:logistic:n=120", "--mechanism", "gaussian", "--total-epsilon", "0.5", "--trust", "pairs",
         "--tuning", "auto", "--progress", "off"]
SEEDED = [*WORDS, "--noise-key", "seed"]


def normal(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


def epsilon_of(mu):
    """The least epsilon at DELTA of a Gaussian mechanism, by bisection of its curve."""
    low, high = 0.0, 1e3
    for _ in range(200):
        middle = (low + high) / 2
        delta = normal(-middle / mu + mu / 2) - math.exp(min(middle, 700)) * normal(-middle / mu - mu / 2)
        low, high = (middle, high) if delta > DELTA else (low, middle)
    return high


def exposure(clients, pairs, ratio, colluding):
    """The largest diagonal entry of (I + r^2 L)^-1 of the honest clients, over all coalitions: by elimination."""
    most = 0
    for gone in itertools.combinations(range(clients), colluding):
        left = [u for u in range(clients) if u not in gone]
        for u in left:
            rows = [[float(v == w) for w in left] + [float(v == u)] for v in left]
            for v, w in pairs:
                if v in left and w in left:
                    i, j = left.index(v), left.index(w)
                    for k, sign in ((i, 1), (j, -1)):
                        rows[k][i] += sign * ratio**2
                        rows[k][j] -= sign * ratio**2
            size = len(left)
            for i in range(size):
                for k in range(size):
                    if k != i:
                        factor = rows[k][i] / rows[i][i]
                        rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i])]
            at = left.index(u)
            most = max(most, rows[at][-1] / rows[at][at])
    return most


def column(omega, theta, rounds):
    """c_0, c_1, ... of 1/(1 - sum of omega_j z/(1 - theta_j z)), by its recursion."""
    buffers, result = [0.0, 0.0], []
    for t in range(rounds):
        c = (1.0 if t == 0 else 0.0) + sum(w * s for w, s in zip(omega, buffers))
        buffers = [h * s + c for h, s in zip(theta, buffers)]
        result.append(c)
    return result


def inverted(series):
    """The first coefficients of 1/(c_0 + c_1 z + ...)."""
    result = []
    for t in range(len(series)):
        result.append(((t == 0) - sum(series[s] * result[t - s] for s in range(1, t + 1))) / series[0])
    return result


class Pairs(TestCase):
    def ledger(self, output="run"):
        lines = (self.folder / output / "private" / "0" / "ledger").read_text().splitlines()
        rows = [json.loads(line) for line in lines]
        opened = next(row for row in rows if row["kind"] == "open" and "trust=pairs" in row["parameters"])
        charges = [row for row in rows if row["kind"] == "reserve" and row["run"] == opened["run"]]
        return opened, charges

    def test_figures_are_those_of_the_graph_the_noise_and_the_collusion(self):
        # From the ledger, the file of pairs and K alone, by code of this file.
        edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 3), (1, 4), (2, 5)]
        self.write("pairs.topo", topology(6, [], "sender", sorted({*edges, *((v, u) for u, v in edges)})))
        for correlation, colluding in (("none", 1), ("blt:2", 2)):
            with self.subTest(correlation=correlation, colluding=colluding):
                output = f"run-{colluding}"
                summary = self.summary_of(1, [*WORDS, "--clients", 6, "--pairs", "pairs.topo", "--collusion", colluding,
                                              "--noise-correlation", correlation, "--scale-share", 0, "--norm", 1], output)
                opened, charges = self.ledger(output)
                words = dict(word.split("=", 1) for word in opened["parameters"].split() if "=" in word)
                clip, batch = float(words["clip"]), opened["batch"]
                self.assertEqual(words["pairs-digest"], summary["privacy"]["pairs"]["digest"])
                factor = 1
                if correlation != "none":
                    numbers = {name: [float(x) for x in words[name].split(",")] for name in ("omega", "theta")}
                    uses, apart = int(words["uses"]), int(words["apart"])
                    c = column(numbers["omega"], numbers["theta"], 4000)
                    moved = [sum(c[t - j * apart] for j in range(uses) if t >= j * apart) for t in range(len(c))]
                    factor = math.sqrt(sum(x * x for x in moved) / uses)
                uses = len({each["pass"] for row in charges for each in row["passes"]})
                self.assertEqual(int(words["collusion"]), colluding)
                alone = 2 * clip / batch * factor / float(words["own-deviation"]) * math.sqrt(uses)
                for key, coalition in (("outsiders", 0), (None, colluding), ("all_others", 5)):
                    mu = alone * math.sqrt(exposure(6, edges, float(words["ratio"]), coalition))
                    stated = summary["privacy"]["pairs"][key] if key else summary["privacy"]
                    self.assertGreaterEqual(stated["epsilon"], epsilon_of(mu) * (1 - 1e-6), key)
                    if colluding == 1:  # for two it is a bound
                        self.assertLessEqual(stated["epsilon"], epsilon_of(mu) * 1.01, key)

    def test_a_killed_run_ends_with_the_same_bits(self):
        words = [*SEEDED, "--clients", 6, "--noise-correlation", "blt:2", "--checkpoint-every", 40, "--dropout", 0.2, "--link-loss", 0.1]
        trial = Trial()
        trial.folder = self.folder
        self.good(2, [*words, "--output", "whole"])
        with interrupted("checkpoint:3"):
            killed = self.run_noted(2, [*words, "--output", "run"])
        self.assertNotEqual(killed.codes, [0, 0])
        self.good(2, ["--resume", "run"])
        whole, resumed = trial.results("whole"), trial.results("run")
        self.assertEqual(whole.keys(), resumed.keys())
        for name in whole:
            self.assertEqual(whole[name], resumed[name], name)

    def test_a_killed_run_goes_on_with_other_ranks_and_the_same_clients(self):
        for command, more in (("omd", []), ("fedavg", ["--local-steps", 2])):
            with self.subTest(command):
                words = [command, *SEEDED, *more, "--clients", 6, "--noise-correlation", "blt:2", "--checkpoint-every", 10, "--json", "--json-models"]
                whole = self.succeeded(self.run_command(1, [*words, "--output", f"{command}-whole"])).summary()
                with interrupted("checkpoint:3"):
                    self.assertNotEqual(self.run_command(2, [*words, "--output", command]).code, 0)
                resumed = self.succeeded(self.run_command(3, [command, "--resume", command, "--json", "--json-models"])).summary()
                self.assertEqual(bits(resumed["models"]), bits(whole["models"]))
                for key in ("epsilon", "pairs"):
                    self.assertEqual(resumed["privacy"][key], whole["privacy"][key])

    def test_pairs_cancel_among_those_that_stay_and_those_that_are_there(self):
        # Eight clients of 20 rounds; 2 and 5 leave. Noise of the mean is that of the clients' own, and of one size while they are fewer.
        self.good_topology("exponential.topo", 8)
        self.write("leave.csv", "client,round\n2,9\n5,14\n")
        steps = ["omd", "--topology", "exponential.topo", "--gossip-steps", 4, "--intercept", "no", "--step", 1, "--step-power", 0, "--epochs", 2,
                 "--batch", 10, "--tuning", "off", *self.write_zeros([100] * 8)]
        leave, absent = ["--leave", "leave.csv"], ["--dropout", 0.3, "--absent", "freeze"]
        for name, more in (("leave", [*leave, "--noise-correlation", "none"]), ("chains", [*leave, "--noise-correlation", "blt:2"]), ("freeze", absent),
                           ("both", [*absent, *leave]), ("step", ["--dropout", 0.3, "--noise-correlation", "blt:2"])):
            with self.subTest(name):
                runs = [self.succeeded(self.run_command(ranks, [*steps, *more, "--output", f"{name}-{ranks}"])).summary() for ranks in (1, 2, 7)]
                self.assertTrue(all(bits(each["models"]) == bits(runs[0]["models"]) for each in runs))
                opened, charges = self.ledger(f"{name}-1")
                words = dict(word.split("=", 1) for word in opened["parameters"].split() if "=" in word)
                if name == "leave":  # the largest exposure is that of the six who stay, of whom one colludes
                    pairs = list(itertools.combinations(range(6), 2))
                    self.assertLess(abs(float(words["exposure"]) / exposure(6, pairs, float(words["ratio"]), 1) - 1), 1e-6)
                self.assertEqual(runs[0]["rounds"], 20)
                kept = self.kept(words, 20) / (7 if "--leave" in more else 8)
                if name == "chains":  # what the others take back of those who leave
                    kept += float(words["ratio"]) ** 2 * (self.kept(words, 20, 9) / 7 + self.kept(words, 20, 14) / 6)
                expected = float(words["own-deviation"]) * math.sqrt(kept)
                found = math.sqrt(sum(x * x for x in runs[0]["models"][0]) / 300)
                # A frozen client adds no noise, and pairs that it belongs to may stay uncancelled. If no pair cancelled, noise would be three times as large.
                self.assertLess(found / expected, 1.6 if name == "both" else 1.25, (found, expected))
                self.assertGreater(found / expected, 0.65 if "freeze" in more else 0.8, (found, expected))

    def kept(self, words, rounds, first=0):
        """The square of what a chain of so many rounds leaves of its noise in the sum of the releases from `first` on, of noise before `first` if
        that is given, in squares of one release's noise."""
        if "omega" not in words:
            return rounds
        omega, theta = ([float(x) for x in words[name].split(",")] for name in ("omega", "theta"))
        inverse = inverted(column(omega, theta, rounds))
        return sum(sum(inverse[max(first - t, 0):rounds - t]) ** 2 for t in range(first or rounds))

    def test_clients_that_are_lost_or_join_make_new_pairs(self):
        words = ["omd", *SEEDED, "--clients", 6, "--noise-correlation", "blt:2", "--checkpoint-every", 10, "--metrics", "shared"]
        cases = [(["--lost", "1,4", "--rewire", "exponential"], "4 clients that are there"), (["--lost", "0,2,3,5", "--rewire", "exponential"], "noise of its own alone"),
                 (["--join", 3, "--source", "synthetic:logistic:n=120"], "9 clients that are there")]
        for k, (more, said) in enumerate(cases):
            with self.subTest(more=more):
                with interrupted("checkpoint:3"):
                    self.assertNotEqual(self.run_command(2, [*words, "--output", f"run-{k}"]).code, 0)
                result = self.succeeded(self.run_command(1, ["omd", "--resume", f"run-{k}", *more, "--json"]))
                summary = result.summary()
                self.assertIn(said, " ".join(summary["notes"]))
                self.assertAlmostEqual(summary["privacy"]["epsilon"], 0.5, 6)
                hidden = 1 / summary["privacy"]["pairs"]["exposure"]
                count = 6 - len(more[1].split(",")) if more[0] == "--lost" else 9
                self.assertTrue(1 <= hidden < count and (hidden > 0.59 * (count - 1) or count == 2), hidden)
                order = [summary["privacy"]["pairs"][key]["epsilon"] for key in ("outsiders", "all_others")]
                self.assertLess(order[0] - 1e-9, summary["privacy"]["epsilon"])
                self.assertGreater(order[1], epsilon_of(2 * 0.5 / 5))  # no less than where six hid each other

    def test_pairs_lose_less_to_noise_and_end_with_one_model(self):
        words = ["--source", "synthetic:logistic:n=60,p=8", "--test", "synthetic:logistic:n=4000,p=8", "--clients", 24,
                 "--topology", "exponential.topo", "--mechanism", "gaussian", "--total-epsilon", "0.1", "--norm", 1.5,
                 "--noise-key", "seed", "--progress", "off", "--tuning", "auto"]
        self.good_topology("exponential.topo", 24)
        accuracy = dict.fromkeys(("local", "pairs"), 0)
        for trust, seed in itertools.product(accuracy, (1, 2, 3)):
            summary = self.summary_of(1, [*words, "--trust", trust, "--seed", seed], f"{trust}-{seed}")
            accuracy[trust] += summary["metrics"]["test_accuracy"] / 3
        self.assertGreater(accuracy["pairs"], accuracy["local"] + 0.02)
        local, pairs = (self.summary_in(f"{trust}-3") for trust in accuracy)
        self.assertLess(pairs["consensus_error"], 1e-6)
        self.assertAlmostEqual(pairs["privacy"]["epsilon"], local["privacy"]["epsilon"], 12)

    def good_topology(self, name, clients):
        self.succeeded(self.run_alone(["topology", "make", "exponential", "--clients", clients, "--output", name]))

    def test_renewable_estimation_has_the_noise_of_the_clients_own_alone(self):
        words = ["renewable", "--variant", "private", "--noise-correlation", "none", "--batch", 20, *self.write_zeros((60, 60, 60, 50))]
        summaries = [self.succeeded(self.run_command(ranks, [*words, "--output", f"renewable-{ranks}"])).summary() for ranks in (1, 2, 4)]
        self.assertTrue(all(bits(each["models"]) == bits(summaries[0]["models"]) for each in summaries))
        alone = self.succeeded(self.run_command(1, [*words, "--trust", "local", "--output", "local"])).summary()
        local, pairs = (math.sqrt(sum(x * x for x in each["models"][0][:-1]) / 300) for each in (alone, summaries[0]))
        exposed = summaries[0]["privacy"]["pairs"]["exposure"]
        self.assertLess(abs(pairs / local / math.sqrt(exposed) - 1), 0.3, (pairs, local))
        for more, reason in ((["--curvature-model", "released:0.3"], "gradients"), (["--variant", "online"], "variant")):
            with self.subTest(more=more):
                self.assertIn(reason, self.message_of(self.run_command(1, [*words, *more]), 2))

    def test_persons_and_clients_that_sit_out(self):
        rows = [f"{i % 40},{(i * 37) % 100 / 100},{(i * i) % 2}" for i in range(240)]
        source = self.write("persons.csv", "who,a,y\n" + "\n".join(rows) + "\n")
        summary = self.summary_of(1, [*WORDS, "--source", source, "--clients", 5, "--unit", "person", "--person", "who",
                                      "--dropout", 0.2], "run")
        self.assertEqual((summary["privacy"]["unit"], summary["privacy"]["participations"]), ("person", 32))
        self.assertAlmostEqual(summary["privacy"]["epsilon"], 0.5, 6)
        self.assertLess(summary["consensus_error"], 0.01)

    def test_who_is_protected_from_whom_is_said(self):
        result = self.good(1, [*WORDS, "--clients", 5, "--source", self.records(), "--output", "run", "--json"])
        summary = result.summary()["privacy"]
        self.assertEqual(summary["trust"], "pairs")
        order = [summary["pairs"]["outsiders"]["epsilon"], summary["epsilon"], summary["pairs"]["all_others"]["epsilon"]]
        self.assertEqual(order, sorted(order))
        self.assertAlmostEqual(summary["epsilon"], 0.5, 6)
        self.assertRegex(self.run_alone(["report", "run"]).out, r"hidden by pairs +epsilon = 0\.\d+ against outsiders")
        said = (self.folder / "run" / "privacy.txt").read_text()
        for text in ("also if up to 1 other client(s) help them", "all other clients", "pair-keys"):
            self.assertIn(text, " ".join(said.split()))
        keys = (self.folder / "run" / "private" / "0" / "pair-keys").read_text()
        self.assertIn(summary["pairs"]["keys"], keys)
        self.assertEqual(len(keys.splitlines()), 3 + 5)

    def test_in_federated_averaging_pairs_cancel_for_clients_of_any_size(self):
        # Records without features have no gradient: the model is noise alone, and each local step has that of each client once.
        width, given = 300, self.write_zeros((60, 30, 20, 10))
        for correlation in ("none", "blt:2"):
            with self.subTest(correlation=correlation):
                output = f"run-{correlation[:3]}"
                result = self.succeeded(self.run_command(2, [
                    "fedavg", *given, "--step", 1, "--step-power", 0, "--epochs", 2, "--batch", 10, "--local-steps", 2, "--tuning", "off",
                    "--intercept", "no", "--noise-correlation", correlation, "--output", output]))
                summary = result.summary()
                model = summary["models"][0]
                opened, charges = self.ledger(output)
                words = dict(word.split("=", 1) for word in opened["parameters"].split() if "=" in word)
                kept = self.kept(words, 12)
                expected = float(words["own-deviation"]) * math.sqrt(4 * kept) * 10 * 6 / 120
                found = math.sqrt(sum(x * x for x in model) / width)
                self.assertLess(abs(found / expected - 1), 0.17, (found, expected))  # four deviations; pairs would add 80 % and more
                self.assertEqual((summary["privacy"]["trust"], summary["aggregated"]), ("pairs", True))
                self.assertIn("rank 0 with noise", summary["privacy"]["recipients"])

    def write_zeros(self, sizes, width=300):
        """Records without features have no gradient: models are noise alone. Clients have as many as `sizes` says."""
        count = sum(sizes)
        source = self.write("zeros.csv", ",".join(f"x{j}" for j in range(width)) + ",y\n" + "".join("0," * width + f"{i % 2}\n" for i in range(count)))
        owners = [client for client, size in enumerate(sizes) for _ in range(size)]
        deal = self.write("sizes.csv", "record,client\n" + "".join(f"{i},{client}\n" for i, client in enumerate(owners)))
        return ["--source", source, "--clients", len(sizes), "--partition", f"file:{deal}", "--mechanism", "gaussian", "--mu", 1, "--trust", "pairs",
                "--noise-key", "seed", "--json", "--json-models", "--progress", "off"]

    def test_clients_that_end_release_zeros_so_that_pairs_cancel(self):
        # Two passes of six rounds. A client has no records, or a budget ends client 1 after one pass.
        self.good_topology("exponential.topo", 4)
        self.write("budgets.csv", "client,price\n0,100\n1,5\n2,100\n3,100\n")
        steps = ["--intercept", "no", "--step", 1, "--step-power", 0]
        budget = ["--budget", "clients:budgets.csv", "--budget-unit", "record"]
        omd, infer = ["omd", "--topology", "exponential.topo", "--gossip-steps", 4, *steps], ["infer", "--loss", "logistic", "--intervals", "none"]
        for command, sizes in ((omd, (60, 30, 20, 0)), ([*omd, *budget], (60, 30, 20, 10)), (["fedavg", *steps, *budget], (60, 30, 20, 10)),
                               (infer, (60, 30, 20, 0)), ([*infer, *budget], (60, 30, 20, 10))):
            with self.subTest(command=command[0], sizes=sizes):
                words = [*command, *self.write_zeros(sizes), "--epochs", 2, "--batch", 10, "--tuning", "off", "--noise-correlation", "none"]
                output = f"{command[0]}-{sizes[3]}"
                runs = [self.succeeded(self.run_command(ranks, [*words, "--output", f"{output}-{ranks}"])).summary() for ranks in (1, 4)]
                self.assertEqual(*(bits(each["models"]) for each in runs))
                opened, charges = self.ledger(f"{output}-1")
                ends = [max((row["last"] + 1 for row in charges if row["client"] == u), default=0) for u in range(4)]
                self.assertEqual(ends, [12, 6, 12, 12] if sizes[3] else [12, 12, 12, 0])
                if command[0] != "infer":
                    self.has_own_noise_alone(runs[0]["models"][0], opened, [1 / 4] * 4 if command[0] == "omd" else [60 / sum(sizes)] * 4)

    def has_own_noise_alone(self, model, opened, shares, rounds=12):
        words = dict(word.split("=", 1) for word in opened["parameters"].split() if "=" in word)
        expected = float(words["own-deviation"]) * math.sqrt(rounds * sum(share**2 for share in shares))
        found = math.sqrt(sum(x * x for x in model) / len(model))
        self.assertLess(abs(found / expected - 1), 0.17, (found, expected))

    def test_models_of_every_kind_have_the_same_bits_on_any_ranks(self):
        words = ["--clients", 7, *SEEDED, "--mechanism", "gaussian", "--epochs", 1, "--json", "--json-models"]
        cases = [("fedavg", ["--local-steps", "3"], (1, 4)), ("fedavg", ["--model", "mlp:3-4-1"], (1, 2, 7)), ("omd", ["--model", "mlp:3-4-1"], (1, 2, 4, 7)),
                 ("omd", ["--model", "location", "--loss", "absolute", "--tuning", "off"], (1, 2))]
        for command, more, all_ranks in cases:
            with self.subTest(command, more=more):
                output = lambda ranks: f"{command}-{more[1][0]}-{ranks}"
                summaries = [self.succeeded(self.run_command(ranks, [command, *words, *more, "--output", output(ranks)])).summary() for ranks in all_ranks]
                self.assertTrue(all(bits(each["models"]) == bits(summaries[0]["models"]) for each in summaries))
                self.assertEqual(summaries[0]["privacy"]["trust"], "pairs")
                opened, _ = self.ledger(output(1))
                self.assertIn("ratio=", opened["parameters"])

    def test_what_would_not_cancel_in_means_is_refused(self):
        words = ["fedavg", *WORDS, "--clients", 6]
        for more, reason in ((["--client-weights", "equal"], "count alike"), (["--collusion", 5], "partner")):
            with self.subTest(more=more):
                self.assertIn(reason, self.message_of(self.run_command(1, [*words, *more]), 2))

    def test_intervals_are_shorter_and_cover(self):
        self.good_topology("exponential.topo", 16)
        words = ["infer", "--source", "synthetic:linear:n=1600,p=2", "--clients", 16, "--mechanism", "gaussian", "--mu", 0.5, "--replications", 12,
                 "--tuning", "off", "--batch", 2, "--step", 4, "--step-offset", 80, "--noise-key", "seed", "--progress", "off", "--json"]
        for graph in ([], ["--topology", "exponential.topo", "--gossip-steps", 4]):
            with self.subTest(graph=graph):
                local, pairs = (self.succeeded(self.run_command(1, [*words, *graph, "--trust", trust])).summary()["study"][0] for trust in ("local", "pairs"))
                self.assertLess(pairs["length"], (0.6 if graph else 0.45) * local["length"])
                self.assertGreater(pairs["coverage"], 0.85)

    def test_inference_has_the_same_bits_on_any_ranks_and_refuses_what_it_does_not_know(self):
        words = ["infer", "--source", "synthetic:linear:n=1500,p=2", "--clients", 7, "--mechanism", "gaussian", "--mu", 0.5, "--trust", "pairs",
                 "--noise-key", "seed", "--progress", "off", "--json", "--json-models"]
        models = [self.succeeded(self.run_command(ranks, [*words, "--output", f"on-{ranks}"])).summary()["models"] for ranks in (1, 2, 7)]
        self.assertTrue(all(each == models[0] for each in models))
        for more, reason in ((["--intervals", "plug-in"], "its own"), (["--bias", "remove"], "its own"), (["--client-weights", "equal"], "count alike"),
                             (["--collusion", 6], "partner")):
            with self.subTest(more=more):
                self.assertIn(reason, self.message_of(self.run_command(1, [*words, *more]), 2))

    def records(self):
        lines = [f"{(i * 37) % 100 / 100},{(i * 61) % 100 / 100},{(i * i) % 2}" for i in range(300)]
        return self.write("records.csv", "a,b,y\n" + "\n".join(lines) + "\n")

    def test_a_run_says_what_pairs_would_give(self):
        words = ["--source", "synthetic:logistic:n=60,p=8", "--clients", 12, "--mechanism", "gaussian", "--total-epsilon", "0.1",
                 "--norm", 1, "--tuning", "auto"]
        self.assertRegex(self.good(1, words).err, r"--trust pairs: at most \d+ points")
        self.assertNotIn("--trust pairs", self.good(1, [*words, "--domain", "ball:3"]).err)
        many = [*words, "--clients", 80, "--rounds", 1]
        self.assertRegex(self.good(1, many).err, r"With --trust pairs it would be worth \d")

    def test_whether_joining_pays_is_said_and_true(self):
        # By what clients then measure on records that they have kept apart.
        words = ["--clients", 12, "--mechanism", "gaussian", "--norm", 2, "--tuning", "auto", "--noise-key", "seed", "--personal"]
        cases = [("synthetic:logistic:n=25,p=12", 30, "to gain by joining", 1), ("synthetic:logistic:n=300,p=4", 0.02, "to do better alone", -1)]
        for source, epsilon, said, sign in cases:
            with self.subTest(said=said):
                output = f"run{sign}"
                err = self.good(1, [*words, "--source", source, "--total-epsilon", epsilon, "--output", output]).err
                self.assertRegex(err, rf"joining: .*joint model is worth one of about \d+ records[^\n]* {said}")
                table = (self.folder / output / "private" / "0" / "personal.csv").read_text()
                rows = list(csv.DictReader(table.splitlines()))
                gain = sum(float(row["alone_loss"]) - float(row["joint_loss"]) for row in rows) / len(rows)
                self.assertGreater(sign * gain, 0.05)

    def test_nothing_is_said_of_joining_where_nothing_is_known(self):
        words = ["--norm", 1, "--tuning", "auto", "--rounds", 2]
        private = [*words, "--mechanism", "gaussian", "--total-epsilon", 1]
        classes = ["--source", "synthetic:logistic:n=40,p=3"]
        self.assertIn("joining:", self.good(1, [*private, *classes, "--clients", 6]).err)
        cases = [[*private, *classes, "--clients", 6, "--model", "mlp:3-4-1"], [*private, *classes, "--clients", 6, "--domain", "ball:3"],
                 [*private, *classes, "--clients", 1], [*words, *classes, "--clients", 6, "--mechanism", "none"],
                 [*words, *classes, "--clients", 6, "--mechanism", "laplace", "--total-epsilon", 1],
                 [*private, "--source", "synthetic:linear:n=40,p=3", "--loss", "squared", "--clients", 6]]
        for each in cases:
            with self.subTest(words=each):
                self.assertNotIn("joining:", self.good(1, each).err)

    def test_little_signal_wants_rounds_of_all_records(self):
        words = ["--source", "synthetic:logistic:n=90,p=8", "--clients", 8, "--mechanism", "gaussian", "--norm", 1, "--tuning", "auto",
                 "--trust", "pairs"]
        weak, strong = (self.good(1, [*words, "--total-epsilon", epsilon]).err for epsilon in (0.1, 8))
        self.assertRegex(weak, r"epochs 32: little signal[^\n]*\n[^\n]*batch 90:")
        self.assertRegex(strong, r"epochs 16: several passes[^\n]*\n[^\n]*batch 6:")

    def test_what_would_not_cancel_is_refused(self):
        laplace = ["--mechanism", "laplace"]
        cases = [(laplace, "Gaussian"), (["--async"], "same round"), (["--deadline", 1], "same round"),
                 (["--dropout", 0.2, "--absent", "freeze", "--noise-correlation", "blt:2"], "take back"), (["--client-weights", "equal"], "count alike"),
                 (["--mixing", "plain"], "sum"), (["--domain", "ball:3"], "cut off"), (["--mirror", "entropic"], "cut off"),
                 (["--audit"], "coalition"), (["--unit", "component"], "whole gradients"),
                 (["--collusion", 5], "partner")]
        for more, reason in cases:
            with self.subTest(more=more):
                result = self.run_ranks(1, [*WORDS, "--clients", 6, *more])
                self.assertIn(reason, self.message_of(result, 2))
        self.assertIn("hides it. Take more clients", self.message_of(self.run_ranks(1, [*WORDS, "--clients", 1, "--collusion", 0]), 2))
        self.assertIn("trust", self.message_of(self.run_ranks(1, [*WORDS, "--trust", "local", "--clients", 6, "--collusion", 2]), 2))


if __name__ == "__main__":
    unittest.main()
