"""`--unit person` of records that come through pipes: `--person-rounds K`."""

import math
import threading
import unittest

from person_case import *

LOGISTIC = ["--loss", "logistic", "--format", "csv"]
OMD = ["omd", "--source", "feed-{client}", *LOGISTIC, "--rounds", 99]
PIPED = ["omd", "--source", "-", *LOGISTIC, "--clients", 1, "--batch", 4, "--rounds", 10]


def stream(names, seed=1):
    """Lines of a stream whose records belong to these persons."""
    return ["who,a,b,c,y"] + [f"{name},{row}" for name, row in zip(names, csv_rows(len(names), seed=seed))]


class PersonPipes(PersonCase):
    def feed(self, client, lines):
        path = self.folder / f"feed-{client}"
        if not path.exists():
            os.mkfifo(path)

        def write():
            try:
                with open(path, "w") as pipe:
                    pipe.write("\n".join(lines) + "\n")
            except BrokenPipeError:
                pass

        threading.Thread(target=write, daemon=True).start()

    def ran(self, words, *feeds, ranks=1, output="run"):
        for client, lines in enumerate(feeds):
            self.feed(client, lines)
        return self.finished([*words, "--clients", len(feeds), "--noise-key", "seed", "--output", output, "--json-models",
                              "--progress", "off"], ranks)

    def test_one_record_each_is_unit_record(self):
        names = [f"p{i}" for i in range(24)]
        for command in (OMD, ["fedavg", *OMD[1:], "--local-steps", 2, "--client-weights", "equal"]):
            words = [*command, *GAUSSIAN, "--batch", 4]
            by_person = self.ran([*words, *PERSON], stream(names), output="person")
            by_record = self.ran([*words, "--drop", "who"], stream(names), output="record")
            self.assertEqual(bits(by_person["models"]), bits(by_record["models"]))
            self.check_same_price(by_person, by_record, "record_epsilon", "client_epsilon")
            shutil.rmtree(self.folder / "person")
            shutil.rmtree(self.folder / "record")

    def test_a_person_is_used_in_k_rounds(self):
        """Later records of a person are worth as much as rows that cannot be read."""
        names = [f"p{i % 5}" for i in range(40)]  # each in every round of eight
        lines = stream(names)
        for k in (1, 2):
            used = lines[:1 + 8 * k] + ["p0,no,number,here,at all"] * (40 - 8 * k)
            words = [*OMD, *LAPLACE, *PERSON, "--person-rounds", k, "--batch", 8]
            all_of_them = self.ran(words, lines, output=f"all-{k}")
            first_of_them = self.ran(words, used, output=f"first-{k}")
            self.assertEqual(bits(all_of_them["models"]), bits(first_of_them["models"]))
        self.assertEqual(all_of_them["privacy"]["releases"], 5)

    @fewer
    def test_layouts(self):
        feeds = [stream([f"p{(7 * i + client) % 9}" for i in range(30)], seed=client) for client in range(3)]
        words = [*OMD, *GAUSSIAN, *PERSON, "--person-rounds", 3, "--batch", 2]
        runs = [self.ran(words, *feeds, ranks=ranks, output=f"on-{ranks}") for ranks in layouts((1, 3, 2))]
        for run in runs[1:]:
            self.assertEqual(bits(run["models"]), bits(runs[0]["models"]))

    def paid(self, *words, output="run", rounds=10):
        self.feed(0, stream([f"p{i % 7}" for i in range(40)]))
        done = self.run_command(1, [*OMD[:-1], rounds, "--clients", 1, "--batch", 4, *PERSON, *words, "--json", "--ledger", "ledger", "--output", output])
        self.assertEqual(done.code, 0, done)
        return done.summary()["privacy"]

    def test_k_uses_cost_k_releases(self):
        once = self.paid(*LAPLACE, "--delta", 0, output="once")
        self.assertEqual((once["participations"], once["epsilon"], once["ledger"]["person_epsilon"]), (1, 1, 1))
        thrice = self.paid(*LAPLACE, "--delta", 0, "--person-rounds", 3, output="thrice")
        self.assertEqual((thrice["participations"], thrice["epsilon"], thrice["ledger"]["person_epsilon"]), (3, 3, 4))
        self.assertEqual(thrice["unit"], "person")
        for part in ("slots of one person", "which of them are of one person", "at most 3 release(s)", "those of one person count together"):
            self.assertIn(part, thrice["statement"])
        gaussian = self.paid(*GAUSSIAN, "--person-rounds", 4, "--noise-correlation", "none", output="gaussian")
        self.assertAlmostEqual(gaussian["mu"], 2, places=12)
        # There are no more releases than rounds.
        self.assertEqual(self.paid(*LAPLACE, "--person-rounds", 9, output="few", rounds=5)["participations"], 5)
        falling = self.paid("--mechanism", "laplace", "--epsilon", "schedule:from=1,to=0.1", "--delta", 0, "--person-rounds", 2, output="falling")
        self.assertAlmostEqual(falling["epsilon"], 1.9, places=6)
        self.assertEqual(self.run_alone(["privacy", "ledger", "ledger"]).code, 0)

    def test_a_total_is_shared_by_the_uses(self):
        for words in (["--mechanism", "laplace", "--delta", 0], ["--mechanism", "gaussian", "--delta", 1e-5, "--noise-correlation", "none"]):
            privacy = self.paid(*words, "--total-epsilon", 2, "--person-rounds", 4, output=words[1])
            self.assertAlmostEqual(privacy["epsilon"], 2, places=6)
            self.assertEqual(privacy["participations"], 4)

    def test_a_budget_of_a_person(self):
        privacy = self.paid(*LAPLACE, "--delta", 0, "--person-rounds", 3, "--budget", 2.5, "--budget-unit", "record", "--ledger-block", 1)
        self.assertEqual(privacy["ledger"]["person_epsilon"], 2)
        self.assertEqual((privacy["participations"], privacy["releases"]), (2, 2))

    def resumed(self, k, after):
        """A run of five rounds, and ten more with the records of `after`."""
        words = [*OMD[:-1], 5, "--clients", 1, "--mechanism", "none", "--batch", 4, "--step", 1, *PERSON, "--person-rounds", k, "--output", f"run-{k}",
                 "--checkpoint-every", 5, "--json-models", "--progress", "off"]
        self.feed(0, stream([f"PERSON-{i % 4}" for i in range(200)]))
        before = self.succeeded(self.run_command(1, words))
        self.feed(0, stream(after, seed=3))
        again = self.succeeded(self.run_command(1, ["omd", "--resume", f"run-{k}", "--rounds", 15, "--json"]))
        return before.summary(), again.summary()

    def test_a_resumed_run_goes_on_counting(self):
        before, again = self.resumed(5, [f"PERSON-{i % 4}" for i in range(40)])
        self.assertEqual(again["rounds"], 15)
        self.assertEqual(bits(before["models"]), bits(again["models"]))  # all persons were used five times
        before, again = self.resumed(6, [f"PERSON-{i % 4}" for i in range(40)])
        self.assertNotEqual(bits(before["models"]), bits(again["models"]))

    def test_names_of_persons_are_kept_nowhere(self):
        self.resumed(5, [f"PERSON-{i % 4}" for i in range(40)])
        files = [path for path in (self.folder / "run-5").rglob("*") if path.is_file()]
        self.assertTrue(any("checkpoint" in path.name for path in files))
        for path in files:
            self.assertNotIn(b"PERSON-", path.read_bytes(), path)

    def test_audit(self):
        self.feed(0, stream([f"p{i % 90}" for i in range(400)]))
        audited = self.run_command(1, [*OMD, "--clients", 1, *GAUSSIAN, *PERSON, "--person-rounds", 2, "--batch", 2, "--audit", "--json"])
        self.assertEqual(audited.code, 0, audited)
        self.assertIn("the first person of each batch", audited.summary()["privacy"]["statement"])

    # A person's six slots, in four rounds: what stands in them, a row that cannot be read, and one that is left out.
    SLOTS = {"mild": ["p,0.3,0.2,0.1,1"] * 6, "large": ["p,1e6,-9,7,-1"] * 6, "opposite": ["p,1e6,-9,7,1"] * 6, "unreadable": ["p,1e6,0,0,-1", *["what?"] * 2, *["p,1e6,0,0,1"] * 3],
             "ignored": [*["p,1,1,1,7"] * 3, *["p,1e6,0,0,1"] * 3], "gone": ["what?"] * 6}
    PLACES = (1, 2, 6, 13, 14, 29)

    def lines_with(self, slots):
        lines = stream([f"q{i % 11}" for i in range(40)])
        for place, text in zip(self.PLACES, slots):
            lines[1 + place] = text
        return lines

    def test_what_a_person_may_move(self):
        """Nothing but the integers behind the noise tells one person's slots from others, and they move by no more than K releases cost."""
        for k in (1, 2):
            for name, words in {"laplace": LAPLACE, "gaussian": [*GAUSSIAN, "--noise-correlation", "none"]}.items():
                command = [*PIPED, *words, *PERSON, "--person-rounds", k, "--ignore", 7, "--tuning", "off"]
                runs = {change: self.run_with(f"{name}{k}-{change}", command, self.lines_with(slots), piped=True)
                        for change, slots in self.SLOTS.items()}
                self.assertEqual(runs["mild"]["exit code"], b"0", runs["mild"]["stderr"][-2000:])
                for change in self.SLOTS:
                    with self.subTest(mechanism=name, k=k, change=change):
                        self.assertEqual(self.difference(runs["mild"], runs[change]), "")
                        self.assertLessEqual(self.loss_between(name, f"{name}{k}-mild", f"{name}{k}-{change}"), k * (1 + 1e-9))
                for change in self.SLOTS:
                    with self.subTest(mechanism=name, k=k, change=change, to="large"):
                        self.assertLessEqual(self.loss_between(name, f"{name}{k}-large", f"{name}{k}-{change}"), k * (1 + 1e-9))
                # From the second round on the model is sure of one label, whose gradient is then zero.
                self.assertGreater(self.loss_between(name, f"{name}{k}-large", f"{name}{k}-opposite"), 0.99 if k == 1 else 1.2)

    def loss_between(self, mechanism, name, other):
        """The loss of all releases together: of Laplace noise in epsilon, of Gaussian noise in squares of mu."""
        total = 0
        for (_, scale, q), (_, _, changed) in zip(self.releases(name), self.releases(other)):
            moved = [abs(a - b) / scale for a, b in zip(q, changed)]
            total += sum(moved) if mechanism == "laplace" else math.fsum(step * step for step in moved)
        return total

    def test_the_example_of_the_page(self):
        page = (SOURCE / "docs" / "how-to" / "keep-a-patients-records-together.md").read_text()
        self.write("visits.csv", re.search(r"```csv\n(.*?)```", page, re.DOTALL).group(1))
        command = re.search(r"```sh\n(cat visits.csv .*?)\n```", page, re.DOTALL).group(1).replace("starling", STARLING, 1)
        done = subprocess.run(["sh", "-c", command + " --json"], cwd=self.folder, env=environment(), capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done)
        privacy = json.loads(done.stdout)["privacy"]
        self.assertEqual((privacy["participations"], privacy["releases"]), (2, 4))
        self.assertLessEqual(privacy["epsilon"], 2 + 1e-9)

    def test_bad_input(self):
        self.write("data.csv", "\n".join(stream(["p", "q"])) + "\n")
        os.mkfifo(self.folder / "feed-0")
        self.check_refused((
                (["omd", "--source", "data.csv", *LAPLACE, *PERSON, "--person-rounds", 2], "for pipes"),
                (["omd", "--source", "data.csv", *LAPLACE, "--person-rounds", 2], "unit"),
                (["omd", "--source", "data.csv", *LAPLACE, *PERSON, "--person-rounds", 0], "person-rounds"),
                (["infer", "--source", "feed-{client}", "--clients", 1, "--rounds", 9, *GAUSSIAN, *PERSON], "pipe"),
                (["infer", "--source", "data.csv", *GAUSSIAN, *PERSON, "--person-rounds", 2], "person-rounds")))
        for words, says in (([*GAUSSIAN, "--person-rounds", 2, "--noise-correlation", "blt:2"], "noise-correlation"),
                            ([*LAPLACE[:2], "--epsilon", 1, "--person", "nobody"], "nobody")):
            self.feed(0, stream(["p", "q"]))
            person = PERSON if "--person" not in words else PERSON[:2]
            refused = self.run_command(1, [*OMD, "--clients", 1, *person, *words])
            self.assertEqual(refused.code, 2, refused)
            self.assertIn(says, refused.err)


if __name__ == "__main__":
    unittest.main()
