"""Models of the user: the same numbers as built-in losses, errors, resuming, the audit, PyTorch."""

import gc
import shutil
import subprocess
import sys
import threading
import time
import traceback
import unittest

import own
from case import *

OPTIONS = dict(clients=3, topology="ring", partition="iid", mechanism="gaussian", epsilon=1, delta=1e-5, tuning="off", seed=3, noise_key="seed",
               clip=1, progress="off")
OPEN = dict(mechanism="none", epsilon=None, delta=None, noise_key=None, clip=None)


class OwnModels(PythonCase):
    def setUp(self):
        super().setUp()
        self.x, self.y = records_of()

    def learn(self, model, output="run", **more):
        return starling.omd(model=model, records=(self.x, self.y), **{**OPTIONS, **more}, output=output)

    def test_logistic_regression_is_that_of_starling(self):
        test = records_of(seed=2)
        mine = self.learn(own.Logistic(), "own", test=test)
        theirs = starling.omd(loss="logistic", records=(self.x, self.y), test=test, **OPTIONS, output="built-in")
        np.testing.assert_allclose(mine.models, theirs.models, rtol=0, atol=1e-12)
        for key in ("test_loss", "test_accuracy"):
            self.assertAlmostEqual(mine.summary["metrics"][key], theirs.summary["metrics"][key], places=12)
        self.assertEqual(mine.summary["task"], "classification")
        np.testing.assert_array_equal(mine.predict(self.x), theirs.predict(self.x))
        again = starling.load("own", model=own.Logistic())
        np.testing.assert_array_equal(again.predict(self.x[:5], client=1), mine.predict(self.x[:5], client=1))
        with self.assertRaisesRegex(starling.DataError, "code of its own"):
            starling.load("own").predict(self.x)

    def test_only_the_model_that_has_learned_is_applied(self):
        run = self.learn(own.Logistic(), "own")
        theirs = starling.omd(loss="logistic", records=(self.x, self.y), **OPTIONS, output="built-in")
        table = starling.predict("own", model=own.Logistic(), records=self.x)
        np.testing.assert_array_equal(table["class"], theirs.predict(self.x))
        mine, built_in = (starling.score(run, records=(self.x, self.y), **more)["metrics"]
                          for run, more in ((run, {"model": own.Logistic()}), (theirs, {})))
        for key in ("accuracy", "confusion", "f1"):
            self.assertEqual(mine[key], built_in[key])
        with self.assertRaisesRegex(starling.UsageError, "was learned with other code"):
            starling.load("own", model=own.Poisson()).predict(self.x)
        for call in (lambda: starling.load("own", model=own.Logistic), lambda: self.learn(own.Logistic),
                     lambda: starling.score(run, model=own.Logistic, records=(self.x, self.y))):
            with self.assertRaisesRegex(starling.UsageError, r"model=Logistic: it is a class, .* Give Logistic\(…\)"):
                call()

        class Unnamed(own.Logistic):
            def __init__(self):
                self.helper = print

        self.learn(Unnamed(), "unnamed")
        np.testing.assert_array_equal(starling.load("unnamed", model=Unnamed()).predict(self.x), run.predict(self.x))

    @unittest.skipIf(shutil.which("cc") is None, "there is no compiler cc")
    def test_a_plug_in_is_applied(self):
        source = SOURCE / "examples" / "plugin" / "poisson.c"
        subprocess.run(["cc", "-shared", "-fPIC", "-I", SOURCE / "include", source, "-o", "libpoisson.so", "-lm"], check=True)
        self.y = np.ones(len(self.y))
        run = self.learn("plugin:./libpoisson.so")
        expected = np.exp(self.x @ run.model)
        np.testing.assert_allclose(run.predict(self.x), expected)
        np.testing.assert_allclose(starling.load("run", model="plugin:./libpoisson.so").predict(self.x), expected)

    def test_predictions_with_the_gradients(self):
        class Both(own.Logistic):
            asked = 0

            def gradients(self, point, x, y):
                return (*super().gradients(point, x, y), super().predict(point, x))

            def predict(self, point, x):
                Both.asked += 1
                return super().predict(point, x)

        both, apart = self.learn(Both(), "both"), self.learn(own.Logistic(), "apart")
        self.assertEqual(Both.asked, 0)
        same_runs(self, both, apart)
        for run in (both, apart):
            with open(run.file("private/0/metrics.csv")) as file:
                run.metrics = file.read()
        self.assertEqual(both.metrics, apart.metrics)
        self.assertRegex(both.metrics, r"(?m)^\d+,0,\d+,[^,]+,(1|0\.\d+),0$")

    def test_losses_without_gradients(self):
        class Lossy(own.Logistic):
            rows = 0

            def gradients(self, point, x, y):
                Lossy.rows += len(x)
                return super().gradients(point, x, y)

            def losses(self, point, x, y):
                return np.logaddexp(0, -y * (x @ point))

        apart, together = (self.learn(model, name, test=records_of(seed=2)) for model, name in ((Lossy(), "a"), (own.Logistic(), "b")))
        same_runs(self, apart, together)
        self.assertEqual(apart.summary["metrics"]["test_loss"], together.summary["metrics"]["test_loss"])
        self.assertEqual(Lossy.rows, len(self.x) + 250)  # of the trial on public records

    def test_a_model_that_says_its_slope_is_tuned_as_the_built_in_one(self):
        options = {**{name: value for name, value in OPTIONS.items() if name not in ("tuning", "clip", "epsilon")}, "total_epsilon": 4}

        class Sloped(own.Logistic):
            slope = 0.5

        mine = starling.omd(model=Sloped(), records=(self.x, self.y), **options, output="own")
        bare = {"loss": "logistic", "intercept": False, "feature_share": 0, "score_share": 0}  # own models release neither
        theirs = starling.omd(**bare, records=(self.x, self.y), **options, output="built-in")
        foretold = [run.summary["tuning"].pop("most_lost") for run in (mine, theirs)]
        self.assertEqual((foretold[0], foretold[1] > 0), (None, True), "what own models lose was never measured")
        self.assertEqual(mine.summary["tuning"], theirs.summary["tuning"])
        np.testing.assert_allclose(mine.models, theirs.models, rtol=0, atol=1e-12)
        for wrong, kind in ((0, starling.UsageError), ("steep", TypeError)):
            Sloped.slope = wrong
            with self.assertRaises(kind):
                starling.omd(model=Sloped(), records=(self.x, self.y), **options)

    def test_start_and_attributes(self):
        self.y = np.abs(np.round(3 * self.x[:, 2]))
        run = self.learn(own.Poisson(0.1))
        np.testing.assert_array_equal(run.read("model")[0] if run.read("rounds")[0] == 0 else np.full((3, 4), 0.01),
                                      np.full((3, 4), 0.01))
        self.assertEqual(run.summary["task"], "regression")
        np.testing.assert_allclose(run.predict(self.x[:3]), np.exp(self.x[:3] @ run.model + 0.1))

    def test_arrays_are_views_that_nobody_writes(self):
        seen = []

        class Curious(own.Logistic):
            def gradients(self, point, x, y):
                seen.append((x.flags.owndata, x.flags.writeable, point.flags.writeable, y.flags.owndata, x.shape[1]))
                return super().gradients(point, x, y)

        self.learn(Curious())
        self.assertEqual(set(seen), {(False, False, False, False, 4)})

    def test_an_exception_is_the_user_s_own(self):
        class Wrong(own.Logistic):
            def gradients(self, point, x, y):
                raise ZeroDivisionError("record 5 is ill")

        def cause_of(model, **more):
            try:
                self.learn(model, **more)
            except ZeroDivisionError as error:
                self.assertIn("gradients", [frame.name for frame in traceback.extract_tb(error.__traceback__)])
                return error.__cause__
            return self.fail("no exception")

        cause = cause_of(Wrong(), **OPEN)
        self.assertIsInstance(cause, starling.DataError)
        self.assertRegex(str(cause), "client 0, round 1: --model: the own model has raised a Python exception")
        self.assertNotIn("ill", str(cause))
        self.assertIn("Wrong.gradients: ZeroDivisionError: record 5 is ill", (self.folder / "run/private/0/errors.txt").read_text())
        cause = cause_of(Wrong(), output="noise")
        self.assertIsInstance(cause, starling.UsageError)
        self.assertRegex(str(cause), "fails on each of 25 public random records: Wrong.gradients: ZeroDivisionError: record 5 is ill")
        self.learn(own.Logistic(), "after")  # and another run may follow

    def test_under_noise_a_record_that_fails_counts_as_zero(self):
        class Zero(own.Logistic):
            def gradients(self, point, x, y):
                losses, rows = super().gradients(point, x, y)
                return losses, np.where(np.isin(x[:, :1], self.ill), 0, rows)

        class Fails(Zero):
            def gradients(self, point, x, y):
                if np.isin(x[:, 0], self.ill).any():
                    raise self.error
                return super().gradients(point, x, y)

        Zero.ill = self.x[[3, 8], 0]
        zero = self.learn(Zero(), "zero")
        for error in (ValueError("it is ill"), SystemExit(4), KeyboardInterrupt()):
            with self.subTest(error):
                Fails.error = error
                name = type(error).__name__
                run = self.learn(Fails(), name)
                np.testing.assert_array_equal(run.models, zero.models)
                told = [line for path in self.folder.glob(f"{name}/private/*/left-out.txt") for line in path.read_text().splitlines()]
                self.assertEqual(len(told), 2)
                self.assertIn(f"the own model fails on it: Fails.gradients: {name}", told[0])

    def test_gradients_that_depend_on_other_records(self):
        class Centred(own.Logistic):
            def gradients(self, point, x, y):
                losses, rows = super().gradients(point, x, y)
                return losses, rows - rows.mean(axis=0)

        class Averaged(own.Logistic):
            def gradients(self, point, x, y):
                losses, rows = super().gradients(point, x, y)
                return losses, rows / len(x)

        class Random(own.Logistic):
            def gradients(self, point, x, y):
                losses, rows = super().gradients(point, x, y)
                return losses, rows * np.random.default_rng().normal(size=rows.shape)

        for model, when in ((Centred(), "among other records"), (Averaged(), "among other records"), (Random(), "when it is asked again")):
            with self.assertRaisesRegex(starling.UsageError, f"another loss or gradient of a record {when}"):
                self.learn(model)
        self.learn(Centred(), "open", batch=5, **OPEN)

    def test_every_function_may_fail(self):
        class Wrong(own.Logistic):
            def __init__(self, where):
                self.where = where

            def dimension(self, features):
                return self.fail("dimension", features)

            def start(self, seed):
                return self.fail("start", None)

            def predict(self, point, x):
                return self.fail("predict", super().predict(point, x))

            def fail(self, where, value):
                if self.where == where:
                    raise LookupError(where)
                return value

        for where in ("dimension", "start", "predict"):
            with self.assertRaisesRegex(LookupError, where):
                self.learn(Wrong(where), where, test=(self.x, self.y))

    def test_wrong_shapes_and_types(self):
        class Returns(own.Logistic):
            identity = "returns"

            def __init__(self, change):
                self.change = change

            def gradients(self, point, x, y):
                return self.change(*super().gradients(point, x, y))

        for number, (change, kind, message) in enumerate([
                (lambda a, b: (a[:, None], b), ValueError, r"losses of Returns.gradients: the shape is \(1, 1\), and must be \(1,\)"),
                (lambda a, b: (a, b.sum(axis=0)), ValueError, r"gradients of Returns.gradients: the shape is \(4,\), and must be \(1, 4\)"),
                (lambda a, b: (a, b[:, :3]), ValueError, r"\(1, 3\), and must be \(1, 4\)"),
                (lambda a, b: (a + 0j, b), TypeError, "complex128 is no array of real numbers"),
                (lambda a, b: (a, b.astype(object)), TypeError, "object"),
                (lambda a, b: (a, b, b), ValueError, r"predictions of Returns.gradients: the shape is \(1, 4\), and must be \(1,\)"),
                (lambda a, b: (a, b, a, a), TypeError, "must return two arrays"),
                (lambda a, b: b, TypeError, "must return two arrays"),
                (lambda a, b: None, TypeError, "must return two arrays")]):
            with self.assertRaisesRegex(kind, message):
                self.learn(Returns(change), f"wrong-{number}", batch=1)
        floats = self.learn(Returns(lambda a, b: (list(a), b.astype("f4"))), "floats")
        same = self.learn(Returns(lambda a, b: (a, np.asfortranarray(b.astype("f4").astype(float)))), "same")
        np.testing.assert_array_equal(floats.models, same.models)

        class Sized(own.Logistic):
            def dimension(self, features):
                return "many"

        with self.assertRaisesRegex(TypeError, "Sized.dimension"):
            self.learn(Sized())

    def test_values_that_are_not_finite_cost_accuracy_alone(self):
        class Hostile(own.Logistic):
            def gradients(self, point, x, y):
                losses, rows = super().gradients(point, x, y)
                rows[x[:, 0] > 0.5] = np.inf
                return losses, rows

        run = self.learn(Hostile())
        self.assertTrue(np.isfinite(run.models).all())

    def test_losses_that_are_no_numbers_are_named(self):
        class Lost(own.Logistic):
            def losses(self, point, x, y):
                return np.full(len(x), np.nan)

            def predict(self, point, x):
                return np.full(len(x), np.nan)

        text = starling.report(self.learn(Lost(), test=(self.x, self.y)))
        self.assertRegex(text, r"test loss +not finite: some losses or predictions on --test are no numbers\n +accuracy +0\.00 %")
        self.assertNotIn("above the inf", text)

    def test_the_audit(self):
        run = self.learn(own.Logistic(), audit=True, epsilon=4)
        self.assertIn("audit", " ".join(run.summary["privacy"]) + " ".join(run.summary))
        self.assertEqual(run.code, 0)

    def test_no_command_runs_within_another(self):
        class Nested(own.Logistic):
            def gradients(self, point, x, y):
                starling.privacy.spend(mechanism="laplace", epsilon=1, releases=2)

        with self.assertRaisesRegex(starling.UsageError, "a command of starling is running"):
            self.learn(Nested())

    def test_other_threads_go_on_while_starling_computes(self):
        ticks, ended = [], threading.Event()

        def tick():
            while not ended.wait(0.001):
                ticks.append(time.monotonic())

        thread = threading.Thread(target=tick)
        thread.start()
        began = time.monotonic()
        starling.omd(source="synthetic:drift:n=100000", clients=4, mechanism="gaussian", epsilon=1, delta=1e-5, tuning="off",
                     output="long", progress="off")
        seconds = time.monotonic() - began
        ended.set()
        thread.join()
        longest = np.diff([began, *ticks]).max()
        self.assertLess(longest, seconds / 2, (seconds, len(ticks)))

    def test_a_model_is_freed(self):
        class Freed(own.Logistic):
            gone = []

            def __del__(self):
                self.gone.append(1)

        run = self.learn(Freed())
        del run
        gc.collect()
        self.assertEqual(Freed.gone, [1])


class Identity(PythonCase):
    def test_default(self):
        one = starling.identity(own.Poisson(0.5))
        self.assertRegex(one, "^[0-9a-f]{64}$")
        self.assertEqual(one, starling.identity(own.Poisson(0.5)))
        self.assertNotEqual(one, starling.identity(own.Poisson(0.25)))
        self.assertNotEqual(one, starling.identity(own.Logistic()))
        model = own.Poisson()
        model.helper = lambda: 0
        self.assertEqual(starling.identity(model), "")
        model.identity = "poisson 1"
        self.assertEqual(starling.identity(model), "poisson 1")
        notebook = {}
        exec("import starling\nclass Of(starling.Model): pass", {"__name__": "notebook"}, notebook)
        self.assertEqual(starling.identity(notebook["Of"]()), "")

    def test_the_file_counts_as_it_was_imported(self):
        self.write("changing.py", "import starling\nclass Of(starling.Model): pass\n")
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))
        import changing
        one = starling.identity(changing.Of())
        self.write("changing.py", "import starling\nclass Of(starling.Model): pass\n# changed\n")
        self.assertEqual(one, starling.identity(changing.Of()))
        del sys.modules["changing"]
        import changing as changed
        self.assertNotEqual(one, starling.identity(changed.Of()))

    def learn(self, model, **more):
        x, y = records_of()
        return starling.omd(model=model, records=(x, np.abs(y)), **more)

    def test_what_own_functions_set_is_no_other_model(self):
        model = own.Sized()
        run = self.learn(model, **OPTIONS, output="run")
        x, _ = records_of()
        predicted = run.predict(x)
        for same in (model, own.Sized()):
            np.testing.assert_array_equal(starling.load("run", model=same).predict(x), predicted)
        model.scale = 2  # by the user
        with self.assertRaisesRegex(starling.UsageError, "attributes count too"):
            starling.load("run", model=model).predict(x)

    def test_resume(self):
        options = OPTIONS
        whole = self.learn(own.Poisson(), **options, output="whole")
        self.learn(own.Poisson(), **options, output="part", rounds=20, checkpoint_every=10)
        with self.assertRaises(starling.Error):
            self.learn(own.Poisson(0.5), resume="part", rounds=whole.summary["rounds"], progress="off")
        again = self.learn(own.Poisson(), resume="part", rounds=whole.summary["rounds"], progress="off")
        np.testing.assert_array_equal(again.models, whole.models)

    def test_a_model_without_identity_cannot_be_resumed(self):
        model = own.Poisson()
        model.helper = print
        with self.assertRaisesRegex(starling.UsageError, "it has no identity"):
            self.learn(model, **OPTIONS, output="part", checkpoint_every=10)
        self.learn(model, **OPTIONS, output="whole", rounds=20)
        with self.assertRaises(starling.Error):
            self.learn(model, resume="whole", rounds=40)


@needs("torch")
class Torch(PythonCase):
    def test_a_linear_layer_is_logistic_regression(self):
        import torch
        x, y = records_of()
        layer = torch.nn.Linear(4, 1, bias=False)
        model = starling.torch(layer, lambda score, label: torch.nn.functional.softplus(-label * score).sum())
        with torch.no_grad():
            layer.weight.zero_()
        kept = starling.torch(layer, model._loss, keep_start=True)
        run = starling.omd(model=kept, records=(x, y), **OPTIONS, output="torch")
        exact = starling.omd(model=own.Logistic(), records=(x, y), **OPTIONS, output="exact")
        np.testing.assert_allclose(run.models, exact.models, atol=1e-12)

    def test_gradients_one_by_one_are_those_of_vmap(self):
        import torch
        x, y = records_of(12)
        net = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.ReLU(), torch.nn.Linear(5, 2))
        model = starling.torch(net, torch.nn.CrossEntropyLoss(), classifies=True)
        point = model.start(1)
        np.testing.assert_array_equal(point, model.start(1))
        self.assertFalse((point == model.start(2)).all())
        together = model.gradients(point, x, y > 0)
        model._transforms = None
        for got, want in zip(model.gradients(point, x, y > 0), together):
            np.testing.assert_allclose(got, want, atol=1e-12)
        np.testing.assert_array_equal(together[2], model.predict(point, x))
        for transforms in (None, starling._torch.transforms()):
            model._transforms = transforms
            np.testing.assert_allclose(model.losses(point, x, y > 0), together[0], atol=1e-12)
        self.assertEqual(set(model.predict(point, x)) - {0, 1}, set())
        self.assertNotEqual(starling.identity(model), "")

    def test_a_parameter_of_two_layers(self):
        import torch

        class Tied(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.into, self.within, self.out = (torch.nn.Linear(4, n, bias=False) for n in (4, 4, 1))
                self.within.weight = self.into.weight

            def forward(self, x):
                return self.out(self.within(torch.tanh(self.into(x))))

        x, y = records_of(6)
        model = starling.torch(Tied(), lambda score, label: torch.nn.functional.softplus(-label * score).sum())
        self.assertEqual(model.dimension(4), 20)
        point, small = model.start(1), 1e-6
        steps = [model.losses(point + small * unit, x, y) - model.losses(point - small * unit, x, y) for unit in np.eye(20)]
        for transforms in (starling._torch.transforms(), None):
            model._transforms = transforms
            losses, rows, _ = model.gradients(point, x, y)
            np.testing.assert_allclose(rows, np.transpose(steps) / (2 * small), atol=1e-8)
            np.testing.assert_allclose(losses, model.losses(point, x, y))

    def test_labels_are_numbers_of_classes(self):
        import torch
        x, y = records_of(12)
        model = starling.torch(torch.nn.Linear(4, 2), torch.nn.CrossEntropyLoss(), classifies=True)
        options = {**OPTIONS, **OPEN}
        with self.assertRaisesRegex(ValueError, "no number of a class"):
            starling.omd(model=model, records=(x, np.where(y > 0, 1, 0.5)), **options)
        for labels in (y, np.where(y > 0, 2, 0)):  # -1 and 1; a third class
            with self.assertRaisesRegex(ValueError, "Classes are 0 to 1: the module has 2 scores"):
                starling.omd(model=model, records=(x, labels), **options)
        starling.omd(model=model, records=(x, y), **OPTIONS, output="noise")
        told = "".join(path.read_text() for path in self.folder.glob("noise/private/*/left-out.txt"))
        self.assertEqual(told.count("Classes are 0 to 1"), int((y < 0).sum()))
        ignoring = starling.torch(torch.nn.Linear(4, 2), torch.nn.CrossEntropyLoss(ignore_index=-1), classifies=True)
        ignoring._transforms = None  # some versions of vmap take no such label
        rows = ignoring.gradients(ignoring.start(1), x, y)[1]
        self.assertTrue(np.isnan(rows[y < 0]).all() or (rows[y < 0] == 0).all())

    @needs("torch")
    def test_what_beginners_forget_is_told_with_the_remedy(self):
        import torch
        x, y = records_of(60)
        net = torch.nn.Linear(4, 2)
        with self.assertRaisesRegex(starling.UsageError, r"of PyTorch \(Linear\) has no loss. Give starling.torch\(module, loss\)"):
            starling.omd(model=net, records=(x, y > 0), **OPTIONS)
        with self.assertRaisesRegex(ValueError, "has 2 scores for a record, and a regression has one. Give classifies=True"):
            starling.omd(model=starling.torch(net, torch.nn.CrossEntropyLoss()), records=(x, y > 0), **OPTIONS)

    def test_the_reason_why_an_array_cannot_be_had(self):
        import torch

        class Attached(own.Logistic):
            def gradients(self, point, x, y):
                losses, rows = super().gradients(point, x, y)
                return losses, torch.tensor(rows, requires_grad=True)

        with self.assertRaisesRegex(RuntimeError, "detach"):
            starling.omd(model=Attached(), records=records_of(12), **OPTIONS)


if __name__ == "__main__":
    unittest.main()
