"""Owners of clients prove who they are before a record is read: the same bits as without, and runs that must be refused."""

import shutil
import stat
import unittest

from changing_clients import *

UNUSABLE = 2
WITH = ["--identity", "{client}.key", "--members", "members"]
PLAIN = ["--source", "synthetic:logistic:n=60", "--clients", 4, "--noise-key", "seed", "--mechanism", "gaussian", "--progress", "off"]


class Owners(TestCase):
    """Tests with the keys of some owners, one for each client, and their list."""

    def make_owners(self, count):
        for client in range(count):
            self.succeeded(self.run_alone(["keys", "make", f"owner-{client}"]))
            shutil.move(self.folder / f"owner-{client}.key", self.folder / f"{client}.key")
        self.list_owners("members", range(count))

    def list_owners(self, name, owners):
        self.write(name, "".join((self.folder / f"owner-{each}.pub").read_text() for each in owners))

    def fingerprint(self, owner):
        return (self.folder / f"owner-{owner}.pub").read_text().split()[-1]


class Keys(Owners):
    def test_a_key_is_its_owners_alone_and_ssh_shows_the_same_fingerprint(self):
        made = self.succeeded(self.run_alone(["keys", "make", "hospital-a"]))
        self.assertEqual(stat.S_IMODE((self.folder / "hospital-a.key").stat().st_mode), 0o600)
        line = (self.folder / "hospital-a.pub").read_text()
        self.assertEqual((line.count("\n"), line.split()[0], line.split()[2]), (1, "ssh-ed25519", "hospital-a"))
        self.assertIn(line.split()[3], made.out)
        self.assertNotIn("PRIVATE", made.out)
        if shutil.which("ssh-keygen"):
            self.assertIn(line.split()[3] + " hospital-a", self.run_program(["ssh-keygen", "-lf", "hospital-a.pub"]).out)
        shown = json.loads(self.succeeded(self.run_alone(["keys", "show", "hospital-a.pub", "--json"])).out)
        self.assertEqual(shown["members"], [{"name": "hospital-a", "fingerprint": line.split()[3], "clients": "client 0"}])
        before = (self.folder / "hospital-a.key").read_bytes()
        for name, why in (("hospital-a", "'hospital-a.key' is there already"), ("a b", "no name of a member"), ("", "--name has no value")):
            self.complains(self.run_alone(["keys", "make", name]), UNUSABLE, why)
        self.assertEqual((self.folder / "hospital-a.key").read_bytes(), before)
        self.complains(self.run_alone(["keys", "show", "hospital-a.key"]), UNUSABLE, "line 1: this is no member")


class Runs(Owners):
    def setUp(self):
        super().setUp()
        self.make_owners(4)

    def summary(self, command, ranks, words, output):
        result = self.succeeded(self.run_command(ranks, [command, *PLAIN, *words, "--json", "--output", output]))
        return result.summary(), " ".join((self.folder / output / "privacy.txt").read_text().split())

    @fewer
    def test_the_bits_are_those_of_a_run_without(self):
        for command, words, said in (("omd", ["--trust", "pairs"], "signed by the clients' owners"), ("fedavg", [], ""),
                                     ("infer", ["--mechanism", "gaussian", "--intervals", "none"], ""),
                                     ("renewable", ["--variant", "private", "--trust", "masked", "--source", "synthetic:two-gaussians:p=4,mu=0.5,n=60"],
                                      "which their owners signed")):
            with self.subTest(command):
                without, statement = self.summary(command, 1, words, f"{command}-without")
                self.assertNotIn("members", without)
                self.assertNotIn("signatures", statement)
                for ranks in layouts((1, 2, 4)):
                    summary, statement = self.summary(command, ranks, [*words, *WITH], f"{command}-{ranks}")
                    self.assertEqual(bits(summary["final_model"]), bits(without["final_model"]))
                    self.assertEqual([each["fingerprint"] for each in summary["members"]["verified"]], [self.fingerprint(u) for u in range(4)])
                    self.assertIn(f"verified the signatures of the 4 member(s) of the list with the fingerprint {summary['members']['fingerprint']}: "
                                  "owner-0, owner-1, owner-2, owner-3.", statement)
                    self.assertIn(said, statement)
                    listed = json.loads(self.run_alone(["keys", "show", "members", "--json"]).out)
                    self.assertEqual(summary["members"]["fingerprint"], listed["fingerprint"])

    def test_parties_compare_ids_under_a_signed_key(self):
        for party in (1, 2):
            rows = [f"p{k},{k % 5 - party},{k % (party + 2)}" + (f",{k % 2}" if party == 1 else "") for k in range(40)]
            self.write(f"party-{party}.csv", "\n".join([f"id,a{party},b{party}" + (",y" if party == 1 else ""), *rows[::-1 if party == 2 else 1]]) + "\n")
        words = ["vertical", "--parties", "party-1.csv,party-2.csv", "--id", "id", "--feature-net", "d-2", "--head", "d-1", "--loss", "logistic",
                 "--batch", 8, "--mechanism", "none", "--progress", "off", "--json"]
        without = self.succeeded(self.run_command(3, [*words, "--output", "without"])).summary()
        self.list_owners("members", range(3))
        found = self.succeeded(self.run_command(3, [*words, *WITH, "--match", "open", "--output", "with"])).summary()
        self.assertEqual(bits(found["loss"]), bits(without["loss"]))
        self.assertEqual(len(found["members"]["verified"]), 3)

    def test_an_owner_may_have_several_clients_and_a_rank_none(self):
        for owner in range(2):
            shutil.copy(self.folder / f"{owner}.key", self.folder / f"owner-{owner}.kept")
        a, b = ((self.folder / f"owner-{u}.pub").read_text() for u in range(2))
        self.write("members", f"clients=0-2 {a}clients=3 {b}")
        self.write("of-all", f"clients=0-3 {a}clients=none {b}")
        for client, owner in ((1, 0), (2, 0), (3, 1)):
            shutil.copy(self.folder / f"owner-{owner}.kept", self.folder / f"{client}.key")
        summary, _ = self.summary("omd", 4, WITH, "several")
        self.assertEqual([each["clients"] for each in summary["members"]["verified"]], [[0, 2], [3, 3]])
        host = self.run_program(["hostname"]).out.strip()
        shutil.copy(self.folder / "0.key", self.folder / f"of-{host}.key")
        summary, _ = self.summary("omd", 5, ["--identity", "of-{host}.key", "--members", "of-all"], "idle")
        self.assertEqual([each["clients"] for each in summary["members"]["verified"]], [[0, 3], None])
        result = self.run_command(5, ["omd", *PLAIN, *WITH, "--output", "refused"])
        self.complains(result, UNUSABLE, "without clients, has nobody who vouches for it")

    def refuse(self, ranks, words, *patterns):
        """Before a record is read: there are none."""
        words = [*PLAIN, *WITH, *words, "--source", "not-there-{client}.csv", "--output", "refused"]
        self.complains(self.run_command(ranks, ["omd", *words]), UNUSABLE, *patterns)
        self.assertFalse((self.folder / "refused").exists())

    def test_strangers_and_changed_keys_are_refused_by_name(self):
        self.list_owners("three", range(3))
        self.list_owners("swapped", [0, 2, 1, 3])
        own = (self.folder / "owner-0.pub").read_text()
        self.write("twice", own + own.replace("owner-0", "owner-1"))
        self.write("edited", (self.folder / "members").read_text().replace(self.fingerprint(2), self.fingerprint(1)))
        self.refuse(1, ["--members", "three"], "client 3 has no member")
        self.refuse(1, ["--clients", 3], "owner-3 has client 3, and the run has 3 clients")
        self.refuse(1, ["--members", "twice"], "line 2: owner-1 has the same key as owner-0")
        self.refuse(1, ["--members", "edited"], f"the key of owner-2 has the fingerprint {re.escape(self.fingerprint(2))}")
        self.refuse(2, ["--members", "swapped"], "'1.key' has the key .* that of owner-1; client 1 is owner-2")
        self.refuse(1, ["--identity", "none-{client}.key"], "'none-0.key': it is not there")
        self.refuse(1, ["--members", "none"], "--members 'none': it cannot be read")
        shutil.copy(self.folder / "0.key", self.folder / "open-0.key")
        (self.folder / "open-0.key").chmod(0o644)
        self.refuse(1, ["--identity", "open-{client}.key"], "'open-0.key' is open to others")
        self.succeeded(self.run_alone(["keys", "make", "stranger"]))
        shutil.move(self.folder / "stranger.key", self.folder / "3.key")
        self.refuse(4, [], "'3.key' has the key .* that of no member: a stranger, or a changed key; client 3 is owner-3")
        self.complains(self.run_alone(["omd", *PLAIN, *WITH[:2]]), UNUSABLE, "--identity.*--members")
        self.complains(self.run_alone(["omd", *PLAIN, *WITH[2:]]), UNUSABLE, "--members.*--identity")


class Changes(ChangingClients, Owners):
    def setUp(self):
        super().setUp()
        self.make_owners(CLIENTS)

    def test_a_run_goes_on_with_the_same_members_alone(self):
        self.begin([*PRIVATE, *WITH], 2)
        self.keep("kept")
        members = (self.folder / "members").read_text()
        self.succeeded(self.run_alone(["keys", "make", "stranger"]))
        self.list_owners("other", range(CLIENTS))
        other = (self.folder / "owner-1.pub").read_text()
        self.write("other", members.replace(other, (self.folder / "stranger.pub").read_text()))
        shutil.copytree(self.folder, self.folder / "others", ignore=lambda _, names: [name for name in names if not name.endswith(".key")])
        for client in range(CLIENTS):
            shutil.copy(self.folder / (f"{client}.key" if client != 1 else "stranger.key"), self.folder / f"others/{client}.key")
        self.complains(self.resume("--members", "other", "--identity", "others/{client}.key"), UNUSABLE,
                       rf"client 1 was owner-1 \({re.escape(self.fingerprint(1))}\) when the run began, and is stranger .*a changed key")
        config = self.folder / "run/config.ini"
        text = config.read_text()
        config.write_text("\n".join(line for line in text.split("\n") if not line.startswith(("members", "identity"))))
        self.complains(self.resume(), UNUSABLE, "the run began with --members, and goes on without")
        config.write_text(text)
        self.good_resume(ranks=3)
        resumed = self.results()
        self.assertEqual(len(self.summary()["members"]["verified"]), CLIENTS)
        shutil.rmtree(self.folder / "run")
        self.succeeded(self.play([*PRIVATE, *WITH], 1))
        self.assertEqual(self.results(), resumed)

    def test_nobody_asks_for_the_key_of_a_client_that_is_lost(self):
        self.begin([*PRIVATE, *WITH], 2)
        (self.folder / "2.key").unlink()
        self.good_resume("--lost", 2, "--rewire", "exponential", ranks=2)
        self.assertEqual([each["clients"] for each in self.summary()["lost"]], [[2]])
        self.assertEqual(len(self.summary()["members"]["verified"]), CLIENTS)

    def test_those_who_join_are_on_the_list(self):
        self.begin([*PRIVATE, *WITH], 2)
        self.write("site-5.csv", (self.folder / "site-0.csv").read_text())
        joining = ["--join", 1, "--rewire", "exponential"]
        self.complains(self.resume(*joining), UNUSABLE, "client 5 has no member")
        self.succeeded(self.run_alone(["keys", "make", "owner-5"]))
        shutil.move(self.folder / "owner-5.key", self.folder / "5.key")
        self.list_owners("members", range(6))
        self.good_resume(*joining, ranks=2)
        self.assertEqual(len(self.summary()["members"]["verified"]), 6)
        self.assertEqual(len((self.folder / "run/members").read_text().splitlines()), 6)


if __name__ == "__main__":
    unittest.main()
