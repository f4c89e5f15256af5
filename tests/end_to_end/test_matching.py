"""Records matched in private: the records that all parties have, in the same order on any ranks and after a kill, with nothing of ids on
the way, in runs, on held-out tables, in predict and in score."""

import contextlib
import hashlib
import random
import resource
import signal
import unittest

from harness import *
from test_identities import WITH, Owners
from test_seals import FORGED

UNUSABLE, UNREADABLE = 2, 3
PRIVATE = ["--match", "private", "--id", "id", "--label", "y"]
SHARES = ["--protocol", "shares", "--loss", "logistic"]
NETWORKS = ["--feature-net", "d-2", "--head", "d-2", "--loss", "softmax", "--batch", 8]
NONE = ["--mechanism", "none"]
GAUSSIAN = ["--mechanism", "gaussian", "--total-epsilon", 2, "--delta", "1e-5", "--noise-key", "seed"]


@contextlib.contextmanager
def middleman(order):
    os.environ.update(LD_PRELOAD=os.environ["STARLING_MIDDLEMAN"], MIDDLEMAN=order)
    try:
        yield
    finally:
        del os.environ["LD_PRELOAD"], os.environ["MIDDLEMAN"]


def numbers_of(name):
    draw = random.Random(name)
    return [draw.gauss(0, 1) for _ in range(6)]


class Matching(Owners):
    def write_parties(self, kind, sets):
        """A file for each party with these ids, in an order of its own; two columns each, and labels at the first."""
        for k, ids in enumerate(sets):
            ids = sorted(ids, key=lambda name: random.Random(f"{k} {name}").random())
            rows = [["id", *(["y"] if k == 0 else []), f"bloodcount{k}", f"weight{k}"]]
            for name in ids:
                x = numbers_of(name)
                rows.append([name, *([str(int(sum(x) > 0))] if k == 0 else []), *(repr(v) for v in (x * 3)[2 * k:2 * k + 2])])
            self.write(f"{kind}-{k}.csv", "\n".join(",".join(row) for row in rows) + "\n")
        return ",".join(f"{kind}-{k}.csv" for k in range(len(sets)))

    def three_parties(self, kind="train"):
        draw = random.Random(kind)
        names = [f"{kind}patient{k:03d}" for k in range(120)]
        sets = [set(draw.sample(names, size)) for size in (100, 110, 105)]
        return self.write_parties(kind, sets), sets

    def run_of(self, words, output, ranks=1):
        shutil.rmtree(self.folder / output, ignore_errors=True)
        return self.succeeded(self.run_command(ranks, ["vertical", *words, "--progress", "off", "--json", "--output", output])).summary()

    def noted(self, words, ranks=4):
        """All bytes that ranks sent to others, and the run."""
        with middleman(f"0 note 0 {self.folder}/noted"):
            result = self.succeeded(self.run_command(ranks, words))
        sent = b"".join(path.read_bytes() for path in self.folder.glob("noted.*"))
        for path in self.folder.glob("noted.*"):
            path.unlink()
        return sent, result

    def not_matched(self, output):
        """{client: numbers of its rows that are not used}."""
        found = {}
        for path in (self.folder / output / "private").glob("*/not-matched.txt"):
            for line in path.read_text().splitlines():
                client = int(re.match(r"client (\d+): of \d+ records these are not in all parties' files", line)[1])
                found[client] = [int(word) for word in line.split(":")[-1].split()]
        return found


class Records(Matching):
    def test_those_of_all_parties_with_the_same_bits_on_any_ranks(self):
        files, sets = self.three_parties()
        test, test_sets = self.three_parties("test")
        common = set.intersection(*sets)
        for kind in (SHARES + GAUSSIAN, NETWORKS + NONE):
            seen = []
            for ranks in (1, 2, 4, 7) if SLOW else (1, 7) if kind[0] == "--protocol" else (2, 4):
                with self.subTest(ranks=ranks, kind=kind[:2]):
                    found = self.run_of([*kind, *PRIVATE, "--clients", 3, "--parties", files, "--test", test], "run", ranks)
                    self.assertIn(f"ids were matched in private: {len(common)} records are in all parties' files", found["notes"])
                    self.assertEqual(found["metrics"]["test"]["records"], len(set.intersection(*test_sets)))
                    seen.append(bits([found["final_model"], found["metrics"]["test_loss"], found["loss"]]))
                    for client, rows in self.not_matched("run").items():
                        names = [line.split(",")[0] for line in (self.folder / f"train-{client - 1}.csv").read_text().splitlines()[1:]]
                        self.assertEqual({names[row - 1] for row in rows}, sets[client - 1] - common)
                    self.assertEqual(len(self.not_matched("run")), 3)
            self.assertEqual(seen, [seen[0]] * len(seen))

    def test_two_and_eight_parties(self):
        for count, ranks in ((2, 3), (8, 3)):
            with self.subTest(count):
                names = [f"{k}" for k in range(60)]
                sets = [set(names) - {str(k), str(40 + k)} for k in range(count)]
                files = self.write_parties("many", sets)
                found = self.run_of([*NETWORKS, *NONE, *PRIVATE, "--clients", count, "--parties", files], "run", ranks)
                self.assertIn(f"ids were matched in private: {60 - 2 * count} records are in all parties' files", found["notes"])

    def test_the_first_party_with_identities_sets_the_order(self):
        """By its lasting key: the same at every start, another one without, and with other owners."""
        files, _ = self.three_parties()
        self.make_owners(4)
        self.list_owners("members", range(4))
        words = [*NETWORKS, *NONE, "--clients", 3, "--parties", files, "--id", "id", "--label", "y"]
        model = lambda more, ranks=2: bits(self.run_of([*words, *more], "run", ranks)["final_model"])
        first = model(WITH)
        self.assertEqual(model(WITH, 4), first)
        self.assertNotEqual(model(["--match", "private"]), first)
        self.complains(self.run_command(2, ["vertical", *words, *WITH, "--match", "open", "--output", "open"]), UNREADABLE,
                       "each record needs both")

    def test_an_owner_may_refuse_open_matching(self):
        files, _ = self.three_parties()
        self.make_owners(4)
        self.list_owners("members", range(4))
        self.write("2.consent", "never-match = open\n")
        words = ["vertical", *SHARES, *NONE, "--rounds", 2, "--parties", files, "--id", "id", "--label", "y", *WITH, "--progress", "off"]
        self.complains(self.run_command(4, [*words, "--match", "open", "--output", "open"]), UNUSABLE,
                       "2.consent, line 1: the owner agrees to 'never-match = open', and the run has match = open")
        self.succeeded(self.run_command(4, [*words, "--output", "private"]))

    def test_after_a_kill(self):
        files, _ = self.three_parties()
        words = ["vertical", *NETWORKS, *NONE, *PRIVATE, "--parties", files, "--progress", "off", "--json"]
        whole = self.succeeded(self.run_command(4, [*words, "--output", "whole"])).summary()
        with interrupted("after rename /private/1/checkpoint-:2", signal.SIGKILL):
            self.run_command(4, [*words, "--checkpoint-every", 2, "--output", "cut"])
        again = self.succeeded(self.run_command(4, ["vertical", "--resume", "cut", "--progress", "off", "--json"])).summary()
        self.assertEqual(bits([again["final_model"], again["loss"]]), bits([whole["final_model"], whole["loss"]]))

    def test_persons_and_labels_at_the_head(self):
        self.write("p-0.csv", "id,who,y,a\n" + "".join(f"r{k},w{k // 3},{k % 2},{k / 40 - .5}\n" for k in range(40)))
        self.write("p-1.csv", "id,b\n" + "".join(f"r{k},{(k * 7 % 40) / 40 - .5}\n" for k in range(44, 3, -1)))
        seen = []
        for ranks in (1, 3):
            found = self.run_of([*NETWORKS, *GAUSSIAN, *PRIVATE, "--batch", 4, "--labels", "head", "--person", "who", "--unit", "person",
                                 "--person-rows", 3, "--clients", 2, "--parties", "p-0.csv,p-1.csv"], "run", ranks)
            seen.append(bits([found["final_model"], found["rounds"]]))
            statement = " ".join((self.folder / "run/privacy.txt").read_text().split())
            self.assertIn("Labels are known to rank 0 and the party that handed them over", statement)
            self.assertIn("ids were compared blinded", statement)
        self.assertEqual(seen[0], seen[1])


class Refusals(Matching):
    def test_what_cannot_be_matched(self):
        def refused(code, sets, *patterns, more=(), prepare=None):
            files = self.write_parties("train", sets)
            if prepare:
                prepare()
            self.complains(self.run_command(3, ["vertical", *SHARES, *NONE, *PRIVATE, "--parties", files, "--output", "run", *more]), code, *patterns)

        twice = lambda: self.write("train-1.csv", "id,bloodcount1,weight1\nb,1,1\na,1,2\na,2,1\n")
        missing = lambda: self.write("train-1.csv", "id,bloodcount1,weight1\nb,1,1\n,2,1\n")
        refused(UNREADABLE, [{"007", "08"}, {"7", "8", "9"}], "none of 2, 3 records is in all parties' files.*compared as texts")
        refused(UNREADABLE, [{"a", "b"}, {"a", "b"}], "train-1.csv: row 4: its id has stood in record 2 before", prepare=twice)
        refused(UNREADABLE, [{"a", "b"}, {"a", "b"}], "train-1.csv: row 3: the id is missing", prepare=missing)
        self.write("labels.csv", "id,y\na,1\nb,0\n")
        for option, more in (("--label-source", []), ("--test-label-source", ["--test", "train-0.csv,train-1.csv"])):
            refused(UNUSABLE, [{"a", "b"}, {"a", "b"}], f"{option} 'labels.csv' with private matching: it is no party's file",
                    more=["--protocol", "embeddings", *more, option, "labels.csv"])
        self.complains(self.run_alone(["vertical", *NETWORKS, *NONE, *PRIVATE, "--source", "train-0.csv", "--columns", "bloodcount0/weight0"]), UNUSABLE,
                       "--match private with one table")
        self.complains(self.run_alone(["vertical", *NETWORKS, *NONE, "--match", "private", "--parties", "train-0.csv,train-1.csv"]), UNUSABLE,
                       "--match.*--id")


class Traffic(Matching):
    def test_nothing_of_ids_is_sent(self):
        """Neither as text nor as a digest that others could compare with that of a guess; sealed runs send no names of columns either."""
        files, sets = self.three_parties()
        test, _ = self.three_parties("test")
        self.make_owners(4)
        self.list_owners("members", range(4))
        tables = ["--parties", files, "--test", test, "--id", "id", "--label", "y", "--progress", "off"]
        digests = [hashlib.sha256(name.encode()).digest() for name in sets[0]]
        for kind in (SHARES, NETWORKS):
            for seal in ("off", "all"):
                with self.subTest(kind=kind[0], seal=seal):
                    sent, _ = self.noted(["vertical", *kind, *NONE, *tables, *WITH, "--seal", seal, "--output", f"{seal}{kind[0]}"])
                    self.assertGreater(len(sent), 3 * 32 * 100 * 3)
                    self.assertNotIn(b"patient", sent)
                    for digest in digests:
                        self.assertNotIn(digest[:8], sent)
                        self.assertNotIn(digest[:8][::-1], sent)
                        self.assertNotIn(digest.hex()[:16].encode(), sent)
                    (self.assertIn if seal == "off" else self.assertNotIn)(b"bloodcount1", sent)

    @slow
    def test_thirty_thousand_ids_take_ten_seconds_of_two_processors(self):
        draw = random.Random(1)
        for party in range(2):
            names = [f"person{k:06d}" for k in range(5000 * party, 5000 * party + 30_000)]
            draw.shuffle(names)
            self.write(f"many-{party}.csv", "\n".join(["id,a" + ",y" * (party == 0), *(f"{name},{draw.random():.3f}" + f",{draw.randrange(2)}" * (party == 0)
                                                                                  for name in names)]) + "\n")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = self.succeeded(self.run_command(3, ["vertical", *SHARES, *NONE, *PRIVATE, "--parties", "many-0.csv,many-1.csv", "--rounds", 1,
                                                     "--progress", "on", "--output", "run"]))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertLess(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2 * 10)
        self.assertRegex(result.err, r"matching: \d+ ids")
        self.assertIn("25000 records are in all parties' files", result.err)

    def test_parties_that_find_other_records_end_the_run(self):
        """Here since somebody changes what client 0 says of the second party's ids."""
        files, sets = self.three_parties()
        marks = 8 * -(-max(map(len, sets)) // 64)
        with middleman(f"0 flip 1 {self.folder}/middle {marks}"):
            result = self.run_command(4, ["vertical", *SHARES, *NONE, *PRIVATE, "--parties", files, "--progress", "off", "--output", "run"])
        self.assertTrue((self.folder / "middle.done").exists())
        self.complains(result, FAILURE, "--match private: parties have found other common records")


class SavedModels(Matching):
    def test_predictions_are_those_of_open_matching_at_the_party_with_the_ids(self):
        files, _ = self.three_parties()
        self.run_of([*NETWORKS, *NONE, *PRIVATE, "--parties", files, "--networks", "local"], "run", 4)
        test, sets = self.three_parties("new")
        common = set.intersection(*sets)
        self.write_parties("same", [common] * 3)
        order = [line.split(",")[0] for line in (self.folder / "new-0.csv").read_text().splitlines()]
        options = ["--id", "id", "--progress", "off"]
        open_ones = self.run_command(1, ["predict", "run", "--parties", "same-0.csv,same-1.csv,same-2.csv", *options]).out.splitlines()
        right = {line.split(",")[0]: line for line in open_ones}
        wanted = [right[name] for name in order if name in common]
        for ranks in (1, 2, 4):
            with self.subTest(ranks):
                result = self.succeeded(self.run_command(ranks, ["predict", "run", "--parties", test, "--match", "private", *options]))
                self.assertEqual(result.out.splitlines(), [open_ones[0], *wanted])
        score = lambda files, more, ranks: json.loads(self.succeeded(
            self.run_command(ranks, ["score", "run", "--parties", files, "--label", "y", "--json", *options, *more])).out)["metrics"]
        private, plain = score(test, ["--match", "private"], 4), score("same-0.csv,same-1.csv,same-2.csv", [], 1)
        self.assertEqual((private["records"], private["confusion"], private["auc"]), (plain["records"], plain["confusion"], plain["auc"]))
        self.assertAlmostEqual(private["log_loss"], plain["log_loss"], places=12)
        self.write("labels.csv", "id,y\n" + "".join(f"{name},1\n" for name in common))
        self.complains(self.run_command(1, ["score", "run", "--parties", test, "--match", "private", "--label-source", "labels.csv", *options]),
                       UNUSABLE, "--label-source 'labels.csv' with --match private: it is no party's file")

    def test_parties_with_identities(self):
        """Members prove who they are before a table is read; from then on messages are sealed, and nothing of ids is among them."""
        files, _ = self.three_parties()
        self.run_of([*NETWORKS, *NONE, *PRIVATE, "--parties", files, "--networks", "local"], "run", 4)
        test, _ = self.three_parties("test")
        self.make_owners(4)
        options = ["run", "--parties", test, "--id", "id", "--progress", "off"]
        without = self.succeeded(self.run_command(4, ["predict", *options, "--match", "private"]))
        for seal, said in (("all", "all"), ("on", "one host"), ("off", "off")):
            sent, result = self.noted(["predict", *options, *WITH, "--seal", seal])
            self.assertEqual(result.out, without.out)
            self.assertRegex(result.err, "note: 4 members have proved who they are; the list has the fingerprint SHA256:.*; sealed messages: " + said)
            self.assertNotIn(b"patient", sent)
            (self.assertNotIn if seal == "all" else self.assertIn)(b"bloodcount1", sent)
        scored = ["score", *options, "--label", "y", "--json"]
        found = [json.loads(self.succeeded(self.run_command(ranks, [*scored, *more])).out) for ranks, more in ((4, WITH), (2, WITH), (4, ["--match", "private"]))]
        self.assertEqual(found[0]["metrics"], found[2]["metrics"])
        self.assertEqual(found[1]["metrics"], found[2]["metrics"])
        for number in range(0, 12, 3):
            with self.subTest(number), middleman(f"1 flip {number} {self.folder}/middle"):
                result = self.run_command(4, ["predict", *options, *WITH, "--seal", "all"])
                self.complains(result, FAILURE, FORGED)
                self.assertEqual(result.out, "")
        gone = ["run", "--parties", "a.csv,b.csv,c.csv", "--id", "id", *WITH]
        self.write("2.consent", "mechanism = laplace,gaussian\n")
        self.complains(self.run_command(4, ["predict", *gone]), UNUSABLE, r"2\.consent, line 1: the owner agrees to 'mechanism = laplace,gaussian'", "the run has mechanism = none")
        (self.folder / "2.consent").unlink()
        self.complains(self.run_command(1, ["predict", "run", "--source", "a.csv", *WITH]), UNUSABLE, "--parties")
        self.succeeded(self.run_alone(["keys", "make", "stranger"]))
        shutil.move(self.folder / "stranger.key", self.folder / "3.key")
        self.complains(self.run_command(4, ["score", *gone]), UNUSABLE, "'3.key' has the key .* that of no member: a stranger")


if __name__ == "__main__":
    unittest.main()
