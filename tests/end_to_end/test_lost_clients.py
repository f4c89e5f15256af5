"""Runs go on without clients whose machines are gone: to the optimum of those that are left, with their mass and their ledgers."""

import hashlib
import unittest

from changing_clients import *


class LostClients(ChangingClients):
    CHANGE = ["--lost", "missing"]
    LAYOUTS = layouts((1, 2, 5))

    def before_the_change(self):
        self.remove(1)

    def test_those_left_come_to_their_own_optimum(self):
        self.come_to_the_optimum({"rewired": ("triangles.topo", [2], ["--lost", "2", "--rewire", "exponential"]),
                                  "on lossy links": ("chords.topo", [3, 4], ["--lost", "missing"])})

    @slow
    def test_so_they_do_however_clients_are_named(self):
        self.come_to_the_optimum({"named": ("chords.topo", [1, 4], ["--lost", "1,4"]),
                                  "missing": ("chords.topo", [3, 4], ["--lost", "missing"])})

    def come_to_the_optimum(self, cases):
        """Cases of (graph, clients that are lost, words)."""
        for name, (graph, lost, words) in cases.items():
            with self.subTest(name):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                lossy = ["--link-loss", "0.2", "--link-loss-model", "unacknowledged"] if "lossy" in name else []
                self.begin([*NOISELESS, "--topology", graph, *lossy])
                if "missing" in words:
                    self.remove(1)
                    for client in lost:
                        (self.folder / f"site-{client}.csv").unlink()
                result = self.good_resume(*words)
                self.check_optimum([u for u in range(CLIENTS) if u not in lost])
                [loss] = self.summary()["lost"]
                self.assertEqual(loss["clients"], lost)
                self.assertIn(loss["round"], (400, 600, 800))
                self.assertIn(f"lost after round {loss['round']}, for good: clients {','.join(map(str, lost))}", result.err)
                self.assertIn(f"5 clients ({len(lost)} lost) on 1 ranks", result.out)
                result = self.good_resume()
                self.assertIn("has played all its rounds", result.err)

    def test_choices_and_notes_of_a_tuned_run_stay(self):
        """Rounds of mixing alone are those of the clients that are left."""
        words = ["omd", "--source", "site-{client}.csv", "--clients", CLIENTS, "--topology", "triangles.topo", "--loss", "squared", "--mechanism", "gaussian",
                 "--total-epsilon", 8, "--trust", "pairs", "--noise-key", "seed", "--tuning", "auto", "--checkpoint-every", 2, "--progress", "off"]
        self.begin([*words, "--output", "run"], 1, "checkpoint:1")
        kept = json.loads((self.folder / "run/notes.json").read_text())
        self.assertTrue(kept["chosen"])
        result = self.good_resume("--lost", "4", "--rewire", "exponential", ranks=1)
        summary = self.summary()
        self.assertEqual([[each["option"], each["value"]] for each in summary["tuning"]["chosen"]], [each[:2] for each in kept["chosen"]])
        self.assertEqual([note for note in kept["notes"] if note not in summary["notes"]], [])
        self.assertEqual(len([note for note in summary["notes"] if "of mixing alone follow" in note]), 1, result.err)

    @fewer
    def test_any_number_of_ranks_gives_the_same_bits(self):
        self.give_the_same_bits(CORRELATED, SHARED)

    @slow
    def test_so_they_do_under_other_noise(self):
        self.give_the_same_bits(NOISELESS, PRIVATE)

    def test_a_crash_amid_the_switch_is_harmless(self):
        self.survive("rename:2", "renamed:6")

    @slow
    def test_so_is_one_at_any_of_its_steps(self):
        self.survive("rename:0", "rename:4", "renamed:3", "rename:6", "rename:8", "checkpoint:1")

    def survive(self, *faults):
        self.begin([*PRIVATE, "--topology", "chords.topo"])
        self.remove(1)
        self.keep("kept")
        self.good_resume("--lost", "missing")
        whole = self.results()
        for fault in faults:
            self.again("kept")
            result = self.resume("--lost", "missing", fault=fault)
            self.assertNotEqual(result.code, 0, result)
            self.good_resume("--lost", "missing", ranks=1 if fault.startswith("renamed") else 2)
            self.assertEqual(self.results(), whole, fault)

    def test_a_signal_says_whether_they_are_out(self):
        self.begin([*PRIVATE, "--topology", "chords.topo"])
        self.remove(1)
        graph = (self.folder / "chords.topo").read_text()
        run_id = (self.folder / "run/run-id").read_text()
        (self.folder / "chords.topo").unlink()
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        (self.folder / "chords.topo").symlink_to(f"/proc/{os.getpid()}/fd/{reading}")  # waited for, before anything changes
        job = self._start([(1, ["omd", "--resume", "run", "--lost", "missing"], [])], None)
        time.sleep(1)
        job.process.send_signal(signal.SIGTERM)
        (self.folder / "chords.topo").unlink()
        self.write("chords.topo", graph)  # the file is read more than once
        with open(writing, "w") as pipe:
            pipe.write(graph)
        result = job.finish(20)
        self.assertEqual(result.code, 75, result)
        self.assertIn("Its clients have not changed: starling omd --resume run goes on as before, and with --lost it changes them", result.err)
        self.assertEqual((self.folder / "run/run-id").read_text(), run_id)
        self.say_that_clients_have_changed("--lost", "missing")

    def test_runs_on_the_same_data_do_not_show_it(self):
        """run-id is for all to see; the keys of both runs are the owners'."""
        found = []
        for client in range(CLIENTS):
            self.write_key(f"key-{client}", hashlib.sha256(b"%d" % client).hexdigest())
        for _ in range(2):
            self.begin([*PRIVATE, "--topology", "chords.topo", "--noise-key", "key-{client}"])
            self.good_resume("--lost", "1")
            lines = (self.folder / "run/run-id").read_text().splitlines()
            found += [line for line in lines if line.startswith("determined-by ")]
            shutil.rmtree(self.folder / "run")
        self.assertEqual(len(set(found)), 2, found)

    def test_no_round_is_released_twice_and_charges_stay(self):
        self.begin([*PRIVATE, "--topology", "chords.topo"])
        before = self.charges()
        self.remove(1)
        self.good_resume("--lost", "missing")
        after = self.charges()
        self.assertEqual(sorted(after), [0, 1, 2])
        left_out = self.summary()["resumed"]
        self.assertEqual(len(left_out), 1)
        # All that was charged stays so, and each of the 80 rounds is charged once at most.
        for client, losses in after.items():
            self.assertGreaterEqual(losses["client_total"]["epsilon"], before[client]["client_total"]["epsilon"])
            self.assertLessEqual(losses["releases"], 80)
        self.assertGreaterEqual(left_out[0]["at"], left_out[0]["from"] + left_out[0]["charged"])
        first_after = left_out[0]["at"]
        rows = [json.loads(line) for line in (self.folder / "run/private/0.1/ledger").read_text().splitlines()]
        for client in (0, 1, 2):
            blocks = [(row["first"], row["last"]) for row in rows
                      if row["kind"] == "reserve" and row["client"] <= client <= row.get("through", row["client"])]
            self.assertEqual([first for first, _ in blocks], [0, *(last + 1 for _, last in blocks[:-1])])
            self.assertIn(first_after, [first for first, _ in blocks])

    def test_batches_stay_where_the_client_with_most_records_is_lost(self):
        """Its records say into how many batches a pass of every client is dealt: a run that went on with fewer would repeat no round."""
        self.prepare()
        for client in range(4):
            short = self.folder / f"site-{client}.csv"
            short.write_text("".join(short.read_text().splitlines(keepends=True)[:6]))
        self.assertNotEqual(self.play([*CORRELATED, "--topology", "chords.topo"], 2, "checkpoint:3").code, 0)
        self.remove(1)
        (self.folder / "site-4.csv").unlink()
        self.keep("kept")
        run_id = self.folder / "run/run-id"
        run_id.write_text(run_id.read_text().replace("uses=20", "uses=1"))
        result = self.resume("--lost", "missing")
        self.complains(result, 2, "run-id does not say what the ledger .* knows of the correlation of noise, but .* uses=1 .*Restore run-id")
        self.again("kept")
        self.good_resume("--lost", "missing")
        summary = self.summary_in("run")
        self.assertEqual((summary["rounds"], summary["rounds_planned"]), (80, 80))

    def test_clients_may_be_lost_again(self):
        self.begin([*NOISELESS, "--topology", "chords.topo"])
        self.resume("--lost", "0", ranks=2, fault="checkpoint:3")
        self.resume("--lost", "missing", ranks=2, fault="checkpoint:2")
        self.remove(1)
        result = self.good_resume("--lost", "missing")
        lost = self.summary()["lost"]
        self.assertEqual([each["clients"] for each in lost], [[0], [3, 4]], result)
        self.assertLess(lost[0]["round"], lost[1]["round"])
        self.check_optimum([1, 2])

    def test_a_lost_client_has_no_model_to_apply(self):
        self.begin([*NOISELESS, "--topology", "chords.topo"])
        self.good_resume("--lost", "2")
        for command in ("predict", "score"):
            result = self.run_alone([command, "run", "--source", "site-0.csv", "--client", "2"])
            self.assertEqual((result.code, result.out), (2, ""), result)
            self.assertIn(f"--client 2: the run has no final model of this client (it was lost after round "
                          f"{self.summary()['lost'][0]['round']})", result.err)
            self.assertEqual(self.run_alone([command, "run", "--source", "site-0.csv", "--client", "1"]).code, 0)

    def test_runs_with_other_clients_are_no_repetitions(self):
        self.begin([*PRIVATE, "--topology", "chords.topo"])
        for name, words in {"same": [], "lost": ["--lost", "2"], "again": ["--lost", "2"],
                            "ring": ["--lost", "2", "--rewire", "ring"],
                            "joined": ["--join", "1", "--source", "site-{client}.csv", "--rewire", "ring"]}.items():
            self.keep(name)
            shutil.copy(self.folder / "site-0.csv", self.folder / "site-5.csv")
            self.assertEqual(self.play(["omd", "--resume", name, *words], 1).code, 0)
        result = self.run_alone(["report", "same", "lost", "again", "ring", "joined", "--metric", "mass", "--format", "csv"])
        table = [line.split(",")[:5] for line in result.out.splitlines()]
        self.assertEqual([line[:2] for line in table], [["run", "n"], ["same", "1"], ["lost", "2"], ["ring", "1"], ["joined", "1"]], result)
        self.assertEqual(table[0][2:], ["join", "lost", "rewire"])
        self.assertRegex(" ".join(table[3]), r"^ring 1 - 2 after round \d+ ring$")
        self.assertRegex(" ".join(table[4]), r"^joined 1 5 after round \d+ from \S+ - ring$")

    def test_what_makes_no_sense_is_refused(self):
        self.begin([*PRIVATE, "--topology", "triangles.topo"])
        self.keep("kept")
        cases = [
            (["--lost", "99"], 2, "client 99: there are clients 0 to 4."),
            (["--lost", "2-1"], 2, "a range runs upwards"),
            (["--lost", "mising"], 2, "'mising'"),
            (["--lost", "0-4"], 2, "no client is left of 5"),
            (["--lost", "2"], 2, "falls into 4 components"),
            (["--lost", "2"], 2, "Edges that would join them: 0 -> 1, 1 -> 3, 3 -> 4, 4 -> 0. Take another graph for them: --rewire exponential"),
            (["--rewire", "exponential"], 2, "--rewire without --lost"),
            (["--lost", "2", "--rewire", "nonsense"], 2, "nonsense"),
        ]
        self.refuse_without_a_trace(cases)
        self.remove(1)
        result = self.resume("--lost", "0")
        self.assertEqual(result.code, 2, result)
        self.assertIn("clients 3,4 have no whole checkpoint either", result.err)
        result = self.resume()
        self.assertEqual(result.code, 2, result)
        self.assertIn("go on without these clients: --lost missing", result.err)
        result = self.run_alone(["omd", "--lost", "1", "--mechanism", "none"])
        self.assertEqual(result.code, 2, result)
        self.assertIn("--lost without --resume", result.err)
        self.again("kept")
        result = self.succeeded(self.resume("--lost", "missing"))
        self.assertIn("no other client is lost", result.err)
        self.assertNotIn("lost", self.summary())
        result = self.resume("--lost", "2", "--rewire", "exponential")
        self.assertEqual(result.code, 2, result)
        self.assertIn("has played all its 80 rounds", result.err)

    def test_a_run_without_a_checkpoint_says_so(self):
        words = [*PRIVATE, "--topology", "triangles.topo"]
        words[words.index("--checkpoint-every") + 1] = "50"
        self.begin(words, fault="before rename /checkpoint:0")
        for change in (["--lost", "1"], ["--lost", "missing"], ["--join", "1", "--source", "site-{client}.csv", "--rewire", "ring"]):
            before = tree(self.folder / "run")
            result = self.resume(*change)
            self.complains(result, 3, f"{' '.join(change[:2])}: the run has no checkpoint yet, .* Resume it with the clients that it has and --checkpoint-every")
            self.assertEqual(tree(self.folder / "run"), before)
        self.good_resume("--checkpoint-every", "4")

    def test_a_run_that_has_released_all_its_rounds_ends_with_its_checkpoint(self):
        """It can have no more rounds, and those after the checkpoint cannot be played again with other clients."""
        cases = {"lost": (["--step-decay", "linear"], ["--lost", "3,4"]),
                 "joined": (["--step-decay", "linear"], ["--join", "1", "--source", "site-{client}.csv", "--rewire", "exponential"]),
                 "tail": (["--average", "tail"], ["--lost", "3,4"]), "pairs": (["--trust", "pairs"], ["--lost", "3,4"])}
        for name, (more, change) in cases.items():
            with self.subTest(name):
                for folder in ("run", "kept"):
                    shutil.rmtree(self.folder / folder, ignore_errors=True)
                words = [*(CORRELATED if name == "pairs" else PRIVATE), "--topology", "chords.topo", "--record-every", "4", *more]
                words[words.index("--ledger-block") + 1] = "1000"
                self.begin(words)
                shutil.copy(self.folder / "site-0.csv", self.folder / "site-5.csv")
                charged = self.charges()
                self.keep("kept")
                found = []
                for ranks in (1, 2, 3):
                    self.again("kept")
                    if ranks == 3:  # a crash after the change keeps the end and its note
                        self.assertNotEqual(self.resume(*change, ranks=2, fault="before rename /summary.json:0").code, 0)
                    result = self.good_resume(*(change if ranks < 3 else []), ranks=ranks)
                    [left_out] = self.summary()["resumed"]
                    last = left_out["from"]
                    self.assertEqual(left_out, {"from": last, "at": 80, "lost_rounds": 80 - last, "charged": 80 - last})
                    self.assertIn(f"the run ends with the models of its checkpoint after round {last}: rounds {last + 1} to 80 may have been", result.err)
                    found.append(self.results())
                    final = self.summary()["final_model"]
                self.assertEqual(found[0], found[1])
                self.assertEqual(found[0], found[2])
                for client, losses in self.charges().items():
                    if client < CLIENTS:
                        self.assertEqual(losses, charged[client])
                self.again("kept")
                self.good_resume()
                if name in ("lost", "tail"):  # pairs and new clients have mixed since
                    before = self.record("run")
                    models = before["model"][list(before["rounds"]).index(last)][:3]
                    for i, value in enumerate(final):
                        self.assertAlmostEqual(value, sum(models[:, i]) / 3, 12)

    def test_runs_that_need_all_clients_say_so(self):
        cases = {
            "fedavg": (["fedavg", "--source", "site-{client}.csv", "--loss", "squared", "--rounds", "40", "--epochs", "40"],
                       "only runs of omd go on without clients"),
            "regret": (["omd", "--source", "site-{client}.csv", "--loss", "squared", "--regret", "static", "--epochs", "40"],
                       "--regret reads the records of all clients again"),
            "owners": (["omd", "--source", "site-{client}.csv", "--loss", "squared", "--ledger", "ledger-{client}", "--epochs", "40"],
                       "--ledger names ledgers of all clients"),
        }
        for name, (words, text) in cases.items():
            with self.subTest(name):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                noise = ["--mechanism", "laplace", "--epsilon", "1"] if name == "owners" else ["--mechanism", "none"]
                self.begin([*words, "--clients", str(CLIENTS), *noise, "--metrics", "shared", "--checkpoint-every", "4", "--output",
                            "run"], 2, "checkpoint:2")
                result = self.play([words[0], "--resume", "run", "--lost", "3"], 1)
                self.assertEqual(result.code, 2, result)
                self.assertIn(text, result.err)


if __name__ == "__main__":
    unittest.main()
