"""Keys of records and persons, and labels beside columns: from any format a command reads what pandas and NumPy read."""

import unittest

from model_file_case import *

IDS = [9007199254740993, 9007199254740992, 10 ** 16, 10 ** 16 + 1]  # doubles hold the second and the third


class KeysTest(ModelFileCase):
    command = "predict"

    def h5(self, name, x, y=None):
        with h5py.File(self.folder / name, "w") as file:
            file["x"] = numpy.array(x)
            if y is not None:
                file["y"] = numpy.array(y, float)
        return name

    def test_ids_are_told_apart_and_written_with_all_digits(self):
        """Of an int64 array, of an HDF5 file and of text."""
        rows = [[key, k - 1, (-1) ** k] for k, key in enumerate(IDS)]
        self.table("x.csv", ["id", "a", "y"], rows)
        numpy.save(self.folder / "x.npy", numpy.array(rows, numpy.int64))
        self.h5("x.h5", numpy.array(rows, numpy.int64)[:, :2], [row[2] for row in rows])
        self.run_quietly("omd", ["--source", "x.csv", "--clients", 1, "--id", "id"])
        for source, column, *label in (("x.csv", "id"), ("x.npy", "0", "--label", 2), ("x.h5", "0")):
            with self.subTest(source):
                predicted = self.predict(["run", "--source", source, "--id", column, *label])
                self.assertEqual([row[column] for row in predicted], [str(key) for key in IDS])
                described = self.succeeded(self.run_alone(["data", "describe", source, "--id", column, "--json"]))
                self.assertEqual(json.loads(described.out)["repeated_ids"], 0)
        numpy.save(self.folder / "rounded.npy", numpy.array(rows, float))
        self.refused(UNREADABLE, ["run", "--source", "rounded.npy", "--id", "0", "--label", 2], r"record 1: column 0 .*two keys may have become one")

    def test_a_record_without_a_person_is_nobodys(self):
        """Refused with its row by every command; or as if it had a person of its own and an ignored label."""
        rows = [[k % 7, (-1) ** k, f"p{k // 2}", (-1) ** (k // 3)] for k in range(24)]
        nobody = [[*row[:2], "NA" if k % 11 == 5 else row[2], row[3]] for k, row in enumerate(rows)]
        other = [[*row[:2], f"q{k}" if k % 11 == 5 else row[2], 7 if k % 11 == 5 else row[3]] for k, row in enumerate(rows)]
        for name, table in (("nobody.csv", nobody), ("other.csv", other)):
            self.table(name, ["a", "b", "who", "y"], table)
        person = ["--clients", 1, "--unit", "person", "--person", "who"]
        for command, *words in (("omd", *QUIET), ("fedavg", *QUIET), ("infer", *QUIET),
                                ("renewable", "--variant", "private", "--mechanism", "gaussian", "--mu", 1, "--delta", 1e-5)):
            with self.subTest(command):
                result = self.run_command(1, [command, "--source", "nobody.csv", *person, *words, "--output", "refused"])
                self.complains(result, UNREADABLE, "2 faulty records", "nobody.csv: row 7: the person is missing", "also row 18")
        models = []
        for output, words in (("dropped", ["--source", "nobody.csv", "--missing-person", "drop"]), ("ignored", ["--source", "other.csv", "--ignore", 7])):
            self.run_quietly("omd", [*words, *person, "--batch", 2, "--tuning", "off"], output)
            models.append(self.record(output)["final_model"].tolist())
        self.assertEqual(*models)

    def test_labels_beside_the_columns_of_a_party(self):
        """The same run, and the same scores, as from a table with a column of labels."""
        x = self.random.integers(-3, 4, (40, 4))
        y = (x[:, 0] + x[:, 2] > 0).astype(int)
        self.table("guest.csv", ["id", "y", "a", "b"], [[k, y[k], *x[k, :2]] for k in range(40)])
        self.table("host.csv", ["id", "c", "d"], [[k, *x[k, 2:]] for k in reversed(range(40))])
        self.h5("guest.h5", [[k, *x[k, :2]] for k in range(40)], y)
        words = ["--clients", 2, "--feature-net", "d-2", "--head", "d-1", "--loss", "logistic", "--batch", 8, "--epochs", 4, "--json"]
        runs = {}
        for kind, column in (("csv", "id"), ("h5", "0")):
            parties = ["--parties", f"guest.{kind},host.csv", "--id", column]
            summary = self.run_quietly("vertical", [*parties, *words], kind).summary()
            scored = self.succeeded(self.run_alone(["score", kind, *parties, "--json"]))
            metrics = json.loads(scored.out)["metrics"]
            runs[kind] = summary["loss"], metrics["accuracy"], metrics["log_loss"]
        self.assertEqual(runs["csv"], runs["h5"])


if __name__ == "__main__":
    unittest.main()
