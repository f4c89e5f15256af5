"""Clients join runs that have begun: all come to the optimum of all, with their mass, and ledgers of new clients begin there."""

import unittest

from changing_clients import *

ALL = range(CLIENTS + 2)
JOIN = ["--join", 2, "--source", "new-{client}.csv"]
MIXED_WELL = [*NOISELESS, "--gossip-steps", "3"]  # new clients differ much from the others


class JoinedClients(ChangingClients):
    CHANGE = [*JOIN, "--rewire", "exponential"]
    LAYOUTS = (1, 7, 4, 2) if SLOW else (1, 4)  # of four the last has new clients alone

    def prepare(self):
        super().prepare()
        self.write_records("all-new.csv", [5, 6])
        self.write_records("all-old.csv", range(CLIENTS))
        for client in range(5, 9):
            self.write_records(f"new-{client}.csv", [client])
            self.write_records(f"site-{client}.csv", [client])

    def write_records(self, name, clients, columns="x1,x2,x3,y"):
        rows = [",".join(f"{value:.17g}" for value in row) for client in clients for row in records(client)]
        self.write(name, "\n".join([columns, *rows]) + "\n")

    def joined(self):
        return [each["clients"] for each in self.summary()["joined"]]

    def test_all_come_to_the_optimum_of_all(self):
        self.come_to_the_optimum({"a file for each": (["--topology", "triangles.topo"], [*JOIN, "--rewire", "exponential"]),
                                  "one file for the old, one for the new": (["--source", "all-old.csv"],
                                                                            ["--join", 2, "--source", "all-new.csv"])})

    @slow
    def test_so_they_do_however_they_come(self):
        lossy = ["--link-loss", "0.2", "--link-loss-model", "unacknowledged"]
        self.come_to_the_optimum({"the run's own source": ([], ["--join", 2]),
                                  "on lossy links": (["--topology", "chords.topo", *lossy], [*JOIN, "--rewire", "exponential"]),
                                  "a graph that changes": ([], [*JOIN, "--rewire", "one-peer-exponential"]),
                                  "plain mixing": (["--mixing", "plain"], JOIN)})

    def come_to_the_optimum(self, cases):
        """Cases of (words of the run, words of the start with which two clients join)."""
        for name, (words, join) in cases.items():
            with self.subTest(name):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                given = [word for word in MIXED_WELL if "--source" not in words or word not in ("--source", "site-{client}.csv")]
                self.begin([*given, *words])
                before = self.charges()
                result = self.good_resume(*join)
                self.check_optimum(ALL)
                [change] = self.summary()["joined"]
                self.assertEqual(change["clients"], [5, 6])
                self.assertIn(change["round"], (400, 600, 800))
                self.assertIn(f"joined after round {change['round']}: clients 5,6, with records from", result.err)
                self.assertIn("7 clients (2 joined) on 1 ranks", result.out)
                self.assertNotIn("lost", self.summary())
                self.assertEqual(sorted(self.charges()), [*ALL] if before else [])
                result = self.good_resume()
                self.assertIn("has played all its rounds", result.err)

    @fewer
    def test_any_number_of_ranks_gives_the_same_bits(self):
        self.give_the_same_bits([*CORRELATED, "--average", "all"], SHARED)

    @slow
    def test_so_they_do_under_other_noise(self):
        self.give_the_same_bits(NOISELESS, PRIVATE)

    def test_a_crash_amid_the_switch_is_harmless(self):
        self.survive("rename:2", "renamed:6")

    @slow
    def test_so_is_one_at_any_of_its_steps(self):
        self.survive("rename:0", "rename:4", "renamed:3", "rename:6", "rename:8", "checkpoint:1")

    def survive(self, *faults):
        """Before the switch the run is as it was, and clients must be asked in again; behind it they are in."""
        self.begin(PRIVATE)
        self.keep("kept")
        self.good_resume(*JOIN)
        whole = self.results()
        for fault in faults:
            self.again("kept")
            result = self.resume(*JOIN, ranks=2, fault=fault)
            self.assertNotEqual(result.code, 0, result)
            are_in = "joined-after" in (self.folder / "run/run-id").read_text()
            self.good_resume(*([] if are_in else JOIN), ranks=1 if fault.startswith("renamed") else 3)
            self.assertEqual(self.results(), whole, fault)

    def test_a_signal_says_that_they_are_in(self):
        self.begin(PRIVATE)
        self.say_that_clients_have_changed(*JOIN)

    def test_ledgers_of_new_clients_begin_where_they_join_and_charges_stay(self):
        self.begin(PRIVATE)
        before = self.charges()
        self.good_resume(*JOIN)
        after = self.charges()
        self.assertEqual(sorted(after), [*ALL])
        [change], [left_out] = self.summary()["joined"], self.summary()["resumed"]
        for client in range(CLIENTS):
            self.assertGreaterEqual(after[client]["client_total"]["epsilon"], before[client]["client_total"]["epsilon"])
            self.assertLessEqual(after[client]["releases"], 80)
        self.assertGreater(change["round"], 0)
        for client in (5, 6):
            # From its first round on a client makes a release in each of the run's 80 rounds, and at the price of all.
            self.assertEqual(after[client]["releases"], 80 - left_out["at"])
            self.assertLess(after[client]["client_total"]["epsilon"], after[0]["client_total"]["epsilon"])
        rows = [json.loads(line) for line in (self.folder / "run/private/0.1/ledger").read_text().splitlines()]
        blocks = [row for row in rows if row["kind"] == "reserve" and row["client"] <= 5 <= row.get("through", row["client"])]
        self.assertEqual([row["first"] for row in blocks], [0, *(row["last"] + 1 for row in blocks[:-1])])
        self.assertTrue(all((row["last"] < left_out["at"]) == (not row["charges"]) for row in blocks), blocks)
        self.assertIn("5,6", (self.folder / "run/run-id").read_text())

    def test_a_total_holds_for_those_who_join(self):
        words = [*PRIVATE[:PRIVATE.index("--mechanism")], "--mechanism", "gaussian", "--total-epsilon", "2", "--delta", "1e-5",
                 *PRIVATE[PRIVATE.index("--noise-key"):]]
        self.begin(words)
        self.good_resume(*JOIN, ranks=3)
        charges = self.charges()
        for client in ALL:
            self.assertLessEqual(charges[client]["record"]["epsilon"], 2 + 1e-9)
        self.assertLess(charges[6]["record"]["epsilon"], charges[0]["record"]["epsilon"])
        self.assertIn("Client(s) 5,6 joined after round",
                      " ".join((self.folder / "run/privacy.txt").read_text().split()))

    def test_a_total_counts_the_rounds_of_those_who_join_from_there(self):
        """Records of few are dealt into as many batches of a pass as those of the others, and used no more often."""
        words = [*PRIVATE[:PRIVATE.index("--mechanism")], "--mechanism", "gaussian", "--total-epsilon", "2",
                 *PRIVATE[PRIVATE.index("--noise-key"):]]
        for count, rounds in ((6, []), (2, ["--rounds", "40"])):
            self.begin([*words, *rounds])
            rows = [",".join(map(str, row)) for row in records(5)[:count]]
            self.write("few.csv", "\n".join(["x1,x2,x3,y", *rows]) + "\n")
            self.good_resume("--join", 1, "--source", "few.csv")
            self.assertLessEqual(self.charges()[5]["record"]["epsilon"], 2 + 1e-9)
            shutil.rmtree(self.folder / "run")

    @slow
    def test_clients_may_join_and_leave_again_and_again(self):
        self.begin(MIXED_WELL)
        self.resume(*JOIN, ranks=2, fault="checkpoint:3")
        self.resume("--lost", "1,5", ranks=2, fault="checkpoint:2")
        result = self.good_resume("--join", 1, "--source", "new-{client}.csv", "--rewire", "exponential", ranks=3)
        summary = self.summary()
        self.assertEqual([self.joined(), summary["lost"][0]["clients"]], [[[5, 6], [7]], [1, 5]], result)
        self.assertIn("8 clients (2 lost, 3 joined) on 3 ranks", result.out)
        self.check_optimum([0, 2, 3, 4, 6, 7])

    def test_new_clients_begin_with_the_mean_model_of_their_in_neighbours(self):
        """Models hardly move before, and are mixed afterwards: to the mean of all, and first ones of new clients."""
        starts = [[1.0, 2, 3], [2, 4, 0], [-1, 0, 1], [5, 1, 1], [3, 3, 7]]
        shares = 1e-9
        self.write("slow.topo", "clients 5\nweights explicit\n" + "".join(
            f"edge {u} {u} {1 - shares!r}\nedge {u} {(u + 1) % 5} {shares!r}\n" for u in range(5)))
        self.write("starts.csv", "".join(",".join(map(str, start)) + "\n" for start in starts))
        still = ["--topology", "slow.topo", "--start", "starts.csv", "--mixing", "push-sum"]
        words = [*NOISELESS[:NOISELESS.index("--step")], "--step", "1e-12", *NOISELESS[NOISELESS.index("--checkpoint-every"):]]
        words[words.index("8000")] = "1200"  # a ring of seven is mixed to 1e-6 in 140 rounds
        # From all others; and from client 4, of whom client 6 hears through client 5.
        for family, parents in (("complete", range(5)), ("directed-ring", [4])):
            shutil.rmtree(self.folder / "run", ignore_errors=True)
            self.begin([*words, *still])
            self.good_resume(*JOIN, "--rewire", family, ranks=2)
            for i, value in enumerate(self.summary()["final_model"]):
                first = sum(starts[u][i] for u in parents) / len(parents)
                self.assertAlmostEqual(value, (sum(start[i] for start in starts) + 2 * first) / 7, 5)

    def test_the_start_counts_in_models_of_new_clients_too(self):
        """By --start-records: theirs is the mean of the others' starts."""
        starts = [[1.0, 2, 3], [2, 4, 0], [-1, 0, 1], [5, 1, 1], [3, 3, 7]]
        self.write("starts.csv", "".join(",".join(map(str, start)) + "\n" for start in starts))
        models = {}
        for name, counts in (("plain", []), ("counts", ["--start-records", 7 * RECORDS])):
            shutil.rmtree(self.folder / "run", ignore_errors=True)
            self.begin([*NOISELESS, "--start", "starts.csv", *counts], 1)
            self.good_resume(*JOIN, "--rewire", "exponential", ranks=2)
            models[name] = self.summary()["final_model"]
        for plain, counts, *own in zip(models["plain"], models["counts"], *starts):
            self.assertAlmostEqual(counts, (plain + sum(own) / 5) / 2, 9)

    def test_a_finished_run_goes_on_with_new_records(self):
        words = [*NOISELESS, "--topology", "chords.topo"]
        words[words.index("8000")] = "400"
        self.begin(words, 2, None)
        result = self.resume(*JOIN, "--rewire", "exponential")
        self.assertEqual(result.code, 2, result)
        self.assertIn("has played all its 400 rounds, and nobody would learn of the change. Give it more: --rounds.", result.err)
        result = self.resume(*JOIN, "--rewire", "exponential", "--rounds", "900")
        self.assertEqual(result.code, 2, result)
        self.assertIn("beyond the data, which give 800 rounds", result.err)
        self.good_resume(*JOIN, "--rewire", "exponential", "--rounds", "800")
        self.assertEqual(self.summary()["rounds"], 800)

    def test_a_finished_run_that_can_have_no_more_rounds_says_so(self):
        words = [*NOISELESS, "--topology", "chords.topo", "--step-decay", "linear"]
        words[words.index("8000")] = "40"
        del words[words.index("--step-power"):words.index("--step-power") + 2]
        self.begin(words, 2, None)
        result = self.resume(*JOIN, "--rewire", "exponential")
        self.assertEqual(result.code, 2, result)
        self.assertIn("It can have no more, since steps fall to zero at the end: start a run of its own from its model, --start.", result.err)

    def begin(self, words, ranks=2, fault="checkpoint:3"):
        if fault:
            return super().begin(words, ranks, fault)
        self.prepare()
        self.succeeded(self.play(words, ranks))

    def test_what_makes_no_sense_is_refused(self):
        self.begin([*PRIVATE, "--topology", "triangles.topo"])
        self.write_records("other-5.csv", [5], "x1,x2,z3,y")
        self.write_records("other-6.csv", [5], "x1,x2,z3,y")
        self.write("narrow.csv", "x1,y\n1,2\n")
        cases = [
            (["--join", 2, "--source", "new-{client}.csv"], 2, "--rewire exponential"),
            (["--join", 2, "--source", "new-{client}.csv"], 2, "triangles.topo' has 5 clients, and 7 are there now"),
            ([*JOIN, "--rewire", "nonsense"], 2, "nonsense"),
            ([*JOIN, "--lost", "1"], 2, "Take two starts"),
            (["--join", 0], 2, "out of range"),
            (["--source", "new-{client}.csv"], 2, "the run has another configuration (source"),
            (["--join", 5, "--source", "new-{client}.csv", "--rewire", "exponential"], 2, "new-9.csv"),
            (["--join", 2, "--source", "-", "--rewire", "exponential"], 2, "Give a file"),
            (["--join", 2, "--source", "narrow.csv", "--rewire", "exponential"], 3, "features that the first client has are missing"),
            (["--join", 2, "--source", "other-{client}.csv", "--rewire", "exponential"], 3, "z3"),
            (["--rewire", "exponential"], 2, "--rewire without --lost or --join"),
        ]
        self.refuse_without_a_trace(cases)
        result = self.run_alone(["omd", "--join", "1", "--mechanism", "none"])
        self.assertEqual(result.code, 2, result)
        self.assertIn("--join without --resume", result.err)
        self.remove(1)
        result = self.resume(*JOIN, "--rewire", "exponential")
        self.assertEqual(result.code, 2, result)

    def test_records_that_do_not_suit_the_run_are_refused_before_anything_changes(self):
        def unchanged(join, code, text):
            before = tree(self.folder / "run")
            result = self.resume(*join)
            self.assertEqual(result.code, code, result)
            self.assertIn(text, result.err)
            self.assertEqual(tree(self.folder / "run"), before)

        for client in range(2):
            self.write(f"sparse-{client}.svm", "1 1:1 3:2\n-1 2:1 3:-2\n")
        self.write("sparse-2.svm", "1 1:1 9:2\n")
        self.begin(["omd", "--source", "sparse-{client}.svm", "--clients", "2", "--mechanism", "none", "--epochs", "60",
                    "--checkpoint-every", "4", "--output", "run"])
        unchanged(["--join", 1], 3, "records of new clients have feature 9, and the run's model has 3")

    @slow
    def test_runs_whose_clients_stay_say_so(self):
        cases = {
            "fedavg": (["fedavg", "--rounds", "40", "--epochs", "40"], "only runs of omd go on without clients or with more"),
            "regret": (["omd", "--regret", "static", "--epochs", "40"], "--regret reads the records of all clients again"),
            "owners": (["omd", "--ledger", "ledger-{client}", "--epochs", "40"], "--ledger names ledgers of all clients"),
            "prices": (["omd", "--epochs", "40"], "prices.csv' names a number for each client"),
            "one file": (["omd", "--epochs", "40"], "--join 2 without --source"),
        }
        self.write("prices.csv", "\n".join(f"{client},1" for client in range(CLIENTS)) + "\n")
        for name, (words, text) in cases.items():
            with self.subTest(name):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                noise = {"owners": ["--mechanism", "laplace", "--epsilon", "1"],
                         "prices": ["--mechanism", "laplace", "--epsilon", "clients:prices.csv"]}
                source = "all-old.csv" if name == "one file" else "site-{client}.csv"
                self.begin([*words, "--source", source, "--loss", "squared", "--clients", str(CLIENTS),
                            *noise.get(name, ["--mechanism", "none"]), "--metrics", "shared", "--checkpoint-every", "4", "--output",
                            "run"], 2, "checkpoint:2")
                join = ["--join", "2"] if name == "one file" else list(map(str, JOIN))
                result = self.play([words[0], "--resume", "run", *join], 1)
                self.assertEqual(result.code, 2, result)
                self.assertIn(text, result.err)


if __name__ == "__main__":
    unittest.main()
