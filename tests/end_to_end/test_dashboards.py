"""--tensorboard and --openmetrics: what dashboards read follows from history.csv, in finished, resumed and private runs.

The readers are written from the formats' definitions: TFRecord, protocol buffers, CRC-32C (RFC 3720, appendix B.4), and the text format
of OpenMetrics 1.0."""

import csv
import re
import signal
import struct
import time
import unittest

from harness import *

DRIFT = ["--source", "synthetic:drift:informative=1,n=150", "--mechanism", "laplace", "--epsilon", "4", "--noise-key", "seed"]
USAGE, FAILURE_TO_WRITE, STOPPED_SAFELY = 2, 5, 75


def crc32c(data):
    remainder = 0xFFFFFFFF
    for byte in data:
        remainder ^= byte
        for _ in range(8):
            remainder = remainder >> 1 ^ (0x82F63B78 if remainder & 1 else 0)
    return remainder ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records_of(data):
    """Contents of TFRecords; raises where a checksum is wrong or a record is cut."""
    while data:
        length, = struct.unpack("<Q", data[:8])
        head, body, tail = data[8:12], data[12:12 + length], data[12 + length:16 + length]
        if struct.unpack("<I", head)[0] != masked(data[:8]) or struct.unpack("<I", tail)[0] != masked(body):
            raise ValueError("a checksum is wrong")
        yield body
        data = data[16 + length:]


def varint_of(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields_of(data):
    """(number, value) of a protocol buffer's fields."""
    at = 0
    while at < len(data):
        key, at = varint_of(data, at)
        if key & 7 == 0:
            value, at = varint_of(data, at)
        elif key & 7 == 2:
            length, at = varint_of(data, at)
            value, at = data[at:at + length], at + length
        else:
            form, size = {1: ("<d", 8), 5: ("<f", 4)}[key & 7]
            value, at = struct.unpack(form, data[at:at + size])[0], at + size
        yield key >> 3, value


WALL_TIME, STEP, FILE_VERSION, SUMMARY, SESSION_LOG = 1, 2, 3, 5, 7
TAG, SIMPLE_VALUE, START = 1, 2, 1


def curves_of(folder):
    """Curves by tag as TensorBoard shows them: it reads the files in the order of their names, and a restart drops what an earlier
    file has from its step on."""
    curves = {}
    for path in sorted(folder.glob("*tfevents*")):
        events = [dict(fields_of(record)) for record in records_of(path.read_bytes())]
        if events[0][FILE_VERSION] != b"brain.Event:2":
            raise ValueError("no version")
        for event in events:
            if abs(event[WALL_TIME] - time.time()) > 600:
                raise ValueError("a time that is not now")
            step = event.get(STEP, 0)
            if dict(fields_of(event.get(SESSION_LOG, b""))) == {1: START}:
                curves = {tag: [point for point in points if point[0] < step] for tag, points in curves.items()}
            for _, value in fields_of(event.get(SUMMARY, b"")):
                scalar = dict(fields_of(value))
                curves.setdefault(scalar[TAG].decode(), []).append((step, scalar[SIMPLE_VALUE]))
    return {tag: points for tag, points in curves.items() if points}


def metrics_of(text):
    """{name: (labels, value)} of gauges; raises for what is no text of OpenMetrics."""
    lines = text.splitlines()
    if lines[-1] != "# EOF" or not text.endswith("\n"):
        raise ValueError("no end")
    metrics, typed, helped = {}, set(), set()
    for line in lines[:-1]:
        if match := re.fullmatch(r"# HELP ([a-z_]+) \S.*", line):
            helped.add(match[1])
        elif match := re.fullmatch(r"# TYPE ([a-z_]+) gauge", line):
            typed.add(match[1])
        elif match := re.fullmatch(r'([a-z_]+)\{run="((?:[^"\\\n]|\\["\\n])*)"\} (-?[0-9.]+(?:e[-+]?[0-9]+)?)', line):
            name, label = match[1], re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], match[2])
            if name in metrics or name not in typed & helped:
                raise ValueError(f"{name}: twice, or without a type and a meaning")
            metrics[name] = (label, float(match[3]))
        else:
            raise ValueError(line)
    return metrics


class DashboardCase(TestCase):
    def history(self, run):
        with open(self.folder / run / "history.csv") as file:
            return [{key: float(value) for key, value in row.items() if value} for row in csv.DictReader(file)]

    def check_curves(self, folder, run):
        """The curves are the columns of history.csv, in single precision."""
        expected = {}
        for row in self.history(run):
            for key, value in row.items():
                if key != "rounds":
                    expected.setdefault(key, []).append((int(row["rounds"]), value))
        curves = curves_of(self.folder / folder)
        self.assertEqual(curves.keys(), expected.keys())
        for tag, points in expected.items():
            self.assertEqual([step for step, _ in curves[tag]], [step for step, _ in points], tag)
            for (_, seen), (_, value) in zip(curves[tag], points):
                self.assertAlmostEqual(seen, value, delta=1e-6 * abs(value), msg=tag)
        return curves

    def check_metrics(self, file, run, planned):
        """The metrics are the last known figures of history.csv."""
        history = self.history(run)
        latest = {key: value for row in history for key, value in row.items()}
        metrics = metrics_of((self.folder / file).read_text())
        self.assertEqual({label for label, _ in metrics.values()}, {run})
        values = {name.removeprefix("starling_"): value for name, (_, value) in metrics.items()}
        self.assertLess(abs(values.pop("last_record_timestamp_seconds") - time.time()), 600)
        self.assertEqual(values.pop("rounds_planned"), planned)
        self.assertEqual(values.keys(), latest.keys())
        for name, value in latest.items():
            self.assertAlmostEqual(values[name], value, delta=1e-9 * abs(value), msg=name)
        self.assertEqual(list(self.folder.glob("*.part")), [])


class Finished(DashboardCase):
    def test_both_follow_the_history(self):
        self.write("t.csv", "\n".join(csv_rows(50, dimension=5)) + "\n")
        where = ["--tensorboard", "board/one", "--openmetrics", "m.prom"]
        plain = self.summary_of(2, [*DRIFT, "--test", "t.csv"], "plain")
        summary = self.summary_of(2, [*DRIFT, "--test", "t.csv", *where], "run")
        curves = self.check_curves("board/one", "run")
        self.assertIn("test_accuracy", curves)
        self.assertIn("loss", curves)
        self.check_metrics("m.prom", "run", 150)
        self.assertEqual(bits(summary["models"]), bits(plain["models"]), "whoever watches changes nothing")
        self.assertIn("tensorboard = ", (self.folder / "run" / "config.ini").read_text())

    def test_a_name_that_needs_escapes(self):
        self.good(1, [*DRIFT, "--openmetrics", "m.prom", "--output", 'a"b\\c'])
        self.check_metrics("m.prom", 'a"b\\c', 150)

    def test_with_an_aggregator(self):
        result = self.run_command(1, ["fedavg", "--source", "synthetic:drift:informative=1,n=150", "--clients", "3", "--mechanism",
                                      "none", "--output", "run", "--tensorboard", "b", "--openmetrics", "m"])
        self.assertEqual(result.code, 0, result)
        self.assertNotIn("consensus_error", self.check_curves("b", "run"))

    def test_a_second_run_takes_the_place_of_the_first(self):
        for run in ("first", "second"):
            self.good(1, [*DRIFT, "--seed", str(len(run)), "--tensorboard", "b", "--output", run])
        self.check_curves("b", "second")

    def test_a_damaged_file_is_noticed_by_this_reader(self):
        self.good(1, [*DRIFT, "--tensorboard", "b", "--output", "run"])
        path = next((self.folder / "b").iterdir())
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        with self.assertRaises((ValueError, struct.error)):
            curves_of(self.folder / "b")


class Private(DashboardCase):
    def test_what_is_withheld_is_nowhere(self):
        rows = csv_rows(200)
        self.write("d.csv", "\n".join(rows) + "\n")
        words = ["--source", "d.csv", "--mechanism", "laplace", "--epsilon", "1", "--tensorboard", "b", "--openmetrics", "m",
                 "--output", "run", "--clients", "2"]
        self.good(1, words)
        withheld = self.summary_in("run")["withheld"]
        self.assertIn("loss.mean", withheld)
        curves = self.check_curves("b", "run")
        self.assertLessEqual(curves.keys(), {"consensus_error", "mass", "in_flight", "present"})
        self.assertNotIn("starling_loss", (self.folder / "m").read_text())


class Unfinished(DashboardCase):
    ENDLESS = ["--source", "synthetic:drift:informative=1", "--rounds", "1e9", "--mechanism", "laplace", "--epsilon", "4"]

    def test_a_run_is_seen_while_it_goes_on_and_after_it_is_resumed(self):
        job = self.start(2, [*self.ENDLESS, "--tensorboard", "b", "--openmetrics", "m.prom", "--output", "run"])
        pids = job.pids(2)
        metrics = self.folder / "m.prom"
        wait_until(lambda: metrics.exists() and metrics_of(metrics.read_text())["starling_rounds"][1] > 0, "rounds are seen", 60)
        for pid in pids:
            os.kill(pid, signal.SIGUSR1)
        self.assertEqual(job.finish(30).codes, [STOPPED_SAFELY] * 2)
        self.check_curves("b", "run")
        self.check_metrics("m.prom", "run", 1e9)
        done = self.history("run")[-1]["rounds"]
        self.succeeded(self.run_ranks(2, ["--resume", "run", "--rounds", str(int(done) + 50)]))
        self.assertEqual(len(list((self.folder / "b").iterdir())), 2)
        self.check_curves("b", "run")
        self.check_metrics("m.prom", "run", done + 50)


class Refused(DashboardCase):
    def test_before_the_first_round(self):
        self.write("file", "")
        for words, code, part in [
            (["--tensorboard", "file/b"], FAILURE_TO_WRITE, "--tensorboard: cannot make the folder"),
            (["--openmetrics", "no/such/folder/m.prom"], FAILURE_TO_WRITE, "--openmetrics: cannot write 'no/such/folder/m.prom'"),
        ]:
            with self.subTest(words=words):
                result = self.run_ranks(2, [*DRIFT, *words, "--output", "run"])
                self.assertIn(part, self.message_of(result, code))
                self.assertFalse((self.folder / "run").exists())


if __name__ == "__main__":
    unittest.main()
