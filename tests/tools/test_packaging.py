"""packaging/ and the workflow of CI: recipes can be read, and name the version and the libraries that the build asks for."""

import pathlib
import re
import subprocess
import sys
import types
import unittest
from unittest import mock

try:
    import jinja2
    import yaml
except ImportError:
    jinja2 = yaml = None

TREE = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = TREE / "packaging"
RECIPE = PACKAGING / "spack_repo" / "starling" / "packages" / "starling" / "package.py"
needs_yaml = unittest.skipIf(yaml is None, "python3-yaml or python3-jinja2 is not installed")


def version():
    return re.search(r"^project\(starling VERSION (\d+\.\d+\.\d+)", (TREE / "CMakeLists.txt").read_text(), re.M)[1]


def words_of(name):
    """The words of a list of jobs/setup.sh."""
    return re.search(rf"^readonly {name}=\"(.*?)\"", (TREE / "jobs" / "setup.sh").read_text().replace("\\\n", ""), re.M)[1].split()


class Recipe:
    """Stands for Spack while its recipe is read: notes the directives in place of following them."""

    def __init__(self):
        self.given = []
        modules = {name: types.ModuleType(name) for name in ("spack", "spack.package", "spack_repo", "spack_repo.builtin",
                                                             "spack_repo.builtin.build_systems", "spack_repo.builtin.build_systems.cmake")}
        for directive in ("license", "version", "variant", "depends_on", "extends", "conflicts"):
            setattr(modules["spack.package"], directive, self.noting(directive))
        modules["spack.package"].when = lambda condition: mock.MagicMock()
        modules["spack_repo.builtin.build_systems.cmake"].generator = self.noting("generator")
        modules["spack_repo.builtin.build_systems.cmake"].CMakePackage = type("CMakePackage", (), {
            "define": staticmethod(lambda name, value: f"-D{name}={value}"),
            "define_from_variant": staticmethod(lambda name, variant: f"-D{name}={variant}")})
        names = {"__file__": str(RECIPE), "__name__": "package"}
        with mock.patch.dict(sys.modules, modules):
            exec(compile(RECIPE.read_text(), RECIPE, "exec"), names)
        self.package = names["Starling"]

    def noting(self, directive):
        return lambda *words, **keywords: self.given.append((directive, words[0], keywords))

    def words(self, directive):
        return [word for name, word, _ in self.given if name == directive]


def conda():
    text = re.sub(r"\s# \[.*\]$", "", (PACKAGING / "conda" / "meta.yaml").read_text(), flags=re.M)

    def load_file_regex(load_file, regex_pattern, from_recipe_dir):
        assert from_recipe_dir
        return re.search(regex_pattern, (PACKAGING / "conda" / load_file).read_text())

    return yaml.safe_load(jinja2.Template(text).render(load_file_regex=load_file_regex, compiler="{}-compiler".format, stdlib="{}-stdlib".format))


class Versions(unittest.TestCase):
    def test_the_version_is_that_of_cmake_everywhere(self):
        found = {"CITATION.cff": re.search(r"^version: (.*)$", (TREE / "CITATION.cff").read_text(), re.M)[1],
                 "CHANGELOG.md": re.search(r"^## (\d\S*)", (TREE / "CHANGELOG.md").read_text(), re.M)[1],
                 "package.py": [word for word in Recipe().words("version") if word != "main"][0]}
        self.assertEqual(found, dict.fromkeys(found, version()))

    @needs_yaml
    def test_conda_reads_it(self):
        self.assertEqual(conda()["package"], {"name": "starling", "version": version()})


class Recipes(unittest.TestCase):
    def test_spack_has_what_the_setup_names(self):
        recipe = Recipe()
        wanted = {word.split("+")[0] for word in words_of("spack_packages")}
        named = {re.split(r"[@+~]", word)[0] for word in recipe.words("depends_on")} | set(recipe.words("generator"))
        self.assertEqual({{"openmpi": "mpi", "zlib": "zlib-api"}.get(name, name) for name in wanted} - named, set())
        self.assertEqual(recipe.package.git, f"file://{TREE}")

    def test_spack_builds_with_options_of_the_build(self):
        package = Recipe().package()
        package.spec = mock.MagicMock()
        options = [re.match(r"-D(\w+)=", word)[1] for word in package.cmake_args()]
        self.assertEqual(len(options), 5)
        declared = "".join(path.read_text() for path in (TREE / "CMakeLists.txt", TREE / "python" / "CMakeLists.txt"))
        self.assertEqual([name for name in options if name not in declared], [])

    @needs_yaml
    def test_conda_has_what_spack_has(self):
        names = {"mpi": "openmpi", "spectra": "spectra-cpp", "boost": "libboost-devel", "nlohmann-json": "nlohmann_json", "zlib-api": "zlib",
                 "py-pybind11": "pybind11", "py-numpy": "numpy", "c": "c-compiler", "cxx": "cxx-compiler"}
        wanted = {re.split(r"[@+~]", word)[0] for name, word, keywords in Recipe().given
                  if name == "depends_on" and keywords.get("type") != "run"} - {"random123"}  # which no channel has: build.sh asks for it
        recipe = conda()
        given = {line.split()[0] for part in ("build", "host") for line in recipe["requirements"][part]}
        self.assertEqual({names.get(name, name) for name in wanted} - given, set())
        for command in recipe["test"]["commands"][:2]:
            self.assertIn("starling", command)

    def test_images_run_the_same_steps(self):
        docker = re.findall(r"^RUN bash \S*container.sh (\w+)$", (PACKAGING / "Dockerfile").read_text(), re.M)
        apptainer = re.findall(r"^%post\n +bash \S*container.sh (\w+)$", (PACKAGING / "starling.def").read_text(), re.M)
        self.assertEqual((docker, apptainer), (["build", "install"], ["build", "install"]))
        for name in ("Dockerfile", "starling.def"):
            text = (PACKAGING / name).read_text()
            self.assertEqual(re.findall(r"^(?:FROM|From:) (debian:\S+)", text, re.M), ["debian:12", "debian:12-slim"])
            for path in re.findall(r"(?<!/)\bpackaging/[\w.]+", text):
                self.assertTrue((TREE / path).exists(), path)

    def test_scripts_can_be_read_and_explain_themselves(self):
        for script in [*PACKAGING.glob("*.sh"), PACKAGING / "conda" / "build.sh"]:
            subprocess.run(["bash", "-n", script], check=True)
        for name in ("build.sh", "try.sh"):
            help = subprocess.run(["bash", PACKAGING / name, "--help"], capture_output=True, text=True, check=True).stdout
            self.assertTrue(help.startswith(f"usage: packaging/{name}"), help)
            self.assertEqual(subprocess.run(["bash", PACKAGING / name, "RPM"], capture_output=True).returncode, 2)


@needs_yaml
class Workflow(unittest.TestCase):
    def test_it_sets_up_and_runs_everything_on_each_image(self):
        job = yaml.safe_load((TREE / ".github" / "workflows" / "ci.yml").read_text())["jobs"]["ci"]
        self.assertEqual(job["strategy"]["matrix"], {"image": ["debian:12", "ubuntu:24.04"]})
        self.assertEqual(job["container"]["image"], "${{ matrix.image }}")
        commands = [step.get("run", "") for step in job["steps"]]
        setup = next(i for i, command in enumerate(commands) if command == "bash jobs/setup.sh --tests")
        run = next(i for i, command in enumerate(commands) if command.startswith(".ci/run"))
        self.assertLess(setup, run)
        for name in (".ci/run", "jobs/setup.sh"):
            self.assertTrue((TREE / name).exists())


if __name__ == "__main__":
    unittest.main()
