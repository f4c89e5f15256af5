"""Vertical learning on shares: the same bits on any number of ranks and after a kill, the plain loop it stands for, privacy figures,
predictions from the saved model, and what is refused."""

import json
import math
import random
import signal
import unittest

import numpy

from harness import *

UNUSABLE, UNREADABLE = 2, 3
SHARES = ["--protocol", "shares", "--loss", "logistic", "--id", "id", "--label", "y"]
NONE = ["--mechanism", "none"]
GAUSSIAN = ["--mechanism", "gaussian", "--total-epsilon", "2", "--delta", "1e-5", "--noise-key", "seed"]
COLUMNS = (2, 3, 1)


def parties(count, kind, seed=1, score=lambda x: x.sum() / 2, number=False, unit=(1, 0), columns=COLUMNS):
    """{file: text} of so many records at three parties; the first has the labels, perhaps numbers of which 1 and 0 are in another
    unit. Rows stand in another order at each."""
    draw = random.Random(seed)
    x = numpy.array([[draw.gauss(0, 1) for _ in range(sum(columns))] for _ in range(count)])
    y = [score(row) + draw.gauss(0, 0.3) for row in x]
    texts, first = {}, 0
    for k, width in enumerate(columns):
        lines = ["id," + ("y," if k == 0 else "") + ",".join(f"c{k}{j}" for j in range(width))]
        for i in sorted(range(count), key=lambda i: (i * (k + 1) * 7919) % count):
            label = [f"{unit[0] * y[i] + unit[1]:.9f}" if number else f"{int(y[i] > 0)}"] if k == 0 else []
            lines.append(",".join([f"{kind}{i}", *label, *(repr(float(v)) for v in x[i, first:first + width])]))
        texts[f"{kind}-{k}.csv"] = "\n".join(lines) + "\n"
        first += width
    return texts


def files(kind, count=3):
    return ",".join(f"{kind}-{k}.csv" for k in range(count))


class Shares(MethodCase):
    command = "vertical"

    def setUp(self):
        super().setUp()
        for name, text in {**parties(600, "train"), **parties(300, "test", 2)}.items():
            self.write(name, text)

    def model(self, output, count=3):
        """Parameters of model.h5 by party."""
        with h5py.File(self.folder / output / "model.h5") as file:
            layers = [file[f"party/{k}/parameters/1-dense"] for k in range(1, count + 1)]
            return [numpy.concatenate([layer[each][()].ravel() for each in ("weights", "bias")]) for layer in layers]

    @needs_h5py
    def test_the_same_bits_on_any_ranks(self):
        """With noise, on ranks that host several parties, one each, and none."""
        words = [*SHARES, "--clients", 3, "--parties", files("train"), "--test", files("test"), *GAUSSIAN, "--rounds", 16]
        seen = []
        for ranks in (1, 2, 4, 7):
            summary = self.summary(words, f"on-{ranks}", ranks)
            seen.append(([part.tobytes() for part in self.model(f"on-{ranks}")], bits(self.found(summary, "auc"))))
        self.assertEqual(seen[1:], seen[:1] * 3)

    def test_reports_show_what_there_is(self):
        """The number of parameters, and no pictures: a run without --test has no figure to draw."""
        summary = self.summary([*SHARES, "--clients", 3, "--parties", files("train"), *GAUSSIAN, "--rounds", 8], "run", 1)
        self.assertEqual(summary["parameters"], sum(COLUMNS) + 1)
        options = {line.split(" = ")[0] for line in (self.folder / "run/config.ini").read_text().splitlines()}
        self.assertEqual(options & {"feature-net", "head", "optimizer", "step", "local-steps", "epochs", "labels"}, set(), "none of embeddings")
        done = self.succeeded(self.run_alone(["report", "run"]))
        self.assertIn("8 of 8 rounds, 7 parameters", done.out)
        self.assertNotIn("Pictures", done.out)
        self.assertEqual([each.name for each in (self.folder / "run").glob("*.svg")], [])
        self.succeeded(self.run_alone(["report", "run", "--html", "page.html"]))
        page = (self.folder / "page.html").read_text()
        self.assertNotIn("Pictures", page)
        self.assertNotIn("<svg", page)

    @needs_h5py
    def test_two_to_six_parties_on_one_to_seven_ranks(self):
        for count, many in ((2, (1, 2, 3)), (3, (1, 4)), (4, (1, 5)), (5, (1, 6)), (6, (1, 7))):
            for name, text in parties(90, f"of-{count}", columns=(2, 3, 1, 1, 2, 1)[:count]).items():
                self.write(name, text)
            seen = []
            for ranks in many:
                name = f"{count}-on-{ranks}"
                self.summary([*SHARES, "--clients", count, "--parties", files(f"of-{count}", count), *GAUSSIAN, "--rounds", 4], name, ranks)
                seen.append([part.tobytes() for part in self.model(name, count)])
            self.assertEqual(seen[1:], seen[:1] * (len(many) - 1), count)

    def test_a_party_of_few_columns_beside_one_of_many(self):
        """One column decides, of forty or beside forty that say nothing: no party's part of the model is too small to say so, and under
        noise most of it stays. A party that has few of the other's records: those are learned from, and the outlook is theirs."""
        draw = random.Random(3)
        for few, says in ((0, 0), (0, 1), (1, 0), (1, 1)):
            widths = [1 if k == few else 40 for k in range(2)]
            for kind, count in (("train", 3000), ("test", 1000)):
                tables = [["id," + ("y," if k == 0 else "") + ",".join(f"c{j}" for j in range(width))] for k, width in enumerate(widths)]
                for i in range(count):
                    rows = [[draw.gauss(0, 1) for _ in range(width)] for width in widths]
                    label = int(rows[says][0] + draw.gauss(0, 0.7) > 0)
                    for k, row in enumerate(rows):
                        tables[k].append(",".join([f"{kind}{i}", *([str(label)] if k == 0 else []), *(f"{x:.5f}" for x in row)]))
                for k, lines in enumerate(tables):
                    self.write(f"{kind}-{k}.csv", "\n".join(lines) + "\n")
            words = [*SHARES, "--clients", 2, "--parties", files("train", 2), "--test", files("test", 2)]
            auc = [self.found(self.summary([*words, *noise], f"{few}-{says}-{number}"), "auc")
                   for number, noise in enumerate((NONE, last_given([*GAUSSIAN, "--total-epsilon", 1])))]
            self.assertGreater(auc[0], 0.86, (few, says))  # of the column alone .875
            self.assertGreater(auc[1], 0.70, (few, says))
        header, *lines = (self.folder / "train-1.csv").read_text().splitlines()
        self.write("train-1.csv", "\n".join([header, *lines[1000:1060]]) + "\n")
        result = self.play([*words, *GAUSSIAN, "--match", "private", "--output", "some"])
        self.assertEqual(result.code, 0, result)
        self.assertIn("64 rounds over all 60 records", result.err)
        self.assertIn("it is not worth it", result.err)

    @needs_h5py
    def test_it_learns_what_a_plain_loop_learns(self):
        """Without noise a model near the regression of the clipped rows, and nearly as good predictions."""
        self.summary([*SHARES, "--clients", 3, "--parties", files("train"), "--test", files("test"), *NONE, "--networks", "shared"], "plain")
        weights = numpy.concatenate([part[:-1] for part in self.model("plain")])
        self.assertGreater(weights.min(), 0.3)  # all columns count alike
        lines = self.run_alone(["report", "plain", "--pictures", "off"]).out.split("\n")
        self.assertFalse([line for line in lines if line.split() == ["round"] or line.split()[:2] == ["loss", "-"]])
        self.complains(self.run_alone(["report", "plain", "--coefficients"]), 2, "lies in parts.*party/1")
        self.assertLess(weights.std(), 0.25 * weights.mean())

    @needs_h5py
    def test_a_killed_run_goes_on_to_the_same_bits(self):
        words = [*SHARES, "--clients", 3, "--parties", files("train"), *GAUSSIAN, "--rounds", 24, "--checkpoint-every", 4]
        self.summary(words, "whole", 2)
        with interrupted("after rename /private/1/checkpoint-:2", signal.SIGKILL):
            self.play([*words, "--output", "run"], 2)
        self.assertFalse((self.folder / "run/summary.json").exists())
        again = self.play(["--resume", "run"], 2)
        self.assertEqual(again.code, 0, again)
        self.assertIn("the run goes on after round", again.err)
        self.assertEqual([part.tobytes() for part in self.model("run")], [part.tobytes() for part in self.model("whole")])
        first, second = self.summary_in("whole"), self.summary_in("run")
        self.assertEqual(first["privacy"]["mu"], second["privacy"]["mu"])

    def test_the_total_is_what_was_asked_for(self):
        """The whole record pays it once, whatever the number of parties; two that collude take off their noise."""
        summary = self.summary([*SHARES, "--clients", 3, "--parties", files("train"), *GAUSSIAN[:-2]], "private")
        privacy = summary["privacy"]
        self.assertLessEqual(privacy["record_epsilon"], 2)
        self.assertGreater(privacy["record_epsilon"], 1.99)
        statement = " ".join((self.folder / "private/privacy.txt").read_text().split())
        self.assertIn("Who is protected: a record: its columns at all parties, and its label.", statement)
        mu = privacy["mu"]
        against_two = float(re.search(r"against 2 parties that pool what they know a record pays at most mu = ([0-9.]+)", statement).group(1))
        self.assertAlmostEqual(against_two, mu * math.sqrt(3 / 2), places=4)
        self.assertTrue(any(note.startswith("outlook: ") for note in summary["notes"]))
        ledgers = self.losses_in([self.folder / "private/private/0/ledger"])
        self.assertEqual([ledgers[client]["record"] for client in (1, 2, 3)], [ledgers[1]["record"]] * 3)

    def test_saved_parts_predict_what_the_run_said(self):
        words = [*SHARES, "--parties", files("train"), "--test", files("test"), *GAUSSIAN]
        summary = self.summary(words, "together", 4)
        score = json.loads(self.run_alone(["score", "together", "--parties", files("test"), "--id", "id", "--label", "y", "--json"]).out)
        self.assertAlmostEqual(self.found(score, "auc"), self.found(summary, "auc"), places=12)
        self.assertGreater(self.found(summary, "auc"), 0.9)

    def found(self, tree, key):
        """The one number whose key ends so, in nested objects."""
        if isinstance(tree, dict):
            for name, value in tree.items():
                if name.endswith(key) and isinstance(value, (int, float)):
                    return value
                inner = self.found(value, key)
                if inner is not None:
                    return inner
        return None

    def test_a_number_as_label(self):
        """In any units: labels are standardised like columns, and the saved model predicts in their units."""
        r2 = {}
        for factor, shift in ((1, 0), (2000, 3000)):
            for kind, count, seed in (("train", 600, 1), ("test", 300, 2)):
                for name, text in parties(count, kind, seed, number=True, unit=(factor, shift)).items():
                    self.write(name, text)
            words = [*last_given([*SHARES, "--loss", "squared"]), "--clients", 3, "--parties", files("train"), "--test", files("test")]
            for noise in (NONE, GAUSSIAN):
                name = f"numbers-{factor}-{noise[1]}"
                summary = self.summary([*words, *noise, "--networks", "shared"], name)
                self.assertTrue(any("labels, standardised like columns, to +-3" in note for note in summary["notes"]))
                r2[name] = self.found(summary, "r2")
                score = json.loads(self.run_alone(["score", name, "--parties", files("test"), "--id", "id", "--label", "y", "--json"]).out)
                self.assertAlmostEqual(self.found(score, "r2"), r2[name], places=12)
                self.succeeded(self.run_alone(["predict", name, "--parties", files("test"), "--id", "id", "--output", f"{name}.csv"]))
                predicted = [float(line.split(",")[-1]) for line in (self.folder / f"{name}.csv").read_text().splitlines()[1:]]
                self.assertGreater(numpy.std(predicted), 0.4 * factor)
                self.assertLess(abs(numpy.mean(predicted) - shift), 0.6 * factor)
        self.assertGreater(r2["numbers-1-none"], 0.85)
        self.assertAlmostEqual(r2["numbers-2000-none"], r2["numbers-1-none"], places=5)
        self.assertGreater(r2["numbers-1-gaussian"], 0.5)
        self.assertGreater(r2["numbers-2000-gaussian"], 0.4)

    @needs_h5py
    def test_several_classes(self):
        """Two classes by softmax are those of the logistic loss, whose weights are twice those of the second class; of three the
        accuracy is held out, and the saved model has it too. With noise, the same bits on any ranks."""
        words = ["--clients", 3, "--parties", files("train"), "--test", files("test")]
        two = [*last_given([*SHARES, "--loss", "softmax"]), *words, *NONE, "--networks", "shared"]
        self.summary(two, "two")
        with h5py.File(self.folder / "two/model.h5") as file:
            weights = [file[f"party/{k}/parameters/1-dense/weights"][()] for k in range(1, 4)]
        self.summary([*SHARES, *words, *NONE, "--networks", "shared"], "logistic")
        for by_class, one in zip(weights, self.model("logistic")):
            numpy.testing.assert_allclose(by_class[:, 0], -by_class[:, 1], atol=1e-9)
            numpy.testing.assert_allclose(2 * by_class[:, 1], one[:-1], atol=0.01)
        for kind, count, seed in (("train", 600, 1), ("test", 300, 2)):
            for name, text in parties(count, kind, seed, number=True).items():
                header, *lines = text.splitlines()
                if name.endswith("-0.csv"):
                    cells = [line.split(",") for line in lines]
                    lines = [",".join([c[0], str(int(float(c[1]) > -0.5) + int(float(c[1]) > 0.5)), *c[2:]]) for c in cells]
                self.write(name, "\n".join([header, *lines]) + "\n")
        three = [*last_given([*SHARES, "--loss", "softmax:3"]), *words]
        bare = self.summary([*three, *NONE, "--networks", "shared"], "three")
        self.assertGreater(self.found(bare["metrics"]["test"], "accuracy"), 0.65)
        score = json.loads(self.run_alone(["score", "three", "--parties", files("test"), "--id", "id", "--label", "y", "--json"]).out)
        self.assertEqual(self.found(score, "accuracy"), self.found(bare["metrics"]["test"], "accuracy"))
        self.assertAlmostEqual(self.found(score, "log_loss"), self.found(bare["metrics"]["test"], "log_loss"), places=12)
        seen = []
        for ranks in (1, 4):
            self.summary([*three, *GAUSSIAN, "--rounds", 8], f"noisy-{ranks}", ranks)
            seen.append([part.tobytes() for part in self.model(f"noisy-{ranks}")])
        self.assertEqual(seen[0], seen[1])

    def change_units(self, kind, count, seed, factor, shift, constant=False):
        """Files of the same records with other units of all columns, and perhaps a column of one value at the second party."""
        for name, text in parties(count, kind, seed).items():
            header, *lines = text.splitlines()
            names = header.split(",")
            rows = []
            for line in lines:
                cells = line.split(",")
                rows.append(",".join(repr(float(cell) * factor + shift) if column.startswith("c") else cell
                                     for column, cell in zip(names, cells)) + (",4711" if constant and "-1" in name else ""))
            self.write(name, "\n".join([header + (",same" if constant and "-1" in name else ""), *rows]) + "\n")

    def test_any_units(self):
        """Without noise columns are standardised by themselves; with noise by histograms, which cost seven rounds and no more. So the figures
        do not depend on units, a column of one value does no harm, and the saved model standardises likewise."""
        words = [*SHARES, "--clients", 3, "--parties", files("train"), "--test", files("test")]
        own = self.summary([*words, *NONE, "--networks", "shared"], "own")["metrics"]["test"]["auc"]
        noisy = self.summary([*words, *GAUSSIAN], "noisy")
        self.assertTrue(any("(columns are standardised by histograms with noise, in the first 7 rounds)" in note for note in noisy["notes"]))
        for number, (factor, shift, constant) in enumerate(((1000, 5e4, False), (1e-3, 0, True))):
            for kind, count, seed in (("train", 600, 1), ("test", 300, 2)):
                self.change_units(kind, count, seed, factor, shift, constant)
            other = self.summary([*words, *NONE, "--networks", "shared"], f"other-{number}")["metrics"]["test"]["auc"]
            self.assertAlmostEqual(other, own, delta=0.003 if constant else 1e-4)
            ranks = 1 + 3 * number
            summary = self.summary([*words, *GAUSSIAN], f"other-noisy-{number}", ranks)
            if shift == 0:  # octaves show a size, not a small deviation about a large mean
                self.assertGreater(summary["metrics"]["test"]["auc"], 0.9)
            self.assertEqual(summary["privacy"]["releases"], 64)
            self.assertEqual(summary["privacy"]["mu"], noisy["privacy"]["mu"])
            score = json.loads(self.run_alone(["score", f"other-noisy-{number}", "--parties", files("test"), "--id", "id", "--label", "y",
                                               "--json"]).out)
            self.assertAlmostEqual(self.found(score, "auc"), summary["metrics"]["test"]["auc"], places=12)
            together = self.run_command(4, ["score", f"other-noisy-{number}", "--parties", files("test"), "--id", "id", "--label", "y", "--json"])
            self.assertAlmostEqual(self.found(together.summary(), "auc"), summary["metrics"]["test"]["auc"], places=12)

    @needs_h5py
    def test_small_deviations_about_large_means(self):
        """Octaves say that all values are of one size. A second look within that size shows how they differ, of labels too. Where it does
        not, and where values are too small to be counted, the run says so. A killed run looks at the same."""
        words = [*SHARES, "--clients", 3, "--parties", files("train"), "--test", files("test")]
        for unit in ((1, 0), (0.3, 10), (1e-9, 0), (1e-3, 1000)):
            for kind, count, seed in (("train", 3000, 1), ("test", 500, 2)):
                self.change_units(kind, count, seed, *unit)
            summary = self.summary([*words, *GAUSSIAN], f"shifted-{unit[0]}")
            unresolved = any("do not show how the values of some columns differ (c00, c01 of party 1; c10" in note for note in summary["notes"])
            self.assertEqual(unresolved, unit in ((1e-9, 0), (1e-3, 1000)))
            self.assertEqual(summary["metrics"]["test"]["auc"] > 0.94, not unresolved)
        self.change_units("train", 3000, 1, 0.3, 10)
        words = [*words[:-2], *GAUSSIAN, "--rounds", 24, "--checkpoint-every", 4]
        self.summary(words, "whole", 2)
        with interrupted("after rename /private/1/checkpoint-:2", signal.SIGKILL):
            self.play([*words, "--output", "run"], 2)
        self.succeeded(self.play(["--resume", "run"], 2))
        self.assertEqual([part.tobytes() for part in self.model("run")], [part.tobytes() for part in self.model("whole")])
        r2 = {}
        for unit in ((1, 0), (50, 1000), (1, 1e6)):
            for kind, count, seed in (("train", 3000, 1), ("test", 500, 2)):
                for name, text in parties(count, kind, seed, number=True, unit=unit).items():
                    self.write(name, text)
            summary = self.summary([*last_given([*SHARES, "--loss", "squared"]), "--clients", 3, "--parties", files("train"), "--test", files("test"),
                                    *GAUSSIAN], f"labels-{unit[1]}")
            r2[unit[1]] = self.found(summary, "r2")
            self.assertEqual(any("(the labels)" in note for note in summary["notes"]), unit[1] == 1e6)
        self.assertGreater(r2[1000], r2[0] - 0.05)

    def test_a_rare_class_is_told_of(self):
        """Its intercept leaves columns no room, which costs more than noise does: no outlook speaks of that."""
        for shift, told in ((0, False), (2.5, True)):
            for name, text in parties(2000, "train", score=lambda x, shift=shift: x.sum() / 2 - shift).items():
                self.write(name, text)
            for protection in (NONE, GAUSSIAN):
                summary = self.summary([*SHARES, "--clients", 3, "--parties", files("train"), *protection], f"rare-{shift}-{protection[1]}", 2)
                self.assertEqual(any("one class is rare" in note for note in summary["notes"]), told)

    def write_sites(self, kind, count, seed):
        """A bank with semicolons, decimal commas, texts and gaps in an amount near 5e4; a shop with commas, points and gaps of its own."""
        draw = random.Random(seed)
        bank, shop = ["customer;y;income;work"], ["number,spent,visits"]
        for i in range(count):
            income, spent, works, visits = draw.gauss(0, 1), draw.gauss(0, 1), draw.random() < 0.5, draw.gauss(0, 1)
            y = int(income - spent + (1 if works else -1) + draw.gauss(0, 0.5) > 0)
            gap, other_gap = draw.random() < 0.1, draw.random() < 0.1
            bank.append(f"{kind}{i};{y};{'' if gap else f'{50000 + 20000 * income:.2f}'.replace('.', ',')};{'yes' if works else 'no'}")
            shop.append(f"{kind}{i},{0.01 * spent:.6f},{'' if other_gap else f'{300 * visits:.1f}'}")
        self.write(f"{kind}-bank.csv", "\n".join(bank) + "\n")
        self.write(f"{kind}-shop.csv", "\n".join(shop) + "\n")

    @needs_h5py
    def test_raw_tables_of_two_sites(self):
        """Columns of numbers are standardised beside categories and gaps, which count for nothing there; without that the AUC is near .5. Each
        site writes numbers in its own way, and one has no texts to encode. The saved model standardises likewise, on any ranks."""
        self.write_sites("train", 2000, 1)
        self.write_sites("test", 500, 2)
        self.write("codes-1.csv", "column,category,value\nwork,yes,1\nwork,no,0\n")
        self.write("codes-2.csv", "column,category,value\n")
        reading = ["--id", "0", "--label", "y", "--decimal", "comma"]
        words = ["--protocol", "shares", "--loss", "logistic", *reading, "--encode", "onehot:codes-{client}.csv", "--clients", 2,
                 "--parties", "train-bank.csv,train-shop.csv", "--test", "test-bank.csv,test-shop.csv"]
        for missing in ("zero", "indicator"):
            for name, protection in (("own", [*NONE, "--networks", "shared"]), ("noisy", GAUSSIAN)):
                found = [self.summary([*words, "--missing", missing, *protection], f"{name}-{missing}-{ranks}", ranks)["metrics"]["test"]["auc"]
                         for ranks in (1, 3)]
                self.assertEqual(found[0], found[1])
                self.assertGreater(found[0], 0.93)
                score = self.run_alone(["score", f"{name}-{missing}-1", "--parties", "test-bank.csv,test-shop.csv", *reading, "--json"])
                self.assertAlmostEqual(self.found(json.loads(score.out), "auc"), found[0], places=12)

    def test_many_records_of_few_columns_and_few_of_many(self):
        """Two and six parties; one column, and more columns than records; a party whose only column is constant."""
        draw = random.Random(4)
        for kind, count, widths in (("tall", 400, (1, 1)), ("wide", 20, (30, 1, 2, 1, 1, 4))):
            labels = [draw.random() < 0.5 for _ in range(count)]
            for k, width in enumerate(widths):
                lines = ["id," + ("y," if k == 0 else "") + ",".join(f"c{k}{j}" for j in range(width))]
                for i in range(count):
                    cells = ["7" if k == 1 and kind == "wide" else f"{draw.gauss(float(labels[i]), 1):.6f}" for _ in range(width)]
                    lines.append(",".join([f"r{i}", *([str(int(labels[i]))] if k == 0 else []), *cells]))
                self.write(f"{kind}-{k}.csv", "\n".join(lines) + "\n")
            bits = []
            for ranks in (1, len(widths) + 1):
                summary = self.summary([*SHARES, "--clients", len(widths), "--parties", files(kind, len(widths)), "--test", files(kind, len(widths)),
                                        "--mechanism", "gaussian", "--mu", 2, "--delta", "1e-5", "--noise-key", "seed", "--rounds", 8],
                                       f"{kind}-{ranks}", ranks)
                bits.append(summary["metrics"]["test"]["auc"])
            self.assertEqual(bits[0], bits[1])
            self.assertGreater(bits[0], 0.6)

    def test_a_budget_stops_all_parties_together(self):
        words = [*SHARES, "--clients", 3, "--parties", files("train"), "--mechanism", "gaussian", "--epsilon", 0.2, "--delta", "1e-5",
                 "--budget", 0.5, "--budget-unit", "record", "--ledger", "ledger-{client}"]
        summary = self.summary(words, "limited", 2)
        self.assertLessEqual(summary["privacy"]["record_epsilon"], 0.5)
        self.assertLess(summary["privacy"]["budget"]["stopped_after_round"], 64)
        self.assertEqual(summary["privacy"]["budget"]["stopped_clients"], 3)

    def test_few_records_are_told_before_the_run(self):
        for name, text in parties(60, "few").items():
            self.write(name, text)
        words = [*SHARES, "--clients", 3, "--parties", files("few"), *GAUSSIAN, "--total-epsilon", "0.3"]
        result = self.play([*last_given(words), "--output", "few"])
        self.assertEqual(result.code, 0, result)
        self.assertIn("expect one near .5; it is not worth it", result.err)
        self.assertIn("nothing shows that they are: say how large they are by --standardise or --ranges", result.err)

    def person_files(self, records, kind="people", count=600, seed=1):
        """Files of parties in which person i // 3 has the records that `records(person)` keeps of three."""
        for name, text in parties(count, kind, seed).items():
            header, *lines = text.splitlines()
            number = lambda line: int(line.split(",", 1)[0][len(kind):])
            kept = [line for line in lines if number(line) % 3 < records(number(line) // 3)]
            if name.endswith("-0.csv"):
                header, kept = header + ",who", [f"{line},p{number(line) // 3}" for line in kept]
            self.write(name, "\n".join([header, *kept]) + "\n")

    def person_words(self, kind="people"):
        return [*SHARES, "--clients", 3, "--parties", files(kind), "--unit", "person", "--person", "who", "--person-rows", 3]

    @needs_h5py
    def test_a_person_pays_as_much_as_a_record(self):
        """The price is that of a record, and persons count alike: one with its record three times as much as one with it once."""
        self.person_files(lambda person: 1, "once")
        for name in ("once-0.csv", "once-1.csv", "once-2.csv"):
            header, *lines = (self.folder / name).read_text().splitlines()
            place = header.split(",").index("id")
            for copies, kind in ((1, "single"), (3, "triple")):
                rows = []
                for line in lines:
                    cells = line.split(",")
                    times = copies if int(cells[0][4:]) % 2 == 0 else 1
                    rows += [",".join([f"{cells[0]}-{copy}", *cells[1:]]) for copy in range(times)]
                self.write(name.replace("once", kind), "\n".join([header, *rows]) + "\n")
        noise = [*GAUSSIAN, "--rounds", 16]
        single = self.summary([*self.person_words("single"), *noise], "single")["privacy"]
        by_record = self.summary([*SHARES, "--clients", 3, "--parties", files("single"), "--drop", "who", *noise], "records")["privacy"]
        self.assertEqual((single["unit"], by_record["unit"]), ("person", "record"))
        for key in ("record_epsilon", "mu", "releases"):
            self.assertEqual(single[key], by_record[key], key)
        self.summary([*self.person_words("single"), *noise[:-4], "--rounds", 4], "secret")
        statement = " ".join((self.folder / "secret/privacy.txt").read_text().split())
        self.assertIn("Who is protected: a person: the columns of all the person's records at all parties, and their labels.", statement)
        self.assertIn("opened the gradient sum of all 200 persons 4 time(s)", statement)
        for kind in ("single", "triple"):
            self.summary([*self.person_words(kind), *NONE, "--networks", "shared"], f"bare-{kind}", 1 if kind == "single" else 4)
        for one, three in zip(self.model("bare-single"), self.model("bare-triple")):
            numpy.testing.assert_allclose(one, three, atol=2e-4)
            self.assertGreater(numpy.abs(one).max(), 0.1)

    @needs_h5py
    def test_persons_on_any_ranks(self):
        self.person_files(lambda person: 1 + person % 3)
        words = [*self.person_words(), *GAUSSIAN, "--rounds", 8]
        models = []
        for ranks in (1, 3):
            summary = self.summary(words, f"on-{ranks}", ranks)
            self.assertTrue(any("8 rounds over all 200 persons (600 rows)" in note for note in summary["notes"]), summary["notes"])
            models.append([part.tobytes() for part in self.model(f"on-{ranks}")])
        self.assertEqual(models[0], models[1])

    def test_a_private_run_is_on_shares_where_they_can_do_it(self):
        """Else it says in a sentence why it is not; what was asked for by name is done or refused."""
        words = [*SHARES[2:], "--clients", 3, "--parties", files("train"), "--rounds", 4]
        notes = lambda name: self.summary_in(name)["notes"]
        self.succeeded(self.play([*words, *GAUSSIAN, "--output", "chosen"]))
        self.assertTrue(any(note.startswith("4 rounds over all 600 records") for note in notes("chosen")))
        self.assertEqual(configuration(self.folder / "chosen")["protocol"], "auto")
        priced = ["--mechanism", "gaussian", "--mu", 1, "--noise-key", "seed"]
        for more, why in ((["--batch", 100], "--protocol shares with --batch: each round is over all records"),
                          (["--feature-net", "d-2"], "the model is linear in all columns"), (["--labels", "head"], "the labels stay at a party")):
            with self.subTest(more=more):
                name = "other" + more[0]
                self.succeeded(self.play([*words, *priced, *more, "--output", name]))
                self.assertTrue(any(note.startswith("embeddings, which hide each record alone, since shares cannot do what is asked: ") and why in note
                                    for note in notes(name)), notes(name))
        self.succeeded(self.play([*words, *NONE, "--output", "bare"]))
        self.assertFalse(any("shares" in note for note in notes("bare")), notes("bare"))
        self.succeeded(self.play([*SHARES[2:], "--parties", "train-0.csv", "--clients", 1, *priced, "--output", "one", "--rounds", 4]))
        self.assertTrue(any("there is nobody to share with" in note for note in notes("one")), notes("one"))

    def test_refusals(self):
        words = [*SHARES, "--clients", 3, "--parties", files("train"), *NONE]
        for more, text in ((["--batch", 5], "each round is over all records"), (["--head", "d-8-1"], "the model is linear"),
                           (["--step", 0.1], "the rule sets the steps"), (["--quantiser", "scalar:4"], "words of 64 bits"),
                           (["--labels", "head"], "the labels stay at a party"), (["--ignore", "7"], "--ignore with --protocol shares"),
                           (["--label-source", "test-0.csv"], "labels are one party's secret")):
            with self.subTest(more=more):
                self.refused(UNUSABLE, [*words, *more], text)
        self.refused(UNUSABLE, [*last_given([*words, "--loss", "hinge"])], "its slope is evaluated on shares")
        self.refused(UNUSABLE, [*SHARES, "--parties", "train-0.csv", "--clients", 1, *NONE], "nobody to share with")
        self.refused(UNUSABLE, ["--protocol", "shares", "--loss", "logistic", "--clients", 2, *NONE], "with a spectrum")


if __name__ == "__main__":
    unittest.main()
