"""Consent of owners: a run that differs is refused with the line that differs, before any record is read."""

import hashlib
import unittest
from pathlib import Path

from harness import *
from test_identities import UNUSABLE, WITH, Owners

CONSENT = """# What the owner agrees to
mechanism = laplace,gaussian
trust = local
never-noise-key = seed
most-total-epsilon = 2
most-budget = 5
ledger = {folder}/ledger-{{client}}
most-delta = 1e-5
unit = record
never-regret = dynamic,both
metrics = local
least-clients = 3
members = {members}
never-personal = true
most-epochs = 3
code = {code}
"""
AGREED = {"--mechanism": "gaussian", "--total-epsilon": 1, "--budget": 4, "--ledger": "ledger-{client}", "--delta": "1e-6", "--unit": "record",
          "--metrics": "local", "--clients": 4, "--epochs": 2, "--source": "not-there-{client}.csv",
          "--output": "refused", **dict(zip(WITH[::2], WITH[1::2]))}
REFUSED = [  # what is changed, and the line that it differs from
    ({"--mechanism": "none", "--total-epsilon": None, "--budget": None, "--delta": None, "--ledger": None},
     2, "the run has mechanism = none"),
    ({"--trust": "pairs", "--budget": None}, 3, "the run has trust = pairs"),
    ({"--total-epsilon": 3}, 5, "the run has total-epsilon = 3"),
    ({"--total-epsilon": "2.0001"}, 5, "the run has total-epsilon = 2.0001"),
    ({"--total-epsilon": None, "--epsilon": 1}, 5, "the run has no total-epsilon"),
    ({"--total-epsilon": "clients:prices.csv"}, 5, "the run has total-epsilon = clients:"),
    ({"--budget": 6}, 6, "the run has budget = 6"),
    ({"--budget": None}, 6, "the run has no budget"),
    ({"--ledger": "other-{client}"}, 7, "the run has ledger = "),
    ({"--ledger": None}, 7, "the run has no ledger"),
    ({"--delta": "1e-4"}, 8, "the run has delta = "),
    ({"--delta": None}, 8, "the run has no delta"),
    ({"--unit": "person", "--person": "who"}, 9, "the run has unit = person"),
    ({"--regret": "both"}, 10, "the run has regret = both"),
    ({"--metrics": "shared"}, 11, "the run has metrics = shared"),
    ({"--metrics": None}, 11, "the run has metrics = auto"),
    ({"--noise-key": "seed", "--ledger": None}, 4, "the run has noise-key = seed"),
    ({"--clients": 2, "--members": "two"}, 12, "the run has clients = 2"),
    ({"--members": "other"}, 13, "the run has members = SHA256:"),
    ({"--personal": ""}, 14, "the run has personal = true"),
    ({"--epochs": 4}, 15, "the run has epochs = 4"),
]


class Consents(Owners):
    def setUp(self):
        super().setUp()
        self.make_owners(4)
        self.list_owners("two", range(2))
        self.list_owners("other", range(4))
        self.write("other", (self.folder / "members").read_text().replace(" owner-3 ", " owner-x "))
        self.write("prices.csv", "client,epsilon\n0,1\n1,1\n2,1\n3,9\n")
        shown = self.succeeded(self.run_alone(["keys", "show", "members", "--json"])).out
        code = hashlib.sha256(Path(STARLING).read_bytes()).hexdigest()
        self.consent = CONSENT.format(folder=self.folder, members=json.loads(shown)["fingerprint"], code=code)
        self.write("1.consent", self.consent)

    def start(self, changed, ranks=1):
        words = {**AGREED, **changed}
        flat = [word for option, value in words.items() if value is not None for word in ([option] if value == "" else [option, value])]
        return self.run_command(ranks, ["omd", *flat, "--progress", "off"])

    def test_what_differs_is_refused_by_its_line(self):
        self.assertGreaterEqual(len(REFUSED), 20)
        for changed, line, said in REFUSED:
            with self.subTest(changed):
                self.complains(self.start(changed), UNUSABLE, rf"1\.consent, line {line}: the owner agrees to '", re.escape(said))
                self.assertFalse((self.folder / "refused").exists())
        self.complains(self.start({"--total-epsilon": 3}, 4), UNUSABLE, r"1\.consent, line 5")
        self.write("1.consent", re.sub("code = .*", "code = " + 64 * "0", self.consent))
        self.complains(self.start({}), UNUSABLE, r"1\.consent, line 16: the owner agrees to 'code = 0{64}', and the run has code = [0-9a-f]{64}")

    def test_what_agrees_goes_on_to_the_records(self):
        result = self.start({})
        self.assertNotIn("consent", result.err)
        self.assertIn("not-there-", result.err)

    def test_a_consent_that_is_damaged_ends_the_run(self):
        for text, said in (("mechanism", "line 1: 'mechanism' is no limit"), ("most-budget = many", "no number as its bound"),
                           ("# nothing\n", "it limits nothing"), ("mechansim = laplace", "the run has no mechansim")):
            with self.subTest(text):
                self.write("1.consent", text)
                self.complains(self.start({}), UNUSABLE, said)

    def test_questions_write_it(self):
        def answered(answers):
            done = subprocess.run([STARLING, "keys", "consent", "hospital"], cwd=self.folder, env=environment(), input=answers, capture_output=True,
                                  text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 0, done.stderr)
            return (self.folder / "hospital.consent").read_text().splitlines()[1:]

        self.assertEqual(answered(""), ["mechanism = laplace,gaussian", "most-total-epsilon = 1", "unit = record,person", "metrics = local,auto",
                                        "never-noise-key = seed", "least-clients = 2"])
        self.assertEqual(answered("laplace\n0.5\n3\n\n-\n-\nlocal\n\n-\n-\n5\n"), ["mechanism = laplace", "most-total-epsilon = 0.5", "most-budget = 3",
                                                                                  "trust = local", "least-clients = 5"])


if __name__ == "__main__":
    unittest.main()
