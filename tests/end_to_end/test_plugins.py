"""Models of a user from shared libraries: `--model plugin:FILE`."""

import math
import re
import shutil
import subprocess
import unittest

from harness import *

EXAMPLES = SOURCE / "examples" / "plugin"
INCLUDE = ["-I", str(SOURCE / "include")]
OMD = ["omd", "--source", "data.csv", "--clients", 4, "--batch", 4, "--noise-key", "seed", "--progress", "off"]
GAUSSIAN = ["--mechanism", "gaussian", "--epsilon", 1, "--clip", 0.5]

# Logistic regression without an intercept, and faults that -DNAME plants.
LOGISTIC = r"""
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <starling/plugin.h>

static size_t dimension(void *self, size_t features) {
  (void)self;
#ifdef NO_DIMENSION
  features = 0;
#endif
  return features;
}

static int start(void *self, unsigned long long seed, double *point) {
  (void)self;
  (void)seed;
  point[0] = 0;
#ifdef STARTS_BEYOND
  point[3] = 1;
#endif
#ifdef STARTS_NOWHERE
  point[0] = NAN;
#endif
  return 0;
}

static int gradients(void *self, const double *point, const starling_batch *batch, double *losses, double *rows) {
  const size_t p = batch->features;
  (void)self;
  for (size_t i = 0; i < batch->rows; ++i) {
    const double *x = batch->x + i * batch->stride;
    double score = 0;
    for (size_t j = 0; j < p; ++j) score += point[j] * x[j];
    losses[i] = log1p(exp(-batch->y[i] * score));
    for (size_t j = 0; j < p; ++j) rows[i * p + j] = -batch->y[i] / (1 + exp(batch->y[i] * score)) * x[j];
  }
#ifdef NAN_ROWS
  rows[0] = NAN;
#endif
#ifdef WRITES_BEYOND
  rows[batch->rows * p] = 1;
#endif
#ifdef ENDS
  exit(0);
#endif
#ifdef FAILS
  return 7;
#endif
  for (size_t i = 0; i < batch->rows; ++i) {
    if (batch->y[i] != 93) continue;
#ifdef FAILS_ON_93
    return 7;
#endif
#ifdef ZERO_ON_93
    for (size_t j = 0; j < p; ++j) rows[i * p + j] = 0;
#endif
  }
#ifdef MEAN
  double mean = 0;
  for (size_t i = 0; i < batch->rows; ++i) mean += rows[i * p] / batch->rows;
  for (size_t i = 0; i < batch->rows; ++i) rows[i * p] -= mean;
#endif
#ifdef WRITES_INPUTS
  ((double *)batch->x)[0] = 1;
#endif
  return 0;
}

static int scores(void *self, const double *point, const starling_batch *batch, double *classes) {
  (void)self;
  for (size_t i = 0; i < batch->rows; ++i) {
    double score = 0;
    for (size_t j = 0; j < batch->features; ++j) score += point[j] * batch->x[i * batch->stride + j];
    classes[i] = score > 0 ? 1 : -1;
  }
  return 0;
}

static const char *error(void *self) {
  (void)self;
  return "the patient of 93 years has no gradient";
}

#ifdef OTHER_NAME
#define starling_plugin starling_module
#endif
STARLING_PLUGIN int starling_plugin(unsigned abi, const char *options, starling_model *out) {
  (void)options;
#ifdef OLD_ABI
  if (abi != 0) return 1;
#endif
  if (abi != STARLING_PLUGIN_ABI) return 1;
#ifndef NO_GRADIENTS
  out->gradients = gradients;
#endif
#ifdef CLASSIFIES
  out->classifies = 1;
#endif
#ifdef SCORES
  out->scores = scores;
#endif
#ifdef SLOPE
  out->slope = SLOPE;
#endif
  out->dimension = dimension;
  out->start = start;
  out->error = error;
  return 0;
}
"""


def compiler(name):
    found = shutil.which(name)
    if found is None:
        raise unittest.SkipTest(f"there is no compiler {name}")
    return found


# Softmax regression with intercepts. It does not say a slope.
SOFTMAX = r"""
#include <math.h>
#include <starling/plugin.h>
enum { K = 4 };
static size_t dimension(void *self, size_t features) { (void)self; return K * (features + 1); }
static void scores_of(const double *point, const double *x, size_t features, double *out) {
  for (size_t k = 0; k < K; ++k) {
    const double *w = point + k * (features + 1);
    out[k] = w[features];
    for (size_t j = 0; j < features; ++j) out[k] += w[j] * x[j];
  }
}
static int gradients(void *self, const double *point, const starling_batch *batch, double *losses, double *rows) {
  const size_t features = batch->features;
  (void)self;
  for (size_t i = 0; i < batch->rows; ++i) {
    const double *x = batch->x + i * batch->stride;
    const size_t y = (size_t)batch->y[i] % K; /* the trial has any labels */
    double v[K], top = -INFINITY, sum = 0;
    if (FAILS(x)) return 1;
    scores_of(point, x, features, v);
    for (size_t k = 0; k < K; ++k) top = v[k] > top ? v[k] : top;
    for (size_t k = 0; k < K; ++k) sum += v[k] = exp(v[k] - top);
    losses[i] = -log(v[y] / sum);
    for (size_t k = 0; k < K; ++k) {
      const double slope = v[k] / sum - (k == y);
      double *row = rows + (i * K + k) * (features + 1);
      for (size_t j = 0; j < features; ++j) row[j] = slope * x[j];
      row[features] = slope;
    }
  }
  return 0;
}
static int scores(void *self, const double *point, const starling_batch *batch, double *out) {
  (void)self;
  for (size_t i = 0; i < batch->rows; ++i) {
    double v[K];
    scores_of(point, batch->x + i * batch->stride, batch->features, v);
    out[i] = 0;
    for (size_t k = 1; k < K; ++k) out[i] = v[k] > v[(size_t)out[i]] ? (double)k : out[i];
  }
  return 0;
}
STARLING_PLUGIN int starling_plugin(unsigned abi, const char *options, starling_model *out) {
  (void)options;
  if (abi != STARLING_PLUGIN_ABI) return 1;
  out->dimension = dimension;
  out->gradients = gradients;
  out->scores = scores;
  out->classifies = CLASSIFIES;
  return 0;
}
"""

# A perceptron of eight hidden units under the squared loss. Its option is the unit of labels.
NETWORK = r"""
#include <math.h>
#include <stdlib.h>
#include <starling/plugin.h>
enum { H = 8 };
static double unit = 1;
static size_t d;
static size_t dimension(void *self, size_t features) { (void)self; return d = H * (features + 2) + 1; }
static int start(void *self, unsigned long long seed, double *point) {
  (void)self;
  for (size_t i = 0; i < d; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    point[i] = 0.7 * ((double)(seed >> 40) / 8388608.0 - 1);
  }
  return 0;
}
static double output(const double *w, const double *x, size_t n, double *hidden) {
  double out = w[H * (n + 2)];
  for (size_t h = 0; h < H; ++h) {
    const double *own = w + h * (n + 2);
    double s = own[n];
    for (size_t j = 0; j < n; ++j) s += own[j] * x[j];
    hidden[h] = tanh(s);
    out += own[n + 1] * hidden[h];
  }
  return out;
}
static int gradients(void *self, const double *point, const starling_batch *batch, double *losses, double *rows) {
  const size_t n = batch->features;
  (void)self;
  for (size_t i = 0; i < batch->rows; ++i) {
    const double *x = batch->x + i * batch->stride;
    double hidden[H], *row = rows + i * d;
    const double slope = unit * (unit * output(point, x, n, hidden) - batch->y[i]);
    losses[i] = slope * slope / (2 * unit * unit);
    row[d - 1] = slope;
    for (size_t h = 0; h < H; ++h) {
      const double inner = slope * point[h * (n + 2) + n + 1] * (1 - hidden[h] * hidden[h]);
      for (size_t j = 0; j < n; ++j) row[h * (n + 2) + j] = inner * x[j];
      row[h * (n + 2) + n] = inner;
      row[h * (n + 2) + n + 1] = slope * hidden[h];
    }
  }
  return 0;
}
static int scores(void *self, const double *point, const starling_batch *batch, double *out) {
  double hidden[H];
  (void)self;
  for (size_t i = 0; i < batch->rows; ++i) out[i] = unit * output(point, batch->x + i * batch->stride, batch->features, hidden);
  return 0;
}
STARLING_PLUGIN int starling_plugin(unsigned abi, const char *options, starling_model *out) {
  if (abi != STARLING_PLUGIN_ABI) return 1;
  unit = atof(options);
  out->dimension = dimension;
  out->start = start;
  out->gradients = gradients;
  out->scores = scores;
  return 0;
}
"""


class Plugins(TestCase):
    def setUp(self):
        super().setUp()
        self.write("data.csv", "\n".join(["a,b,c,y", *csv_rows(160)]) + "\n")

    def build(self, words):
        done = subprocess.run([*words], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def logistic(self, *faults, name="libmine.so"):
        self.write("mine.c", LOGISTIC)
        flags = [f"-D{fault}" for fault in faults]
        self.build([compiler("cc"), "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wno-unused-function", "-O2", "-shared", "-fPIC", *INCLUDE, *flags, "mine.c",
                    "-o", name, "-lm"])
        return ["--model", f"plugin:./{name}"]

    def example(self, name, library, *flags):
        self.build([*flags, *(INCLUDE if not name.endswith("90") else []), "-O2", "-shared", "-fPIC", str(EXAMPLES / name), "-o", library, "-lm"])

    def summary(self, words, ranks=1):
        done = self.succeeded(self.run_command(ranks, [*words, "--json-models"]))
        return done.summary()

    def assert_close(self, first, second):
        for own, other in zip(first["models"], second["models"]):
            for a, b in zip(own, other):
                self.assertAlmostEqual(a, b, delta=1e-12)

    @fewer
    def test_equals_the_built_in_loss_on_all_layouts(self):
        mine = self.logistic()
        for i, words in enumerate([[*OMD, *GAUSSIAN], ["fedavg", *OMD[1:], *GAUSSIAN, "--local-steps", 2], [*OMD, "--mechanism", "none"],
                                   [*OMD, *GAUSSIAN, "--trust", "pairs"], ["fedavg", *OMD[1:], *GAUSSIAN, "--trust", "pairs"]]):
            built_in = self.summary([*words, "--loss", "logistic", "--output", f"built-in-{i}"])
            own = [self.summary([*words, *mine, "--output", f"own-{i}-{ranks}"], ranks) for ranks in layouts((1, 4, 2))]
            self.assert_close(own[0], built_in)
            for other in own[1:]:
                self.assertEqual(bits(other["models"]), bits(own[0]["models"]))
            self.assertEqual(own[0]["privacy"].get("epsilon"), built_in["privacy"].get("epsilon"))

    def test_persons_and_audits(self):
        mine = self.logistic()
        self.write("data.csv", "\n".join(["a,b,c,who,y", *[row.rsplit(",", 1)[0] + f",p{i // 2}," + row.rsplit(",", 1)[1]
                                                            for i, row in enumerate(csv_rows(160))]]) + "\n")
        person = [*OMD, *GAUSSIAN, "--unit", "person", "--person", "who"]
        self.assert_close(self.summary([*person, *mine, "--output", "own"]), self.summary([*person, "--loss", "logistic", "--output", "built-in"]))
        self.write("data.csv", "\n".join(["a,b,c,y", *csv_rows(640)]) + "\n")
        done = self.succeeded(self.run_alone([*OMD, *GAUSSIAN, *mine, "--epochs", 2, "--audit", "--json"]))
        self.assertEqual(done.summary()["privacy"]["audit"]["verdict"], "not refuted")

    def test_goes_on_with_the_same_library_alone(self):
        mine = self.logistic()
        words = [*OMD, *GAUSSIAN, *mine, "--epochs", 4]
        whole = self.summary([*words, "--output", "whole"])
        self.summary([*words, "--output", "half", "--rounds", 20, "--checkpoint-every", 10])
        (self.folder / "elsewhere").mkdir()
        done = self.succeeded(self.run_alone(["omd", "--resume", "../half", "--rounds", 40, "--json-models"], cwd=self.folder / "elsewhere"))
        self.assertEqual(bits(done.summary()["models"]), bits(whole["models"]))
        self.summary([*words, "--output", "other", "--rounds", 20, "--checkpoint-every", 10])
        self.logistic("SCORES")
        done = self.run_alone(["omd", "--resume", "other", "--rounds", 40])
        self.assertEqual(done.code, 2, done)
        self.assertIn("would not be the same: its data, configuration, keys or build differ", done.err)

    def test_records_that_are_not_finite_are_left_out(self):
        done = self.succeeded(self.run_alone([*OMD, "--mechanism", "none", *self.logistic("NAN_ROWS"), "--json", "--output", "run"]))
        self.assertTrue(any("40 times a record was out of range" in note for note in done.summary()["notes"]), done)

    def test_faults(self):
        cases = [
            ("OTHER_NAME", 2, "no function starling_plugin"),
            ("OLD_ABI", 2, "starling_plugin returned 1"),
            ("NO_GRADIENTS", 2, "lacks the function `gradients`"),
            ("CLASSIFIES", 2, "without the function `scores`"),
            ("NO_DIMENSION", 2, "has 0 parameters"),
            ("SLOPE=-1", 2, "the slope of its loss is -1"),
            ("WRITES_BEYOND", 2, "fails on each of 25 public random records: the own model has written beyond the end of the gradients"),
            ("MEAN", 2, "another loss or gradient of a record among other records"),
            ("WRITES_INPUTS", 2, "writes into the records or the parameters"),
            ("STARTS_BEYOND", 5, "beyond the end of the start"),
            ("STARTS_NOWHERE", 2, "starts with numbers that are not finite"),
            ("ENDS", 5, "the plug-in has ended the process"),
        ]
        for fault, code, words in cases:
            with self.subTest(fault):
                done = self.run_alone([*OMD, *GAUSSIAN, *self.logistic(fault, name=f"lib{fault}.so"), "--output", fault])
                self.assertEqual(done.code, code, done)
                self.assertIn(words, done.err)
        self.write("text.so", "no library\n")
        for value, words in [("plugin:", "lacks the name"), ("plugin:./absent.so", "no such file"), ("plugin:./text.so", "cannot be loaded"),
                             ("own:mine", "no such model"), ("plug:x", "unknown model")]:
            with self.subTest(value):
                done = self.run_alone([*OMD, *GAUSSIAN, "--model", value])
                self.assertEqual(done.code, 2, done)
                self.assertIn(words, done.err)
        mine = self.logistic()
        for more, words in [(["--loss", "huber:1"], "has its losses itself"), (["--intercept"], "the parameters that it says"),
                            (["--regret", "static"], "whether its loss is convex")]:
            with self.subTest(more):
                done = self.run_alone([*OMD, *GAUSSIAN, *mine, *more])
                self.assertEqual(done.code, 2, done)
                self.assertIn(words, done.err)

    def test_a_model_that_fails_on_every_record(self):
        """Under noise public records show it; without, the text of the failure is for the owner alone."""
        mine = self.logistic("FAILS")
        for command in (OMD, ["fedavg", *OMD[1:]]):
            done = self.run_alone([*command, *GAUSSIAN, *mine])
            self.assertEqual(done.code, 2, done)
            self.assertIn("fails on each of 25 public random records: `gradients` of the plug-in returned 7: the patient of 93 years", done.err)
            done = self.run_alone([*command, "--mechanism", "none", *mine, "--output", command[0]])
            self.assertEqual(done.code, 3, done)
            self.assertIn("client 0, round 1: --model: `gradients` of the plug-in returned 7", done.err)
            self.assertNotIn("93", done.err)
            told = self.folder / command[0] / "private" / "0" / "errors.txt"
            self.assertIn("the patient of 93 years has no gradient", told.read_text())
            self.assertEqual(told.stat().st_mode & 0o777, 0o600)

    def test_a_record_on_which_a_model_fails_counts_as_zero(self):
        """All that others see is as if its gradient had been zero; the owner's file names it."""
        rows = csv_rows(160)
        self.write("data.csv", "\n".join(["a,b,c,y", *rows[:40], "0.5,0.25,-0.125,93", *rows[41:]]) + "\n")
        for command in (OMD, ["fedavg", *OMD[1:]]):
            runs = [self.succeeded(self.run_alone([*command, *GAUSSIAN, *self.logistic(fault, name=f"lib{fault}.so"), "--json-models",
                                                   "--output", f"{command[0]}-{fault}"])) for fault in ("FAILS_ON_93", "ZERO_ON_93")]
            self.assertEqual(*(bits(done.summary()["models"]) for done in runs))
            self.assertNotIn("93", runs[0].err)
            told = [line for path in self.folder.glob(f"{command[0]}-FAILS_ON_93/private/*/left-out.txt") for line in path.read_text().splitlines()]
            self.assertEqual(len(told), 1)
            self.assertIn("the own model fails on it: `gradients` of the plug-in returned 7: the patient of 93 years has no gradient "
                          "(label 93, features 0.5, 0.25, -0.125)", told[0])
            self.assertIn("which was asked for one record at a time", (self.folder / f"{command[0]}-ZERO_ON_93" / "privacy.txt").read_text().replace("\n", " "))

    def test_the_model_file(self):
        mine = self.logistic()
        self.summary([*OMD, *GAUSSIAN, *mine, "--output", "run"])
        started = self.summary([*OMD, "--mechanism", "none", *mine, "--rounds", 1, "--step", 1e-12, "--start", "run/model.h5", "--output", "next"])
        if h5py is not None:
            with h5py.File(self.folder / "run" / "model.h5") as file:
                self.assertEqual(file.attrs["kind"], b"own")
                for own, saved in zip(started["models"][0], file["parameters/point"][0]):
                    self.assertAlmostEqual(own, saved, delta=1e-10)

    def test_predict_and_score(self):
        """The library that has learned a model applies it, as `predict` and `score` do the built-in one."""
        mine = self.logistic("SCORES", "CLASSIFIES")
        self.summary([*OMD, *GAUSSIAN, *mine, "--output", "own"])
        self.summary([*OMD, *GAUSSIAN, "--loss", "logistic", "--output", "built-in"])
        for more in ([], ["--client", 2]):
            classes = [self.run_alone(["predict", run, "--source", "data.csv", "--columns", "class", *words, *more]).out
                       for run, words in (("own", mine), ("built-in", []))]
            self.assertEqual(*classes)
            self.assertEqual(len(set(classes[0].splitlines()[1:])), 160)
        scored = [json.loads(self.run_alone(["score", run, "--source", "data.csv", "--json", *words]).out)["metrics"]
                  for run, words in (("own", mine), ("built-in", []))]
        for key in ("accuracy", "balanced_accuracy", "precision", "recall", "f1", "confusion", "classes"):
            self.assertEqual(scored[0][key], scored[1][key], key)
        self.assertNotIn("auc", scored[0])
        other = self.logistic("CLASSIFIES", "SCORES", "NAN_ROWS", name="libother.so")
        silent = self.logistic(name="libsilent.so")
        self.summary([*OMD, *GAUSSIAN, *silent, "--output", "silent"])
        for run, words, code, message in [("own", [], 3, "code of its own (plugin:"), ("own", other, 2, "was learned with other code"),
                                          ("own", ["--model", "linear"], 2, "names no code"),
                                          ("built-in", mine, 2, "a model of starling itself"), ("silent", silent, 2, "predicts nothing")]:
            with self.subTest(message):
                done = self.run_alone(["predict", run, "--source", "data.csv", *words])
                self.assertEqual(done.code, code, done)
                self.assertIn(message, done.err)
        done = self.run_alone(["score", "silent", "--source", "data.csv", *silent])
        self.assertEqual(done.code, 2, done)
        self.assertIn("an own model without predictions", done.err)

    def test_tuning(self):
        """A library that says the slope of its loss is tuned as the built-in loss is."""
        words = ["omd", "--tuning", "auto", "--feature-share", 0, "--source", "data.csv", "--clients", 4, "--noise-key", "seed", "--progress", "off", "--total-epsilon", 4, "--delta",
                 1e-5, "--mechanism", "gaussian"]
        built_in = self.run_alone([*words, "--intercept", "no", "--json-models", "--output", "built-in"])
        own = self.run_alone([*words, *self.logistic("SLOPE=0.5"), "--json-models", "--output", "own"])
        self.assertIn("tuning: step ", own.err)
        settings = [[line for line in run.err.splitlines() if line.startswith("tuning") and "signal to noise" not in line] for run in (own, built_in)]
        self.assertEqual(*settings)  # what noise costs is foretold of linear models alone
        self.assert_close(own.summary(), built_in.summary())

    def softmax(self, name="libsoftmax.so", classifies=1, fails="0 * (int)(x)[0]"):
        self.write("softmax.c", SOFTMAX)
        self.build([compiler("cc"), "-std=c99", "-O2", "-shared", "-fPIC", *INCLUDE, f"-DCLASSIFIES={classifies}", f"-DFAILS(x)=({fails})", "softmax.c", "-o", name,
                    "-lm"])
        return ["--model", f"plugin:./{name}"]

    def test_tuning_by_gradients(self):
        """Of a model that classifies and says no slope the rule asks gradients at the start: nearly the accuracy of the built-in loss, the same on any ranks."""
        import random
        draw = random.Random(5)
        centres = [[draw.gauss(0, 1) for _ in range(6)] for _ in range(4)]
        for name, count in (("train.csv", 2400), ("test.csv", 400)):
            rows = []
            for i in range(count):
                y = draw.randrange(4)
                rows.append(",".join([*(f"{c + draw.gauss(0, 0.8):.4f}" for c in centres[y]), str(y)]))
            self.write(name, "\n".join([",".join([*"abcdef", "y"]), *rows]) + "\n")
        words = ["omd", "--tuning", "auto", "--source", "train.csv", "--test", "test.csv", "--clients", 4, "--partition", "iid", "--progress", "off", "--noise-key", "seed"]
        private = ["--mechanism", "gaussian", "--total-epsilon", 3, "--delta", 1e-5]
        own = self.softmax()
        accuracy = {}
        for name, more in (("own", [*own, *private]), ("built-in", ["--loss", "softmax:4", "--feature-share", 0, *private]), ("open", [*own, "--mechanism", "none"])):
            done = self.succeeded(self.run_alone([*words, *more, "--json", "--output", name]))
            accuracy[name] = done.summary()["accuracy"]
            if name != "built-in":
                self.assertIn("of gradients at the start", done.err)
        self.assertGreater(accuracy["own"], accuracy["built-in"] - 0.06)
        self.assertGreater(accuracy["open"], accuracy["own"] - 0.01)
        self.assertIsNotNone(self.summary_in("own")["privacy"]["norms"])
        models = [self.summary([*words, *own, *private, "--output", f"ranks-{ranks}"], ranks)["models"] for ranks in (1, 2, 4)]
        self.assertEqual(models[0], models[1])
        self.assertEqual(models[0], models[2])
        # A run that was killed goes on to the same model, and does not release norms again.
        killed = [*words, *own, *private, "--checkpoint-every", 10]
        with interrupted("checkpoint:0"):
            self.run_command(2, [*killed, "--output", "killed"])
        self.assertTrue(checkpoints_in(self.folder / "killed/private/1"))
        done = self.succeeded(self.run_command(2, ["omd", "--resume", "killed"]))
        self.assertNotIn("tuning: norm", done.err)
        self.assertEqual(self.summary_in("killed")["final_model"], self.summary_in("ranks-1")["final_model"])
        # Where the model fails, nothing is counted, and the run goes on.
        fails = self.softmax("libfails.so", fails="(x)[0] > 1")
        done = self.succeeded(self.run_alone([*words, *fails, *private, "--output", "fails"]))
        self.assertIn("tuning: step ", done.err)
        # None whose gradients nobody may count has a rule.
        done = self.succeeded(self.run_alone([*words, *own, *private, "--scale-share", 0, "--output", "unseen"]))
        self.assertIn("note: no rule is known for own models without a slope whose records come once or are not to be counted", done.err)

    def test_tuning_by_gradients_of_numbers(self):
        """A model of numbers that says no slope: the sizes of gradients and of labels are released. Its labels may have any unit, and its loss no scale."""
        import random
        draw = random.Random(6)
        def rows(count, unit):
            for _ in range(count):
                x = [draw.gauss(0, 1) for _ in range(4)]
                yield ",".join([*(f"{each:.5f}" for each in x), f"{unit * (x[0] - 0.6 * x[1] * x[1] + 0.6 + 0.5 * x[2] + draw.gauss(0, 0.3)):.6g}"])
        self.write("net.c", NETWORK)
        self.build([compiler("cc"), "-std=c99", "-O2", "-shared", "-fPIC", *INCLUDE, "net.c", "-o", "libnet.so", "-lm"])
        for unit in (1, 1000):
            for name, count in (("train.csv", 3000), ("test.csv", 500)):
                self.write(name, "\n".join(["a,b,c,d,y", *rows(count, unit)]) + "\n")
            words = ["omd", "--tuning", "auto", "--source", "train.csv", "--test", "test.csv", "--clients", 4, "--partition", "iid", "--progress", "off", "--noise-key", "seed",
                     "--model", f"plugin:./libnet.so:{unit}"]
            for name, privacy, least in (("open", ["--mechanism", "none"], 0.6),
                                         ("private", ["--mechanism", "gaussian", "--total-epsilon", 3, "--delta", 1e-5], 0.3)):
                with self.subTest(unit=unit, privacy=name):
                    done = self.succeeded(self.run_alone([*words, *privacy, "--json", "--output", f"{name}-{unit}"]))
                    self.assertRegex(done.err, "tuning: norm .*of gradients at the start")
                    self.assertRegex(done.err, "tuning: label-size ")
                    self.assertGreater(self.explained(f"{name}-{unit}", unit), least)
        runs = [self.summary([*words, *privacy, "--output", f"ranks-{ranks}"], ranks)["models"] for ranks in (1, 2, 4)]
        self.assertEqual(runs[0], runs[1])
        self.assertEqual(runs[0], runs[2])

    def explained(self, run, unit):
        """R² of the predictions of test.csv."""
        done = self.succeeded(self.run_alone(["predict", run, "--source", "test.csv", "--model", f"plugin:./libnet.so:{unit}"]))
        predicted = [float(line.split(",")[1]) for line in done.out.splitlines()[1:]]
        labels = [float(line.rsplit(",", 1)[1]) for line in (self.folder / "test.csv").read_text().splitlines()[1:]]
        mean = sum(labels) / len(labels)
        return 1 - sum((y - s) ** 2 for y, s in zip(labels, predicted, strict=True)) / sum((y - mean) ** 2 for y in labels)

    def test_the_example_of_the_page(self):
        page = (SOURCE / "docs" / "how-to" / "bring-your-own-model.md").read_text()
        self.write("poisson.c", re.search(r"```c\n(.*?)```", page, re.DOTALL)[1])
        compile_it, learn = re.search(r"```\n(cc .*?)```", page, re.DOTALL)[1].splitlines()
        compiler("cc")
        self.build(compile_it.replace("-I include", f"-I {SOURCE / 'include'}").split())
        self.write("counts.csv", "\n".join(["a,b,c,y", *[row.rsplit(",", 1)[0] + f",{i % 4}" for i, row in enumerate(csv_rows(160))]]) + "\n")
        privacy = self.summary([*learn.split()[1:], "--output", "run"])["privacy"]
        self.assertAlmostEqual(privacy["epsilon"], 1, places=3)

    def test_poisson_regression(self):
        self.example("poisson.c", "libpoisson.so", compiler("cc"), "-std=c99")
        lines = []
        for i, row in enumerate(csv_rows(400)):
            a, b, c, _ = map(float, row.split(","))
            lines.append(f"{a},{b},{c},{round(2.718281828 ** (0.5 + a - 0.5 * b))}")
        self.write("data.csv", "\n".join(["a,b,c,y", *lines]) + "\n")
        words = [*OMD, "--mechanism", "none", "--epochs", 20, "--step", 0.3, "--model", "plugin:./libpoisson.so:offset=0.5"]
        model = self.summary([*words, "--output", "run"])["models"][0]
        for found, truth in zip(model, (1, -0.5, 0)):
            self.assertAlmostEqual(found, truth, delta=0.15)
        done = self.run_alone(["predict", "run", "--source", "data.csv", "--client", 0, *words[-2:]])
        for row, line in zip(lines, done.out.splitlines()[1:], strict=True):
            score = sum(weight * float(x) for weight, x in zip(model, row.split(",")))
            self.assertAlmostEqual(float(line.split(",")[1]), math.exp(0.5 + score), delta=1e-9)
        scored = json.loads(self.run_alone(["score", "run", "--source", "data.csv", *words[-2:], "--json"]).out)["metrics"]
        self.assertGreater(scored["r2"], 0.8)
        done = self.run_alone([*words[:-1], "plugin:./libpoisson.so:ofset=0.5", "--output", "other"])
        self.assertEqual(done.code, 2, done)
        self.assertIn("options are offset=NUMBER", done.err)

    def test_factorization_machine(self):
        """The label is the sign of a product, of which a linear model knows nothing."""
        self.example("factorization_machine.cpp", "libfm.so", compiler("c++"), "-std=c++17")
        rows = [row.rsplit(",", 1)[0] for row in csv_rows(800)]
        lines = [f"{row},{1 if float(row.split(',')[0]) * float(row.split(',')[1]) > 0 else -1}" for row in rows]
        self.write("data.csv", "\n".join(["a,b,c,y", *lines]) + "\n")
        self.write("test.csv", "\n".join(["a,b,c,y", *lines[:200]]) + "\n")
        words = [*OMD, "--mechanism", "none", "--epochs", 30, "--step", 1, "--test", "test.csv"]
        own = self.summary([*words, "--model", "plugin:./libfm.so:rank=3", "--output", "own"])["accuracy"]
        linear = self.summary([*words, "--intercept", "--output", "linear"])["accuracy"]
        self.assertGreater(own, 0.9)
        self.assertLess(linear, 0.65)

    def test_the_model_of_fortran_has_all_members(self):
        def members(name, begin, end, pattern):
            text = (SOURCE / name).read_text().split(begin)[1].split(end)[0]
            return re.findall(pattern, re.sub(r"/\*.*?\*/", "", text, flags=re.S))

        fortran = members("examples/plugin/huber.f90", "type, bind(c) :: model_t", "end type", r"(?:::|,) *(\w+)")
        header = members("include/starling/plugin.h", "typedef struct starling_model {", "} starling_model;", r"\(\*(\w+)\)\(|(\w+);")
        self.assertEqual(fortran, ["".join(names) for names in header])

    def test_fortran(self):
        self.example("huber.f90", "libhuber.so", compiler("gfortran"))
        own = self.summary([*OMD, "--mechanism", "none", "--model", "plugin:./libhuber.so", "--output", "own"])
        built_in = self.summary([*OMD, "--mechanism", "none", "--loss", "huber:1", "--intercept", "--output", "built-in"])
        self.assert_close(own, built_in)


if __name__ == "__main__":
    unittest.main()
