"""starling privacy ledger: what it says of good and of damaged ledgers. The ledgers are written here, from what the
documentation says of the format: so others can write and check them too."""

import fcntl
import hashlib
import json
import math
import struct
import unittest

from harness import *

ZEROS = "0" * 64
WHOLE, DAMAGED, UNREADABLE = 0, 1, 2
F_OFD_SETLK = 37

START = {"kind": "ledger", "format": 2, "time": "2026-01-31T12:00:00Z"}


def begin(run, unit="record", clients=(0, 1), determined_by="ab12"):
    return {"kind": "open", "run": run, "time": "2026-01-31T12:00:01Z", "version": "0.1.0", "mechanism": "laplace",
            "parameters": "epsilon 0.1 per release", "unit": unit, "batch": 32, "batch_units": 32,
            "determined_by": determined_by, "clients": list(clients)}


def laplace(epsilon):
    return {"kind": "laplace", "epsilon": epsilon}


def reserve(run, client, first, last, charge=None, passes=(1,)):
    charge = charge or laplace(0.1)
    return {"kind": "reserve", "run": run, "client": client, "first": first, "last": last, "records": "as they arrive",
            "passes": [{"pass": number, **charge} for number in passes],
            "charges": [{**charge, "count": last - first + 1}], "digest": "keyed"}


def resume(run, determined_by="ab12"):
    return {"kind": "resume", "run": run, "time": "2026-01-31T13:00:00Z", "determined_by": determined_by}


def end(run, client, rounds, reason="finished"):
    return {"kind": "end", "run": run, "client": client, "time": "2026-01-31T14:00:00Z", "rounds": rounds, "reason": reason}


SAMPLE = [START, begin("first"), reserve("first", 0, 0, 0), reserve("first", 0, 1, 2), reserve("first", 1, 0, 9),
          resume("first"), reserve("first", 0, 3, 6, passes=(1, 2)), end("first", 0, 5, "stopped by signal"),
          begin("second", determined_by=""), reserve("second", 0, 0, 3)]


def lines_of(rows):
    """The rows as lines of a ledger, and the hash of the last."""
    previous, lines = ZEROS, []
    for number, row in enumerate(rows, 1):
        text = json.dumps({"row": number, "previous": previous, **row}, separators=(",", ":"))
        previous = hashlib.sha256((previous + text).encode()).hexdigest()
        lines.append(text[:-1] + ',"hash":"' + previous + '"}\n')
    return lines, previous


class LedgerCase(TestCase):
    def ledger(self, rows=SAMPLE, lines=None, counted=None):
        """Writes a ledger; the head counts all rows, or the first `counted`."""
        written, _ = lines_of(rows)
        counted = len(rows) if counted is None else counted
        _, last = lines_of(rows[:counted])
        self.write("ledger", "".join(written if lines is None else lines))
        self.write("ledger.head", f'{{"rows":{counted},"hash":"{last}"}}\n')
        return "ledger"

    def command(self, *words):
        return self.run_alone(["privacy", "ledger", *words])

    def found(self, *words, code=WHOLE):
        result = self.command(*words, "--json")
        self.assertEqual((result.code, len(result.messages())), (code, int(code != WHOLE)), result)
        return json.loads(result.out)


class Figures(LedgerCase):
    def test_runs(self):
        found = self.found(self.ledger())
        self.assertEqual((found["file"], found["rows"], found["whole"], found["damage"]), ("ledger", 10, True, None))
        self.assertEqual(found["head"], lines_of(SAMPLE)[1])
        first, second = found["runs"]
        self.assertEqual((first["run"], first["taken_up"], first["finished"]), ("first", 1, False))
        self.assertEqual((second["mechanism"], second["unit"], second["batch"]), ("laplace", "record", 32))
        self.assertEqual(first["clients"][0], {"client": 0, "reserved": 7, "released": 5, "charged": 5,
                                               "end": "stopped by signal"})
        self.assertEqual(first["clients"][1], {"client": 1, "reserved": 10, "released": None, "charged": 10, "end": None})

    def test_losses_of_pure_charges_are_sums(self):
        losses = {loss["client"]: loss for loss in self.found(self.ledger())["losses"]}
        self.assertEqual((losses[0]["releases"], losses[1]["releases"]), (9, 10))
        for client, record, batch in ((0, 0.3, 0.9), (1, 0.1, 1.0)):
            for name, expected in (("record", record), ("one_per_batch", batch), ("client_total", 32 * batch)):
                loss = losses[client][name]
                self.assertEqual((loss["delta"], loss["mu"], loss["method"]), (0, None, "pure"))
                self.assertGreaterEqual(loss["epsilon"], expected * (1 - 1e-12))
                self.assertLessEqual(loss["epsilon"], expected * (1 + 1e-12))

    def test_delta(self):
        rows = [START, begin("run"), reserve("run", 0, 0, 999)]
        pure = self.found(self.ledger(rows))["losses"][0]["one_per_batch"]
        composed = self.found("ledger", "--delta", "1e-6")["losses"][0]["one_per_batch"]
        self.assertAlmostEqual(pure["epsilon"], 100)
        self.assertEqual(composed["delta"], 1e-6)
        self.assertLess(composed["epsilon"], 25)
        self.assertGreater(composed["epsilon"], 5)

    def test_gaussian_charges(self):
        rows = [START, begin("run"), reserve("run", 0, 0, 8, {"kind": "gaussian", "mu": 0.5}, passes=(1, 2))]
        loss = self.found(self.ledger(rows))["losses"][0]
        self.assertAlmostEqual(loss["one_per_batch"]["mu"], 1.5)
        self.assertAlmostEqual(loss["record"]["mu"], math.sqrt(0.5))
        self.assertEqual((loss["record"]["delta"], loss["record"]["method"]), (1e-5, "gdp"))

    def test_unbounded_charges(self):
        rows = [START, begin("a"), reserve("a", 0, 0, 0, {"kind": "unbounded"}), begin("b", unit="component"),
                reserve("b", 0, 0, 1)]
        loss, = self.found(self.ledger(rows))["losses"]
        self.assertEqual(loss["releases"], 3)
        for level in ("component", "record", "one_per_batch", "client_total"):
            self.assertIsNone(loss[level]["epsilon"])
        self.assertIn("one component of a record: epsilon unbounded", self.command("ledger").out)

    def test_runs_of_both_units(self):
        """By hand: a record pays 1 for its own run, and 2 for both components of the other."""
        both = {**begin("b", unit="component"), "batch": 32, "batch_units": 64}
        rows = [START, begin("a"), reserve("a", 0, 0, 0, laplace(1)), both, reserve("b", 0, 0, 0, laplace(1))]
        loss, = self.found(self.ledger(rows))["losses"]
        self.assertEqual([loss[level]["epsilon"] for level in ("component", "record", "one_per_batch", "client_total")],
                         [2, 3, 3, 96])
        out = self.command("ledger").out
        for text in ("one component of a record: epsilon 2\n", "one record: epsilon 3\n",
                     "one record in each batch: epsilon 3\n", "all records of the client: epsilon 96\n"):
            self.assertEqual(out.count(text), 1, out)

    def test_the_table(self):
        result = self.command(self.ledger())
        self.assertEqual((result.code, result.err), (WHOLE, ""))
        for text in ("whole: ledger, 10 rows, head " + lines_of(SAMPLE)[1], "first  2026-01-31T12:00:01Z  laplace, not finished",
                     "taken up again 1x", "epsilon 0.1 per release", "5 of 7 reserved rounds released, stopped by signal",
                     "10 rounds reserved, not ended: all count", "client 0     9 releases", "one record: epsilon 0.3\n",
                     "one record in each batch: epsilon 0.9\n", "all records of the client: epsilon 32\n"):
            self.assertIn(text, result.out)

    def test_many_clients(self):
        rows = [START, begin("run", clients=range(500))] + [reserve("run", k, 0, k % 2) for k in range(500)]
        self.assertEqual(len(self.found(self.ledger(rows))["losses"]), 500)
        result = self.command("ledger")
        self.assertIn("… 480 more", result.out)
        self.assertLess(len(result.out.splitlines()), 120)

    def test_clients_that_are_alike(self):
        rows = [START, begin("run", clients=range(500))] + [reserve("run", k, 0, 3) for k in range(500)]
        loss, = self.found(self.ledger(rows))["losses"]
        self.assertEqual((loss["client"], loss["through"], loss["releases"]), (0, 499, 4))

    def test_clients_with_the_same_figures(self):
        """They are one line, though their rows are others: what one was charged at once another was in two steps."""
        rows = [START, begin("run", clients=range(6))]
        for k in range(6):
            charge = laplace(0.2 if k == 5 else 0.1)
            rows += [reserve("run", k, 0, 3, charge)] if k % 2 else [reserve("run", k, 0, 1, charge), reserve("run", k, 2, 3, charge)]
        rows += [begin("other", unit="component", clients=range(6))] + [reserve("other", k, 0, k // 3) for k in range(6)]
        found = self.found(self.ledger(rows))
        run, other = found["runs"]
        self.assertEqual(run["clients"], [{"client": 0, "through": 5, "reserved": 4, "released": None, "charged": 4, "end": None}])
        self.assertEqual([(each["client"], each["through"], each["charged"]) for each in other["clients"]], [(0, 2, 1), (3, 5, 2)])
        self.assertEqual([(loss["client"], loss.get("through"), loss["releases"]) for loss in found["losses"]],
                         [(0, 2, 5), (3, 4, 6), (5, None, 6)])
        for loss in found["losses"]:
            alone, = self.found("ledger", "--client", str(loss["client"]))["losses"]
            self.assertEqual({**alone, "through": None}, {**loss, "through": None})
        out = self.command("ledger").out
        for text in ("clients 0–5  4 rounds reserved, not ended", "clients 0–2  5 releases each\n", "clients 3–4  6 releases each\n", "client 5     6 releases\n"):
            self.assertEqual(out.count(text), 1, out)


def of_range(row, first, through):
    """The row about clients first to through."""
    items = []
    for name, value in row.items():
        if name == "client":
            items += [("client", first), ("through", through)]
        elif name != "through":
            items.append((name, value))
    return dict(items)


class Ranges(LedgerCase):
    """Format 2: adjacent clients with the same history share their rows."""
    OPEN = {**begin("run"), "clients": [[0, 99999], 200000]}
    ROWS = [START, OPEN, of_range(reserve("run", 0, 0, 3), 0, 99999), reserve("run", 200000, 0, 9),
            of_range(reserve("run", 0, 4, 7), 0, 49999), of_range(end("run", 0, 6), 10, 19)]

    def test_figures(self):
        found = self.found(self.ledger(self.ROWS))
        self.assertEqual(found["runs"][0]["clients"], [
            {"client": 0, "through": 9, "reserved": 8, "released": None, "charged": 8, "end": None},
            {"client": 10, "through": 19, "reserved": 8, "released": 6, "charged": 6, "end": "finished"},
            {"client": 20, "through": 49999, "reserved": 8, "released": None, "charged": 8, "end": None},
            {"client": 50000, "through": 99999, "reserved": 4, "released": None, "charged": 4, "end": None},
            {"client": 200000, "reserved": 10, "released": None, "charged": 10, "end": None}])
        self.assertEqual([(loss["client"], loss.get("through"), loss["releases"]) for loss in found["losses"]],
                         [(0, 9, 8), (10, 19, 6), (20, 49999, 8), (50000, 99999, 4), (200000, None, 10)])
        out = self.command("ledger").out
        for text in ("clients 0–9  8 rounds reserved, not ended", "clients 50000–99999 4 releases each\n",
                     "client 200000 10 releases\n", "all records of a client: epsilon 25.6\n"):
            self.assertIn(text, out)

    def test_one_client(self):
        self.ledger(self.ROWS)
        for client, releases in ((9, 8), (10, 6), (15, 6), (49999, 8), (50000, 4), (200000, 10)):
            found = self.found("ledger", "--client", str(client))
            account, = found["runs"][0]["clients"]
            loss, = found["losses"]
            self.assertEqual((account["client"], "through" in account, account["charged"]), (client, False, releases))
            self.assertEqual((loss["client"], "through" in loss, loss["releases"]), (client, False, releases))
        result = self.command("ledger", "--client", "15")
        self.assertEqual((result.code, result.out.count("client 15 ")), (WHOLE, 2))
        for client, expected in ((100000, "no run of ledger has that client"), (-1, "--client")):
            result = self.command("ledger", "--client", str(client))
            self.assertEqual((result.code, result.out, len(result.messages())), (UNREADABLE, "", 1))
            self.assertIn(expected, result.err)

    def test_one_client_is_no_part_of_a_verdict(self):
        self.ledger(self.ROWS)
        for more in ([], ["--json"]):
            result = self.command("ledger", "--verify", "--client", "15", *more)
            self.assertEqual((result.code, result.out, len(result.messages())), (UNREADABLE, "", 1), result)
            self.assertIn("--verify with --client 15", result.err)

    def test_what_is_no_range(self):
        row = self.ROWS[2]
        for line, rows, expected in (
            (3, [*self.ROWS[:2], of_range(row, 5, 3)], "runs upwards"),
            (3, [*self.ROWS[:2], of_range(row, 5, 5)], "runs upwards"),
            (3, [*self.ROWS[:2], of_range(row, 0, 100000)], "client 100000 is none of run"),
            (3, [*self.ROWS[:2], of_range(row, 0, 2**31)], "not a whole number"),
            (4, [*self.ROWS[:3], of_range(row, 99999, 100000)], "reserved already"),
            (2, [self.ROWS[0], {**self.OPEN, "clients": [[0, 5], [5, 9]]}], "do not ascend"),
            (1, [{**START, "format": 1}], "this version reads format 2"),
            (1, [{**START, "format": 3}], "this version reads format 2"),
        ):
            with self.subTest(expected, line=line):
                self.ledger(rows)
                damage = self.found("ledger", code=DAMAGED)["damage"]
                self.assertEqual((damage["kind"], damage["line"]), ("inconsistent", line))
                self.assertIn(expected, damage["reason"])

    def test_all_clients_that_there_can_be(self):
        most = 2**31 - 1
        rows = [START, {**begin("run"), "clients": [[0, most]]},
                of_range(reserve("run", 0, 0, 3), 0, most), end("run", most, 2)]
        found = self.found(self.ledger(rows))
        self.assertEqual([(loss["client"], loss.get("through"), loss["releases"]) for loss in found["losses"]],
                         [(0, most - 1, 4), (most, None, 2)])


class Verify(LedgerCase):
    def verdict(self, code, kind, line):
        """What is said with and without --verify, and with --json."""
        result = self.command("ledger", "--verify")
        self.assertEqual((result.code, result.err, len(result.out.splitlines())), (code, "", 1), result)
        if kind is None:
            self.assertTrue(result.out.startswith("whole: ledger, "), result)
            return result.out
        where = "ledger.head" if line == 0 else f"ledger, line {line}"
        self.assertTrue(result.out.startswith(f"damaged: {where}: {kind}: "), result)
        plain = self.command("ledger")
        self.assertEqual((plain.code, plain.out, plain.err), (code, "", "starling: " + result.out))
        damage = self.found("ledger", code=code)["damage"]
        self.assertEqual((damage["kind"], damage["line"]), (kind, line))
        return result.out

    def test_whole(self):
        self.ledger()
        self.verdict(WHOLE, None, None)
        self.ledger([START])
        self.verdict(WHOLE, None, None)
        self.write("ledger", "")
        self.write("ledger.head", f'{{"rows":0,"hash":"{ZEROS}"}}\n')
        self.verdict(WHOLE, None, None)

    def test_damage(self):
        lines, _ = lines_of(SAMPLE)
        edited = lines[4].replace('"count":10', '"count":1')
        self.assertNotEqual(edited, lines[4])
        for name, changed, kind, line in (
            ("a smaller count", [*lines[:4], edited, *lines[5:]], "edited", 5),
            ("a note", [*lines[:3], "# hello\n", *lines[3:]], "edited", 4),
            ("no row 5", lines[:4] + lines[5:], "reordered", 5),
            ("rows swapped", [*lines[:2], lines[3], lines[2], *lines[4:]], "reordered", 3),
            ("a row twice", [*lines[:6], lines[5], *lines[6:]], "reordered", 7),
            ("no last row", lines[:-1], "truncated", 10),
            ("no rows", [], "truncated", 1),
            ("half a row", [*lines[:-1], lines[-1][:100]], "truncated", 10),
            ("a row that the head does not count, cut off", [*lines, lines[-1][:100]], "torn", 11),
        ):
            with self.subTest(name):
                self.ledger(lines=changed)
                self.verdict(DAMAGED, kind, line)

    def test_heads(self):
        self.ledger()
        for text in ("", "{}\n", '{"rows":10}\n', f'{{"rows": 10, "hash": "{lines_of(SAMPLE)[1]}"}}\n'):
            self.write("ledger.head", text)
            self.verdict(DAMAGED, "no head", 0)
        self.write("ledger.head", f'{{"rows":10,"hash":"{"a" * 64}"}}\n')
        self.verdict(DAMAGED, "edited", 10)
        (self.folder / "ledger.head").unlink()
        self.assertIn(lines_of(SAMPLE)[1], self.verdict(DAMAGED, "no head", 0))
        run = self.run_alone(["omd", "--source", "synthetic:drift:n=20", "--mechanism", "laplace", "--epsilon", "1", "--ledger", "ledger"])
        self.assertRegex(run.err, "^starling: privacy ledger '[^']*ledger': no head: the head file is gone")

    def test_what_contradicts_itself(self):
        rows = [*SAMPLE[:4], reserve("first", 0, 2, 5)]
        self.ledger(rows)
        self.assertIn("reserved already", self.verdict(DAMAGED, "inconsistent", 5))

    def test_after_a_crash_between_row_and_head(self):
        self.ledger(counted=9)
        self.assertIn("1 after a crash not yet in the head", self.verdict(WHOLE, None, None))

    def test_no_ledger(self):
        self.write("ledger", "x,y\n1,2\n")
        self.verdict(DAMAGED, "not a ledger", 1)

    def test_while_a_run_writes(self):
        lines, _ = lines_of(SAMPLE)
        self.ledger(lines=[*lines, '{"row":11,"prev'])
        self.assertEqual(self.command("ledger", "--verify").code, DAMAGED)
        with open(self.folder / "ledger", "r+") as file:
            fcntl.fcntl(file, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
            self.assertIn("a run is writing it", self.verdict(WHOLE, None, None))
            self.assertIs(self.found("ledger")["in_use"], True)

    def test_expect(self):
        self.ledger()
        for rows in (1, 7, 10):
            _, kept = lines_of(SAMPLE[:rows])
            result = self.command("ledger", "--verify", "--expect", kept)
            self.assertEqual(result.code, WHOLE)
            self.assertIn(f"the expected hash is row {rows}'s", result.out)
            self.assertEqual(self.found("ledger", "--expect", kept)["expected_row"], rows)
        rewritten = [START, begin("first"), reserve("first", 0, 0, 0)]
        _, kept = lines_of(SAMPLE)
        self.ledger(rewritten)
        self.verdict(WHOLE, None, None)
        result = self.command("ledger", "--verify", "--expect", kept)
        self.assertEqual((result.code, result.err), (DAMAGED, ""))
        self.assertTrue(result.out.startswith("rewritten: "), result)
        result = self.command("ledger", "--expect", kept)
        self.assertEqual((result.code, result.out, len(result.messages())), (DAMAGED, "", 1))
        self.assertEqual(self.found("ledger", "--expect", kept, code=DAMAGED)["whole"], True)

    def test_reading_changes_nothing(self):
        lines, _ = lines_of(SAMPLE)
        self.ledger(lines=[*lines, '{"row":11'])
        before = tree(self.folder)
        self.command("ledger")
        self.command("ledger", "--verify")
        self.assertEqual(tree(self.folder), before)


class Usage(LedgerCase):
    def test_usage(self):
        self.ledger()
        for words, expected in (
            ([], ["lacks a file"]),
            (["nowhere"], ["nowhere", "No such file"]),
            (["."], ["not a plain file"]),
            (["ledger", "other"], ["takes one FILE"]),
            (["ledger", "--expect", "abc"], ["abc", "64 digits"]),
            (["ledger", "--delta", "2"], ["--delta", "out of range"]),
            (["ledger", "--frobnicate"], ["frobnicate"]),
        ):
            with self.subTest(words):
                result = self.command(*words)
                self.assertEqual((result.code, result.out, len(result.messages())), (UNREADABLE, "", 1), result)
                for text in expected:
                    self.assertIn(text, result.err)

    def test_help(self):
        result = self.command("--help=all")
        self.assertEqual((result.code, result.err), (WHOLE, ""))
        for text in ("usage: starling privacy ledger FILE", "Exit code", "Example", "--verify", "--expect", "--delta", "--json"):
            self.assertIn(text, result.out)
        self.assertIn("ledger", self.run_alone(["privacy", "--help"]).out)
        for words in ([], ["frobnicate"]):
            result = self.run_alone(["privacy", *words])
            self.assertEqual((result.code, len(result.messages())), (UNREADABLE, 1))
            self.assertRegex(result.err, "known are .*ledger")


if __name__ == "__main__":
    unittest.main()
