"""What releases cost: prices by round and client, Gaussian noise, budgets, ledgers, replay, and the audit of a run."""

import hashlib
import math
import signal
import unittest

from harness import *

UNREADABLE = 3
BUDGET = 4
LEDGER = ["--noise-key", "key-{client}", "--ledger", "ledger-{client}"]


class ReleaseCase(TestCase):
    def setUp(self):
        super().setUp()
        self.write("data.csv", "\n".join(csv_rows(400)) + "\n")
        for u in range(4):
            self.write_key(f"key-{u}", hashlib.sha256(f"client {u}".encode()).hexdigest())
        self._runs = 0

    def words(self, *more, mechanism="laplace"):
        self._runs += 1
        return ["--source", "data.csv", "--mechanism", mechanism, "--output", f"run-{self._runs}", *more]

    def run_good(self, *more, ranks=1, **how):
        """Of two clients, unless more are asked for."""
        clients = [] if ranks > 1 or "--clients" in more else ["--clients", "2"]
        return self.good(ranks, [*self.words(*more, *clients, **how), "--json", "--json-models"]).summary()

    def ledger(self, client):
        return [json.loads(line) for line in (self.folder / f"ledger-{client}").read_text().splitlines()]

    def spent(self, client, *more):
        result = self.succeeded(self.run_alone(["privacy", "ledger", f"ledger-{client}", "--json", *more]))
        return result.summary()


class Prices(ReleaseCase):
    def test_a_schedule_is_charged_at_its_dearest(self):
        privacy = self.run_good("--epsilon", "schedule:from=1,to=0.5")["privacy"]
        self.assertEqual(privacy["epsilon_per_release"], 1)
        self.assertEqual(privacy["epsilon"], 1)  # one pass: a record enters one release
        self.assertAlmostEqual(privacy["one_per_batch_epsilon"], 200 * 0.75, delta=1e-6)
        self.assertIn("prices differ by round or client", privacy["statement"])

    def test_steps_of_a_file(self):
        self.write("steps.csv", "round,value\n0,1\n100,0.25\n")
        privacy = self.run_good("--epsilon", "schedule:steps.csv")["privacy"]
        self.assertAlmostEqual(privacy["one_per_batch_epsilon"], 125, delta=1e-6)

    def test_each_client_its_own(self):
        self.write("prices.csv", "0,0.5\n1,2\n")
        privacy = self.run_good("--epsilon", "clients:prices.csv", *LEDGER)["privacy"]
        self.assertEqual(privacy["epsilon"], 2)
        self.assertEqual(self.spent(0)["losses"][0]["client_total"]["epsilon"], 100)
        self.assertEqual(self.spent(1)["losses"][0]["client_total"]["epsilon"], 400)

    @fewer
    def test_the_same_bits_on_any_layout_at_changing_prices(self):
        words = ["--epsilon", "schedule:from=2,to=0.5,shape=sqrt", "--clients", "4", "--noise-key", "key-{client}"]
        run_id = ["--noise-key", "seed"]  # the run's id is part of every noise key
        models = [self.run_good(*words, *run_id, ranks=ranks)["models"] for ranks in layouts((1, 4, 2))]
        self.assertEqual(models, [models[0]] * len(models))


class Gaussian(ReleaseCase):
    def test_epsilon_is_turned_into_mu(self):
        privacy = self.run_good("--epsilon", "1", "--delta", "1e-6", "--epochs", "4", mechanism="gaussian")["privacy"]
        self.assertAlmostEqual(privacy["epsilon_per_release"], 1, delta=1e-9)
        self.assertLessEqual(privacy["epsilon_per_release"], 1)
        self.assertEqual(privacy["delta"], 1e-6)
        self.assertAlmostEqual(privacy["mu"], 2 * privacy["mu_per_release"], delta=1e-12)  # mu's add in squares
        self.assertEqual(privacy["method"], "gdp")
        self.assertLess(privacy["epsilon"], 4)

    def test_mu_is_taken_as_it_is(self):
        privacy = self.run_good("--mu", "0.5", "--batch", "4", mechanism="gaussian")["privacy"]
        self.assertEqual(privacy["mu"], 0.5)
        self.assertAlmostEqual(privacy["client_mu"], 0.5 * 4 * math.sqrt(50), delta=1e-9)

    @fewer
    def test_the_same_bits_on_any_layout(self):
        words = ["--mu", "1", "--clients", "4", "--noise-key", "seed"]
        models = [self.run_good(*words, ranks=ranks, mechanism="gaussian")["models"] for ranks in layouts((1, 4, 2))]
        self.assertEqual(models, [models[0]] * len(models))


class Budgets(ReleaseCase):
    def test_a_client_stops_before_it_exceeds_its_budget(self):
        summary = self.run_good("--epsilon", "0.5", "--budget", str(BUDGET))
        privacy = summary["privacy"]
        self.assertEqual(privacy["releases"], 8)
        self.assertEqual(privacy["client_epsilon"], BUDGET)
        self.assertEqual(privacy["budget"]["stopped_clients"], 2)
        self.assertEqual(summary["rounds"], 200)  # it goes on mixing
        self.assertIn("2 client(s) reached it", privacy["statement"])

    def test_nothing_is_done_without_any_budget(self):
        result = self.run_noted(2, self.words("--epsilon", "5", "--budget", str(BUDGET)))
        self.assertEqual(result.codes, [4, 4], result)
        self.assertEqual(len(result.messages()), 1, result)
        self.assertIn("--budget 4", result.messages()[0])
        self.assertFalse((self.folder / "run-1").exists())

    def test_runs_share_the_budget_of_a_ledger(self):
        counts = []
        for epochs in ("1", "1"):
            summary = self.run_good("--epsilon", "0.5", "--budget", "8", "--rounds", "10", *LEDGER)
            counts.append(summary["privacy"]["releases"])
        self.assertEqual(counts, [10, 6])
        result = self.run_noted(2, self.words("--epsilon", "0.5", "--budget", "8", "--rounds", "10", *LEDGER))
        self.assertEqual(result.codes, [4, 4], result)
        self.assertEqual(self.spent(0)["losses"][0]["client_total"]["epsilon"], 8)

    def test_each_client_its_own(self):
        self.write("budgets.csv", "client,value\n0,1\n1,1000\n")
        privacy = self.run_good("--epsilon", "0.5", "--budget", "clients:budgets.csv", *LEDGER)["privacy"]
        self.assertEqual(privacy["budget"]["stopped_clients"], 1)
        self.assertEqual(self.spent(0)["losses"][0]["client_total"]["epsilon"], 1)
        self.assertEqual(self.spent(1)["losses"][0]["client_total"]["epsilon"], 100)

    def test_idle_ranks_have_none(self):
        privacy = self.run_good("--epsilon", "0.5", "--budget", str(BUDGET), "--clients", "2", ranks=3)["privacy"]
        self.assertEqual(privacy["budget"]["stopped_clients"], 2)

    def test_a_budget_file_is_read_once(self):
        path = self.write("budgets.csv", "0,1000\n1,2000\n")
        words = self.words("--epochs", "30", "--epsilon", "0.01", "--budget", "clients:budgets.csv", *LEDGER)
        job = self.start(2, words)
        job.pids(2)
        wait_until(lambda: (self.folder / "ledger-1").exists() and len(self.ledger(1)) > 4, "the run is under way")
        os.remove(path)
        result = job.finish()
        self.assertEqual(result.code, 0, result)
        text = (self.folder / words[words.index("--output") + 1] / "privacy.txt").read_text()
        self.assertIn("The budget was epsilon = between 1000 and 2000", " ".join(text.split()))

    def test_of_a_record_counts_passes(self):
        privacy = self.run_good("--epsilon", "0.5", "--epochs", "5", "--budget", "1", "--budget-unit", "record")["privacy"]
        self.assertEqual(privacy["participations"], 2)
        self.assertEqual(privacy["epsilon"], 1)
        self.assertEqual(privacy["releases"], 400)


class Ledgers(ReleaseCase):
    def test_the_run_says_what_the_ledger_says(self):
        summary = self.run_good("--epsilon", "0.5", *LEDGER)
        book = summary["privacy"]["ledger"]
        self.assertEqual(book["scope"], "owner")
        self.assertEqual(sorted(book["heads"]), sorted(self.ledger(u)[-1]["hash"] for u in range(2)))
        self.spent(0, "--expect", self.ledger(0)[-1]["hash"])
        self.assertEqual(book["client_epsilon"], 100)
        self.assertEqual(book["path"], "ledger-0")
        refused = self.run_ranks(1, self.words("--epsilon", "0.25", *LEDGER, "--budget", "1", "--clients", "2"))
        self.assertEqual(refused.code, 4, refused)  # and is no run that released anything
        again = self.run_good("--epsilon", "0.25", *LEDGER)["privacy"]
        self.assertEqual(again["ledger"]["client_epsilon"], 150)
        self.assertEqual(again["ledger"]["earlier_runs"], 1)
        self.assertIn("(1 before this one)", again["statement"])

    def test_the_dearest_of_the_clients_who_share_a_ledger_counts(self):
        """Clients 0 and 1 are one cohort; the dear one is neither the first of the ledger nor its last."""
        self.write("prices.csv", "0,0.5\n1,0.5\n2,2\n3,0.5\n4,0.25\n")
        for runs in (1, 2):
            privacy = self.run_good("--clients", "5", "--epsilon", "clients:prices.csv", "--ledger", "shared", ranks=1)["privacy"]
            self.assertEqual(privacy["client_epsilon"], 160)
            self.assertEqual(privacy["ledger"]["client_epsilon"], runs * 160)
            self.assertEqual(privacy["ledger"]["record_epsilon"], runs * 2)
            self.assertEqual(privacy["ledger"]["earlier_runs"], runs - 1)
            spent = json.loads(self.run_alone(["privacy", "ledger", "shared", "--json"]).out)
            self.assertEqual([(loss["client"], loss.get("through"), loss["client_total"]["epsilon"]) for loss in spent["losses"]],
                             [(0, 1, runs * 40), (2, None, runs * 160), (3, None, runs * 40), (4, None, runs * 20)])

    def test_who_sat_out_at_the_end_shares_rows_again(self):
        """At a graceful end clients differ in their last round; resumed, they meet where blocks end."""
        clients = 400
        self.good(1, ["--clients", clients, "--source", "synthetic:drift", "--mechanism", "laplace", "--epsilon", "0.5",
                      "--dropout", "0.3", "--absent", "freeze", "--step-cap", "1", "--rounds", "20", "--checkpoint-every", "20", "--output", "run"])
        path = self.folder / "run" / "private" / "0" / "ledger"
        before = [json.loads(line) for line in path.read_text().splitlines()]
        self.assertGreater(len({row["rounds"] for row in before if row["kind"] == "end"}), 3, "they end in different rounds")
        self.good(1, ["--resume", "run", "--rounds", "60"])
        rows = [json.loads(line) for line in path.read_text().splitlines()][len(before):]
        reserved = [row for row in rows if row["kind"] == "reserve"]
        self.assertLessEqual({row["last"] + 1 for row in reserved}, {1, 3, 7, 15, 31, 60})
        self.assertEqual(sum(row.get("through", row["client"]) - row["client"] + 1 for row in reserved if row["last"] == 30), clients)
        self.assertEqual([(row["client"], row["through"], row["first"], row["last"]) for row in reserved if row["first"] >= 31],
                         [(0, clients - 1, 31, 59)])
        self.succeeded(self.run_alone(["privacy", "ledger", path, "--verify"]))

    def test_figures_of_components_are_called_so(self):
        privacy = self.run_good("--epsilon", "0.5", "--unit", "component", *LEDGER)["privacy"]
        self.assertEqual(privacy["ledger"]["component_epsilon"], 0.5)
        self.assertEqual(privacy["record_epsilon"], 1.5)
        self.assertIn("a component has paid at most epsilon = 0.5", privacy["statement"])

    def test_without_an_owners_ledger_the_report_says_this_run_only(self):
        summary = self.run_good("--epsilon", "0.5", ranks=2)
        self.assertEqual(summary["privacy"]["ledger"]["scope"], "run")
        self.assertIn("the figures count this run only", summary["privacy"]["statement"])
        for rank in (0, 1):
            path = self.folder / "run-1" / "private" / str(rank) / "ledger"
            self.assertEqual(path.stat().st_mode & 0o777, 0o600)
            self.succeeded(self.run_alone(["privacy", "ledger", str(path), "--verify"]))

    def test_a_ledger_in_use_is_refused(self):
        words = ["--source", "synthetic:drift", "--mechanism", "laplace", "--rounds", "1e9", *LEDGER, "--output", "long"]
        job = self.start(2, words)
        job.pids(2)
        wait_until(lambda: (self.folder / "ledger-1").exists() and len(self.ledger(1)) > 3, "the ledger is in use")
        result = self.run_noted(2, self.words(*LEDGER))
        self.assertEqual(set(result.codes), {2}, result)
        self.assertIn("ledger", result.messages()[0])

    def killed_run(self, *more, drop=()):
        """A run on two ranks that is killed when it has released for a while; its words but for --output. Some have other values
        in `more`. What follows is on one rank, which is sooner done beside other tests."""
        usual = {"--source": "data.csv", "--epochs": "100000", "--mechanism": "laplace", "--epsilon": "0.5", "--clients": "2"}
        words = [word for name, value in usual.items() if name not in drop for word in (name, value)]
        words += [*LEDGER, *more, "--output", "killed"]
        job = self.start(2, words)
        pids = job.pids(2)
        wait_until(lambda: all((self.folder / f"ledger-{u}").exists() and len(self.ledger(u)) > 12 for u in (0, 1)),
                   "both have reserved")
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        job.finish()
        return words[:-2]

    def test_a_killed_run_is_taken_up_again_at_no_cost(self):
        words = self.killed_run("--rounds", "20000")
        reserved = [self.ledger(u)[-1]["last"] for u in (0, 1)]
        result = self.good(1, [*words, "--output", "again", "--json"])
        self.assertIn("taken up again", result.err)
        for u in (0, 1):
            spent = self.spent(u)
            self.assertEqual(len(spent["runs"]), 1)
            self.assertEqual(spent["losses"][0]["client_total"]["epsilon"], 10000, reserved)

    def test_what_a_killed_run_released_is_counted_when_it_is_stopped_again(self):
        words = self.killed_run("--rounds", "200000")
        before = self.spent(0)["losses"][0]["client_total"]["epsilon"]
        job = self.start(2, [*words, "--output", "again"])
        for pid in job.pids(2):
            wait_until(lambda: (self.folder / "again" / "run.h5").exists(), "it is under way")
            os.kill(pid, signal.SIGINT)
        job.finish()
        privacy = self.summary_in("again")["privacy"]
        self.assertGreaterEqual(privacy["client_epsilon"], before)
        self.assertEqual(privacy["client_epsilon"], privacy["ledger"]["client_epsilon"])

    def test_an_audited_run_is_never_the_same_again(self):
        words = self.killed_run("--rounds", "20000", "--audit")
        result = self.good(1, [*words, "--output", "again"])
        self.assertNotIn("taken up again", result.err)
        self.assertEqual(len(self.spent(0)["runs"]), 2)

    def test_other_records_cost_again(self):
        words = self.killed_run("--rounds", "20000")
        first = self.spent(0)["losses"][0]["client_total"]["epsilon"]
        rows = csv_rows(400)
        self.write("data.csv", "\n".join([*rows[:399], rows[0]]) + "\n")
        self.good(1, [*words, "--output", "again"])
        spent = self.spent(0)
        self.assertEqual(len(spent["runs"]), 2)
        self.assertEqual(spent["losses"][0]["client_total"]["epsilon"], first + 10000)

    def test_a_file_that_changes_while_it_is_read_is_not_released(self):
        """What a replay counted as the same records would have cost once more."""
        rows = csv_rows(8000)
        path = self.folder / "data.csv"
        path.write_text("\n".join(rows) + "\n")
        words = ["--source", "data.csv", "--memory", "0", "--batch", "400", "--epochs", "3", "--mechanism", "laplace", "--epsilon", "0.5",
                 "--clients", "2", *LEDGER, "--checkpoint-every", "5", "--progress", "off"]
        with interrupted("after rename /private/0/checkpoint-:0", signal.SIGSTOP):
            job = self.start(1, [*words, "--output", "run"])
        pid = job.pids(1)[0]
        wait_until(lambda: pathlib.Path(f"/proc/{pid}/stat").read_text().split()[2] == "T", "it has stopped")
        line = rows[7900]
        changed = ("1" if line[0] != "1" else "2") + line[1:]
        with path.open("r+") as file:
            file.seek(sum(len(row) + 1 for row in rows[:7900]))
            file.write(changed)
        os.kill(pid, signal.SIGCONT)
        result = job.finish()
        self.assertEqual(result.codes, [UNREADABLE], result)
        self.assertRegex(result.messages()[0], "data.csv: row 7901: the record is not what it was at first")
        refused = self.run_ranks(1, ["--resume", "run"])
        self.assertNotEqual(refused.code, 0, refused)
        path.write_text("\n".join(rows) + "\n")
        self.good(1, ["--resume", "run"])
        for u in (0, 1):
            spent = self.spent(u)
            self.assertEqual(len(spent["runs"]), 1)
            self.assertEqual(spent["losses"][0]["record"]["epsilon"], 3 * 0.5, "three passes")

    @needs_h5py
    def test_so_does_any_other_input(self):
        """A record of HDF5 that no fingerprint covers, the graph, the prices: each makes other integers."""
        rows = numpy.array([[float(x) for x in line.split(",")] for line in csv_rows(400)])

        def write(change=0.0):
            rows[399, 0] += change
            with h5py.File(self.folder / "data.h5", "w") as file:
                file["x"], file["y"] = rows[:, :-1], rows[:, -1]

        def files(kept="0.5", price="0.5"):
            self.write("ring.topo", "clients 2\nweights explicit\nedge 0 0 0.5\nedge 0 1 0.5\n"
                       f"edge 1 1 {kept}\nedge 1 0 {1 - float(kept)}\n")
            self.write("steps.csv", f"0,1\n100,{price}\n")

        write()
        files()
        words = self.killed_run("--rounds", "20000", "--topology", "ring.topo", "--source", "data.h5", "--epsilon",
                                "schedule:steps.csv", drop=("--source", "--epsilon"))
        for runs, change in enumerate((lambda: write(1e-6), lambda: files(kept="0.75"),
                                       lambda: files(price="0.25")), 2):
            change()
            result = self.good(1, [*words, "--output", f"again-{runs}"])
            self.assertNotIn("taken up again", result.err)
            self.assertEqual(len(self.spent(0)["runs"]), runs)

    def test_no_key_material_in_ledgers_and_shared_files(self):
        self.run_good("--epsilon", "0.5", *LEDGER)
        keys = [(self.folder / f"key-{u}").read_text().strip() for u in range(2)]
        places = [p for p in self.folder.rglob("*") if p.is_file() and not p.name.startswith("key-")]
        self.assertGreater(len(places), 8)
        for key in keys:
            for needle in (key[:32], key[32:]):
                for spelled in (needle.encode(), bytes.fromhex(needle)):
                    for path in places:
                        self.assertNotIn(spelled, path.read_bytes(), path)


class Audit(ReleaseCase):
    def test_a_run_audits_itself(self):
        words = ["--source", "synthetic:drift", "--mechanism", "laplace", "--epsilon", "1", "--rounds", "3000", "--audit",
                 "--clients", "2", "--json", "--output", "audited"]
        bounds = []
        for run in range(3):
            audit = self.good(2 if run == 0 else 1, [*words[:-1], f"audited-{run}"]).summary()["privacy"]["audit"]
            self.assertEqual(audit["verdict"], "not refuted")
            self.assertEqual(audit["canaries"], 6000)
            self.assertGreater(audit["epsilon_lower_bound"], 0.7)  # 0.90 ± 0.04 in 40 runs
            bounds.append(audit["epsilon_lower_bound"])
        # The signs are secret. Each bound holds at 95 %, so that all three lie above the claim by chance once in 8,000 tests.
        self.assertLessEqual(min(bounds), 1)

    def test_canaries_are_looked_for_in_all_rounds(self):
        words = ["--source", "synthetic:drift", "--mechanism", "gaussian", "--mu", "4", "--noise-correlation", "blt:2",
                 "--rounds", "500", "--audit", "--json", "--output", "audited"]
        audit = self.good(2, words).summary()["privacy"]["audit"]
        self.assertEqual((audit["verdict"], audit["canaries"]), ("not refuted", 1000))
        self.assertGreater(audit["epsilon_lower_bound"], 1.5)  # 3.2 ± 0.3


if __name__ == "__main__":
    unittest.main()
