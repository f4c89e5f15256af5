"""Runs that read pipes, and are resumed: what came through one is gone, and no address of noise is used twice."""

import threading
import unittest

from harness import *

STOPPED_SAFELY = 75


class Pipes(TestCase):
    def feed(self, name, seed, count=10**6, pause=0.0):
        """Rows into a named pipe, for whoever reads it, until nobody does."""
        path = self.folder / name
        if not path.exists():
            os.mkfifo(path)

        def write():
            try:
                with open(path, "w") as pipe:
                    rows = csv_rows(200, seed=seed)
                    for i in range(count):
                        pipe.write(rows[i % len(rows)] + "\n")
                        if pause:
                            pipe.flush()
                            time.sleep(pause)
            except BrokenPipeError:
                pass

        threading.Thread(target=write, daemon=True).start()

    def feed_all(self, seed, **more):
        for client in range(2):
            self.feed(f"feed-{client}", seed + client, **more)

    def ledger_rows(self, rank, folder="run"):
        path = self.folder / folder / f"private/{rank}/ledger"
        done = self.succeeded(self.run_alone(["privacy", "ledger", path, "--json"]))
        return [json.loads(line) for line in path.read_text().splitlines()], json.loads(done.out)["losses"][0]

    def test_a_killed_run_leaves_out_what_it_may_have_released(self):
        for command, words, per_round in [
                ("omd", ["--noise-key", "seed", "--average", "all"], 1),
                ("omd", ["--topology", "one-peer.topo", "--link-loss", "0.1", "--link-loss-model", "unacknowledged"], 1),
                ("fedavg", ["--local-steps", "3", "--client-weights", "equal"], 3),
                ("infer", ["--loss", "logistic", "--noise-correlation", "blt:2"], 1)]:
            with self.subTest(command, words=words):
                self.write("one-peer.topo", "generate one-peer-exponential clients=2\n")
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                self.killed_and_resumed(command, words, per_round)

    def killed_and_resumed(self, command, words, per_round):
        price = ["--mechanism", "laplace", "--epsilon", "1"]
        if command == "infer":
            price = ["--mechanism", "gaussian", "--mu", "1"]
        words = [command, "--source", "feed-{client}", "--format", "csv", *price, "--rounds", "2000", "--progress",
                 "off", *words]
        self.feed_all(1, pause=0.001)
        job = self._start([(2, [*words, "--checkpoint-every", "20", "--output", "run"], [])], NOTE_SCRIPT)
        pids = job.pids(2)
        private = self.folder / "run/private"
        wait_until(lambda: len(checkpoints_in(private / "1")) > 1 or job.process.poll() is not None, "checkpoints")
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        job.finish()
        reserved = [max(row["last"] + 1 for row in self.ledger_rows(rank)[0] if row["kind"] == "reserve")
                    for rank in range(2)]
        common = set(checkpoints_in(private / "0")) & set(checkpoints_in(private / "1"))
        self.feed_all(11)
        result = self.succeeded(self.run_command(2, [command, "--resume", "run", "--json"]))
        (resumed,) = result.summary()["resumed"]
        self.assertEqual(resumed["from"], max(common))
        self.assertEqual(resumed["at"], -(-max(reserved) // per_round))
        self.assertEqual(resumed["lost_rounds"], resumed["at"] - resumed["from"])
        self.assertEqual(resumed["charged"], max(reserved) - resumed["from"] * per_round)
        self.assertGreater(resumed["lost_rounds"], 0, "the kill came between checkpoints")
        self.assertIn(f"records that a pipe gave after round {resumed['from']} are gone", result.err)
        self.assertEqual(result.summary()["rounds"], 2000)
        history = [int(line.split(",")[0]) for line in (self.folder / "run/history.csv").read_text().splitlines()[1:]]
        lost = [done for done in history if resumed["from"] < done <= resumed["at"]]
        self.assertEqual(lost, [], "history has no line of what was not played")
        self.assertEqual(history, sorted(history))
        for rank in range(2):
            rows, losses = self.ledger_rows(rank)
            blocks = [row for row in rows if row["kind"] == "reserve"]
            spent = [t for row in blocks if row["charges"] for t in range(row["first"], row["last"] + 1)]
            self.assertEqual(len(spent), len(set(spent)), "no round is released twice")
            again = next(row["row"] for row in rows if row["kind"] == "resume")
            later = [row["first"] for row in blocks if row["row"] > again and row["charges"]]
            self.assertGreaterEqual(min(later), resumed["at"] * per_round)
            self.assertGreaterEqual(min(later), max(reserved), "no address of an earlier release is used again")
            if command != "infer":
                left_out = resumed["at"] * per_round - reserved[rank]
                self.assertAlmostEqual(losses["client_total"]["epsilon"], 2000 * per_round - left_out, delta=1e-6)
                self.assertAlmostEqual(losses["record"]["epsilon"], 2, delta=1e-9, msg="a record may come in both feeds")
        self.assertEqual(self.run_alone(["report", "run"]).code, 0)

    def stop_amid_rounds(self, seconds=0.0):
        """A run that a signal stops so long after its first round."""
        words = ["--source", "feed-{client}", "--format", "csv", "--mechanism", "laplace", "--rounds", "3000",
                 "--progress", "off"]
        self.feed_all(1, pause=0.001)
        job = self.start(2, [*words, "--output", "run"])
        pids = job.pids(2)
        wait_until(lambda: (self.folder / "run/history.csv").exists(), "it records")
        time.sleep(seconds)
        os.kill(pids[1], signal.SIGUSR1)
        self.assertEqual(job.finish().codes, [STOPPED_SAFELY] * 2)

    def test_a_stopped_run_loses_no_round(self):
        self.stop_amid_rounds(seconds=0.3)
        stopped_at = self.summary_in("run")["rounds"]
        self.feed_all(11)
        summary = self.good(2, ["--resume", "run", "--json"]).summary()
        self.assertEqual(summary["resumed"], [{"from": stopped_at, "at": stopped_at, "lost_rounds": 0, "charged": 0}])
        self.assertEqual(summary["rounds"], 3000)
        for rank in range(2):
            self.assertAlmostEqual(self.ledger_rows(rank)[1]["client_total"]["epsilon"], 3000, delta=1e-6)

    def test_without_noise_no_round_is_lost(self):
        words = ["--source", "feed-{client}", "--format", "csv", "--mechanism", "none", "--rounds", "2000",
                 "--progress", "off"]
        self.feed_all(1, pause=0.001)
        job = self._start([(2, ["omd", *words, "--checkpoint-every", "50", "--output", "run"], [])], NOTE_SCRIPT)
        pids = job.pids(2)
        wait_until(lambda: all(checkpoints_in(self.folder / f"run/private/{rank}") for rank in range(2)), "checkpoints")
        os.kill(pids[0], signal.SIGKILL)
        job.finish()
        self.feed_all(11)
        summary = self.good(2, ["--resume", "run", "--json"]).summary()
        (resumed,) = summary["resumed"]
        self.assertEqual((resumed["lost_rounds"], resumed["charged"], summary["rounds"]), (0, 0, 2000))

    def test_other_columns_are_refused(self):
        self.stop_amid_rounds()
        for client in range(2):
            threading.Thread(target=(self.folder / f"feed-{client}").write_text, args=("1,2,3,4,5,1\n" * 50,),
                             daemon=True).start()
        result = self.run_ranks(2, ["--resume", "run"])
        self.assertEqual(result.code, 2, result)
        self.assertIn("the columns of records (from pipes) are not those that the run began with", result.err)

    def test_what_cannot_leave_rounds_out_says_why(self):
        self.feed_all(1)
        result = self.run_command(2, ["infer", "--source", "feed-{client}", "--format", "csv", "--loss", "huber:1.345",
                                      "--mechanism", "gaussian", "--mu", "1", "--intervals", "plug-in", "--trust", "central",
                                      "--rounds", "200", "--checkpoint-every", "10", "--output", "run"])
        self.assertEqual(result.code, 2, result)
        self.assertIn("are released once, after the last step", result.err)


if __name__ == "__main__":
    unittest.main()
