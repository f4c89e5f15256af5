"""Clients that sit out rounds or leave, links that lose messages, graphs that never repeat: from options to models.

Everything here averages starts 0, 1, … without learning, so that the right answer is known: their mean.
"""

import unittest

from harness import *

B3 = SOURCE / "topologies" / "b3-5.topo"
SHARES = ".1,.6,.3,.5,.1"


class Schedules(TestCase):
    def setUp(self):
        super().setUp()
        for clients in (5, 7):
            self.write(f"start-{clients}.csv", "".join(f"{u}\n" for u in range(clients)))

    def words(self, topology, clients=5, rounds=400, *more):
        return ["--topology", topology, "--clients", clients, "--loss", "none", "--rounds", rounds, "--start",
                f"start-{clients}.csv", *more]

    def averaged(self, ranks, words, output="out"):
        """The models of a run, one number per client."""
        found = self.summary_of(ranks, words, output)
        shutil.rmtree(self.folder / output)
        return [model[0] for model in found["models"]], found

    def expect_mean(self, name, words):
        with self.subTest(name):
            models, found = self.averaged(1, words)
            for model in models:
                self.assertAlmostEqual(model, (len(models) - 1) / 2, delta=1e-6)
            return found

    def test_opting_out_keeps_the_mean(self):
        for model in ("uniform", "markov:length=3", "gilbert-elliott:length=5"):
            found = self.expect_mean(model, self.words(B3, 5, 600, "--dropout", SHARES, "--dropout-model", model))
            self.assertAlmostEqual(found["mass"], 5, delta=1e-12)

    def test_losing_messages_keeps_the_mean(self):
        for model in ("acknowledged", "unacknowledged"):
            words = self.words(B3, 5, 600, "--link-loss", 0.2, "--link-loss-model", model, "--dropout", 0.1)
            found = self.expect_mean(model, words)
            if model == "acknowledged":
                self.assertAlmostEqual(found["mass"], 5, delta=1e-12)

    def test_graphs_that_never_repeat_average(self):
        for family in ("random-matching", "b-connected", "erdos-renyi", "random-regular", "one-peer-exponential"):
            self.write("g.topo", f"generate {family} clients=7 rounds=endless\n")
            self.expect_mean(family, self.words("g.topo", 7, 300))

    def test_plain_mixing_keeps_receiver_sums(self):
        self.write("g.topo", "generate random-matching clients=7 rounds=endless\n")
        models, _ = self.averaged(1, self.words("g.topo", 7, 300, "--mixing", "plain", "--dropout", 0.3))
        self.assertLess(max(models) - min(models), 1e-6)
        self.assertTrue(0 <= min(models) and max(models) <= 6)

    def test_losses_that_are_made_good_rarely_are_spoken_of(self):
        self.write("g.topo", "generate random-matching clients=7 rounds=endless\n")
        for topology_file, rarely in (("g.topo", True), (B3, False)):
            clients = 7 if rarely else 5
            words = self.words(topology_file, clients, 20, "--link-loss", 0.2, "--link-loss-model", "unacknowledged")
            result = self.good(1, [*words, "--output", f"out-{clients}"])
            self.assertEqual("until that edge comes again" in result.err, rarely)

    @fewer
    def test_the_same_bits_on_every_layout(self):
        self.write("g.topo", "generate erdos-renyi clients=7 p=0.4 directed=1 rounds=endless seed=5\n")
        self.write("leave.csv", "client,round\n3,12\n")
        words = self.words("g.topo", 7, 30, "--dropout", 0.3, "--dropout-model", "markov", "--leave", "leave.csv",
                           "--link-loss", 0.1, "--link-loss-model", "unacknowledged", "--gossip-steps", 2)
        models = {ranks: self.averaged(ranks, words)[0] for ranks in layouts()}
        for ranks in layouts():
            self.assertEqual(models[ranks], models[1], f"{ranks} ranks")

    def test_a_client_that_leaves_takes_its_model_with_it(self):
        self.write("leave.csv", "client,round\n1,0\n")
        self.write("g.topo", topology(5, [], everywhere=[(u, v) for u in range(5) for v in range(5) if u != v]))
        models, _ = self.averaged(2, self.words("g.topo", 5, 50, "--leave", "leave.csv"))
        self.assertEqual(models[1], 1)
        for u in (0, 2, 3, 4):
            self.assertAlmostEqual(models[u], (0 + 2 + 3 + 4) / 4, delta=1e-9)

    def test_a_departure_that_disconnects_the_others_is_told_before_the_run(self):
        path = [(0, 1), (1, 2), (2, 3), (3, 4)]
        self.write("g.topo", topology(5, [], everywhere=[*path, *((v, u) for u, v in path)]))
        for name, lines, told in (("middle", "0,3\n2,7\n", True), ("ends", "0,3\n4,7\n", False), ("late", "2,50\n", False)):
            with self.subTest(name):
                self.write("leave.csv", lines)
                result = self.good(1, [*self.words("g.topo", 5, 50, "--leave", "leave.csv"), "--output", name])
                self.assertEqual("from round 7 on, without client 2" in result.err, told, result.err)
                if told:
                    self.assertIn("2 components (client 1; clients 3, 4)", result.err)
                self.assertEqual("components" in result.err, told)

    def test_a_run_that_all_clients_leave_is_noted_beforehand(self):
        for name, lines, told in (("all", "".join(f"{u},{u + 1}\n" for u in range(5)), True), ("four", "0,3\n1,3\n2,3\n3,3\n", False)):
            with self.subTest(name):
                self.write("leave.csv", lines)
                result = self.good(1, [*self.words(B3, 5, 50, "--leave", "leave.csv"), "--output", name])
                self.assertEqual("--leave: from round 5 on no client is left" in result.err, told, result.err)

    def test_a_run_too_short_to_connect_all_clients_is_noted_beforehand(self):
        self.write("g.topo", topology(3, [(20, [(0, 1)]), (1, [(1, 2), (2, 0)])]))
        learn = ["--topology", "g.topo", "--clients", 3, "--source", "synthetic:drift:informative=1", "--mechanism", "none"]
        for rounds, more, told in ((20, [], True), (21, [], False), (7, ["--gossip-steps", 3], False)):
            with self.subTest(f"{rounds} rounds {more}"):
                result = self.good(1, [*learn, "--rounds", rounds, *more, "--output", f"r-{rounds}"])
                self.assertEqual("connect all clients over 21 exchanges, and this run has 20" in result.err, told, result.err)

    def test_a_graph_whose_clients_never_agree_is_told_before_the_run(self):
        self.write("g.topo", "clients 5\nweights explicit\n" + "".join(f"edge {u} {(u + 1) % 5} 1\n" for u in range(5)))
        for name, words, told in (("cycle", [], True), ("absent", ["--dropout", 0.1], False)):
            with self.subTest(name):
                result = self.good(1, [*self.words("g.topo", 5, 5, *words), "--output", name])
                self.assertEqual("the topology: disagreement never falls" in result.err, told, result.err)

    @needs_h5py
    def test_no_mass_is_split_to_nothing(self):
        """Clients that only give, shares of 0, sums with few digits left: models stay on the simplex."""
        self.write("giver.topo", topology(4, [(1, [(0, 1), (1, 2), (2, 0), (1, 3), (3, 0)])]))
        self.write("leave.csv", "1,0\n")
        self.write("own-0.topo", topology(4, [
            (1, [(0, 1, .1), (0, 2, .2), (0, 3, .7), (1, 1, 1), (2, 2, 1), (3, 3, 1)]),
            (1, [(0, 0, 1), (1, 0, .5), (1, 1, .5), (2, 2, .5), (2, 1, .5), (3, 3, .5), (3, 2, .5)])], "explicit"))
        learn = ["--source", "synthetic:drift:informative=1", "--mirror", "entropic", "--domain", "simplex",
                 "--mechanism", "none", "--step-power", "0", "--step", "0.1"]
        unbalanced = SOURCE / "topologies" / "unbalanced-5.topo"
        for name, words in (
                ("giver", ["--topology", "giver.topo", "--clients", 4, "--leave", "leave.csv", "--rounds", 2500]),
                ("own share of 0", ["--topology", "own-0.topo", "--clients", 4, "--rounds", 2000]),
                ("running sums", ["--topology", unbalanced, "--clients", 5, "--rounds", 4000, "--link-loss", 0.3,
                                  "--link-loss-model", "unacknowledged"])):
            with self.subTest(name):
                shutil.rmtree(self.folder / "out", ignore_errors=True)
                found = self.summary_of(1, [*learn, *words, "--record-every", 7], "out")
                models = self.record("out")["model"]
                self.assertTrue(numpy.isfinite(models).all())
                self.assertGreaterEqual(models.min(), 0)
                self.assertLess(abs(models.sum(axis=2) - 1).max(), 1e-9)
                self.assertAlmostEqual(found["mass"] + found["mass_in_flight"], found["clients"], delta=1e-9)

    @needs_h5py
    def test_averages_over_rounds_are_weighted_by_mass(self):
        """As the recorded models and masses of all rounds say; the unweighted mean is another."""
        learn = ["--topology", B3, "--clients", 5, "--rounds", 60, "--source", "synthetic:drift:informative=1", "--mechanism",
                 "laplace", "--epsilon", 1, "--noise-key", "seed", "--dropout", SHARES, "--record-every", 1]
        for average, rounds in (("tail", slice(31, None)), ("all", slice(1, None))):
            found = {ranks: self.summary_of(ranks, [*learn, "--average", average], f"{average}-{ranks}")["models"] for ranks in (1, 3)}
            self.assertEqual(found[1], found[3])
            record = self.record(f"{average}-1")
            models, masses = record["model"][rounds], record["mass"][rounds]
            weighted = (models * masses[..., None]).sum(axis=0) / masses.sum(axis=0)[:, None]
            self.assertLess(abs(weighted - found[1]).max(), 1e-12)
            self.assertGreater(abs(models.mean(axis=0) - weighted).max(), 1e-3)

    def test_everybody_gone_from_the_start_is_refused(self):
        self.write("all.csv", "".join(f"{u},0\n" for u in range(5)))
        result = self.run_noted(2, [*self.words(B3), "--leave", "all.csv"])
        self.assertEqual(result.codes, [2] * 2, result)
        self.assertIn("nobody would play", result.messages()[0])

    def test_absences_of_a_file(self):
        self.write("g.topo", topology(5, [], everywhere=[(u, v) for u in range(5) for v in range(5) if u != v]))
        self.write("absent.csv", "round,client\n0,2\n")
        models, _ = self.averaged(2, self.words("g.topo", 5, 1, "--dropout-model", "absent.csv"))
        self.assertEqual(models, [2, 2, 2, 2, 2])  # the others' mean is 2, and client 2 kept its own
        self.write("absent.csv", "round,client\n0,4\n")
        models, _ = self.averaged(2, self.words("g.topo", 5, 1, "--dropout-model", "absent.csv"))
        self.assertEqual(models, [1.5, 1.5, 1.5, 1.5, 4])

    def test_a_dropout_of_zero_changes_nothing(self):
        plain, _ = self.averaged(1, self.words(B3, 5, 20))
        for more in (["--dropout", 0], ["--dropout", "0,0,0,0,0", "--dropout-model", "markov"], ["--link-loss", 0]):
            self.assertEqual(self.averaged(1, self.words(B3, 5, 20, *more))[0], plain)

    def test_the_configuration_gives_the_run_back(self):
        words = self.words(B3, 5, 20, "--dropout", SHARES, "--dropout-model", "markov:length=4", "--link-loss", 0.1)
        text = self.run_alone(["omd", *words, "--print-config"]).out
        self.write("run.ini", text)
        self.assertEqual(self.averaged(1, ["--config", "run.ini"])[0], self.averaged(1, words)[0])

    def test_usage(self):
        self.write("bad.csv", "round,client\n0,9\n")
        self.write("leave.csv", "client,round\n1,0\n1,3\n")
        for more, expected in (
            (["--dropout", "1"], ["--dropout", "below 1"]),
            (["--dropout", ".1,.2"], ["2 shares for 5 clients"]),
            (["--dropout", "often"], ["--dropout", "often"]),
            (["--dropout", ".2", "--dropout-model", "erlang"], ["erlang", "uniform, gilbert-elliott, markov"]),
            (["--dropout-model", "markov"], ["--dropout-model markov", "--dropout"]),
            (["--dropout", ".2", "--dropout-model", "markov:size=3"], ["size", "length"]),
            (["--dropout", ".9", "--dropout-model", "markov:length=2"], ["too short", "length to 9"]),
            (["--dropout", ".95", "--dropout-model", "gilbert-elliott"], ["0.95", "between"]),
            (["--dropout-model", "bad.csv"], ["bad.csv:2", "client 9"]),
            (["--dropout-model", "bad.csv", "--dropout", ".2"], ["--dropout .2", "Leave one out"]),
            (["--leave", "nowhere.csv"], ["nowhere.csv"]),
            (["--leave", "leave.csv"], ["leave.csv:3", "twice"]),
            (["--link-loss", "1"], ["--link-loss", "out of range"]),
            (["--link-loss", ".1", "--link-loss-model", "hearsay"], ["hearsay", "acknowledged"]),
        ):
            with self.subTest(more):
                result = self.run_alone(["omd", *self.words(B3, 5, 5, *more)])
                self.assertEqual((result.code, len(result.messages())), (2, 1), result)
                for text in expected:
                    self.assertIn(text, result.messages()[0])


if __name__ == "__main__":
    unittest.main()
