"""The C++ library as others use it: installed, found by CMake and pkg-config, and linked to programs that know nothing else."""

import re
import shutil
import subprocess
import unittest

from harness import *

BUILD = pathlib.Path(os.environ.get("STARLING_BUILD", pathlib.Path(STARLING).parent))
PAGE = SOURCE / "docs" / "how-to" / "use-the-library.md"


# Errors, a stopped run, a whole run and the same of a built-in loss in one process, which has MPI and a handler of its own.
TWICE = r"""
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <functional>
#include <string>

#include <starling/starling.hpp>

static volatile std::sig_atomic_t handled = 0;
static void handler(int) { handled = 1; }

/// Ends the run by a signal to itself in the middle of it.
struct Model : starling::Model {
  int ends = 0;  // in so many calls; the trial on public records makes 154
  std::size_t dimension(std::size_t features) override { return features; }
  void gradients(const double* point, const starling::Batch& batch, double* losses, double* gradients) override {
    if (ends > 0 && --ends == 0) std::raise(SIGINT);
    for (std::size_t i = 0; i < batch.rows; ++i) {
      double residual = -batch.y[i];
      for (std::size_t j = 0; j < batch.features; ++j) residual += point[j] * batch.x[i * batch.stride + j];
      losses[i] = residual * residual / 2;
      for (std::size_t j = 0; j < batch.features; ++j) gradients[i * batch.features + j] = residual * batch.x[i * batch.stride + j];
    }
  }
  std::string identity() const override { return "least squares"; }
};

int main(int, char** argv) {
  starling::Session session;
  const bool first = session.rank() == 0;
  std::signal(SIGINT, handler);
  std::vector<double> x, y;
  for (int i = 0; i < 400; ++i) {
    x.push_back(i % 7 - 3.0);
    x.push_back(i % 5 - 2.0);
    y.push_back(x[2 * i] - x[2 * i + 1]);
  }
  starling::Records records;
  records.x = x.data();
  records.records = y.size();
  records.columns = 2;
  records.y = y.data();
  const auto model = std::make_shared<Model>();
  starling::Options options;
  options.set("clients", 4).set("mechanism", "gaussian").set("epsilon", 2.0).set("clip", 1).set("progress", "off").set("seed", 3);
  options.set("noise-key", "seed").set("tuning", "off").records(records).model(model);
  const auto code = [](const std::function<void()>& run) {
    try {
      run();
    } catch (const starling::Error& error) {
      return error.code();
    }
    return 0;
  };
  const std::string folder = argv[1];
  const int usage = code([&] { session.run("omd", starling::Options(options).set("stpe", 1)); });
  if (first) std::printf("usage %d\n", usage);
  starling::Records wrong(records);
  if (session.rank() == session.size() - 1) wrong.columns = 0;
  const int before = code([&] { session.run("omd", starling::Options(options).records(wrong)); });
  if (first) std::printf("before %d\n", before);
  const int fewer = code([&] { session.run("omd", starling::Options(options).records_by_client(std::vector<starling::Records>(5, records))); });
  if (first) std::printf("fewer %d\n", fewer);
  const double kept = y[5];
  y[5] = y[5] / 0.0;
  const int data = code([&] { session.run("omd", options); });
  if (first) std::printf("data %d\n", data);
  y[5] = kept;
  const starling::Run whole = session.run("omd", starling::Options(options).set("output", folder + "-whole"));
  starling::Options of_starling(options);
  of_starling.model(nullptr).set("loss", "squared").set("output", folder + "-built-in");
  const std::vector<double> built_in = session.run("omd", of_starling).models().values;
  double apart = 0;
  for (std::size_t i = 0; i < built_in.size(); ++i) apart = std::max(apart, std::abs(built_in[i] - whole.models().values[i]));
  if (first) std::printf("equal %d\n", built_in.size() == 8 && apart <= 1e-12);
  model->ends = first ? 180 : 0;
  const starling::Run stopped = session.run("omd", starling::Options(options).set("output", folder + "-stopped"));
  if (first) std::printf("stopped %d\n", stopped.stopped() && handled == 0);
  starling::Options going_on;
  going_on.set("resume", folder + "-stopped").set("progress", "off").model(model).records(records);
  const starling::Run rest = session.run("omd", going_on);
  if (first) std::printf("same %d\n", rest.models().values == whole.models().values);
  std::raise(SIGINT);
  if (first) std::printf("handler %d\n", static_cast<int>(handled));
  const std::string graph = session.command({"topology", "check", argv[2]});
  if (first) std::printf("graph %d\n", graph.empty() != first);
  if (!first) return 0;
  std::remove((folder + "-stopped/summary.json").c_str());  // absent while a run goes on
  std::printf("going on %d\n", code([&] { rest.models(); }));
}
"""


class Library(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="starling-library-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.prefix = cls.folder / "prefix"
        cls.done(["cmake", "--install", BUILD, "--prefix", cls.prefix])

    @classmethod
    def done(cls, words, code=0):
        done = subprocess.run([*map(str, words)], cwd=cls.folder, env=environment(), capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode != code:
            raise AssertionError(f"{words}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def build(self, source, build):
        self.done(["cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}"])
        self.done(["cmake", "--build", build])
        return self.folder / build

    def test_only_the_faces_are_installed(self):
        headers = sorted(str(path.relative_to(self.prefix / "include")) for path in (self.prefix / "include").rglob("*.h*"))
        self.assertEqual(headers, ["starling/plugin.h", "starling/starling.hpp"])
        library = next(path for path in self.prefix.rglob("libstarling.so"))
        symbols = [line.split()[-1] for line in self.done(["nm", "-D", "--defined-only", library]).splitlines()]
        foreign = [name for name in symbols if name.startswith("_Z") and "8starling" in name and "8starling2v1" not in name]
        self.assertEqual(foreign, [])
        self.assertTrue(any("8starling2v17Session3run" in name for name in symbols))

    def test_program_graphs_jobs_and_documents_are_installed(self):
        version = re.search(r"project\(starling VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        self.assertIn(f"starling {version} ", self.done([self.prefix / "bin" / "starling", "--version"]))
        for folder, names in (("share/starling", ("topologies/*.topo", "jobs/*")),
                              ("share/doc/starling", ("README.md", "CHANGELOG.md", "docs/**/*.md", "examples/**/*.*"))):
            for name in names:
                wanted = {path.relative_to(SOURCE) for path in SOURCE.glob(name) if path.name != "__pycache__"}
                found = {path.relative_to(self.prefix / folder) for path in (self.prefix / folder).glob(name)}
                self.assertEqual(found, wanted)

    def test_the_example_of_the_page(self):
        page = PAGE.read_text()
        project = self.folder / "page"
        project.mkdir()
        for language, name in (("cmake", "CMakeLists.txt"), ("cpp", "mine.cpp")):
            (project / name).write_text(re.search(rf"```{language}\n(.*?)```", page, re.DOTALL).group(1))
        built = self.build(project, "page-build")
        accuracy = float(self.done([built / "mine"]).split()[-1])
        self.assertGreater(accuracy, 0.85)

    def test_the_example(self):
        built = self.build(SOURCE / "examples" / "library", "median")
        for ranks in (1, 2):
            told = self.done([*([] if ranks == 1 else [MPIRUN, "--oversubscribe", "-n", ranks]), built / "median", f"run-{ranks}"])
            numbers = [float(number) for number in re.findall(r"-?\d+\.\d+", told.split(" at ")[0])]
            for found, truth in zip(numbers, (2, -1, 0.5), strict=True):
                self.assertAlmostEqual(found, truth, delta=0.2)
            self.assertIn("epsilon 1.00", told)
        message = self.refused([built / "median", "run-1"], 2)
        self.assertIn("is not empty", message)

    @fewer
    def test_runs_one_after_the_other(self):
        project = self.folder / "twice"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(re.search(r"```cmake\n(.*?)```", PAGE.read_text(), re.DOTALL).group(1))
        (project / "mine.cpp").write_text(TWICE)
        built = self.build(project, "twice-build")
        for ranks in layouts((1, 4, 2)):
            mpirun = [] if ranks == 1 else [MPIRUN, "--oversubscribe", "-n", ranks]
            told = self.done([*mpirun, built / "mine", f"twice-{ranks}", SOURCE / "topologies" / "unbalanced-5.topo"]).splitlines()
            self.assertIn("usage 2", told)
            self.assertIn("before 2", told)
            self.assertIn("fewer 2", told)  # 4 clients would leave out the fifth's records
            self.assertIn("data 3", told)
            self.assertIn("equal 1", told)
            self.assertIn("stopped 1", told)
            self.assertIn("same 1", told)
            self.assertIn("handler 1", told)
            self.assertIn("graph 1", told)
            self.assertIn("going on 2", told)
        if h5py is not None:
            models = [self.final_models(f"twice-{ranks}-whole") for ranks in layouts((1, 4, 2))]
            self.assertEqual(models, [models[0]] * len(models))

    def final_models(self, run):
        with h5py.File(self.folder / run / "run.h5") as file:
            return file["final_model"][()].tobytes()

    def refused(self, words, code):
        done = subprocess.run([*map(str, words)], cwd=self.folder, env=environment(), capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, code, done)
        return done.stderr

    @unittest.skipUnless(shutil.which("pkg-config"), "pkg-config is not installed")
    def test_pkg_config(self):
        (self.folder / "version.cpp").write_text(
            '#include <cstdio>\n#include <starling/starling.hpp>\nint main() { std::puts(starling::version().c_str()); }\n')
        settings = next(path.parent for path in self.prefix.rglob("starling.pc"))
        os.environ["PKG_CONFIG_PATH"] = str(settings)
        flags = self.done(["pkg-config", "--cflags", "--libs", "starling"]).split()
        self.done(["c++", "-std=c++17", "version.cpp", *flags, f"-Wl,-rpath,{settings.parent}", "-o", "version"])
        self.assertTrue(self.done(["./version"]).startswith("0."))


if __name__ == "__main__":
    unittest.main()
