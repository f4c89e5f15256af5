"""Wheels for `pip install ./python`: the package as CMake builds it, from the tree that this folder is in. Needs nothing of pip's.

The variable STARLING_BUILD names a build folder, from where the user stands or from the tree. Without it that is build/release,
which is made where it is missing, or, for another Python than the build's, a folder beside it. What is compiled there stays.
"""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import zipfile

TREE = pathlib.Path(__file__).resolve().parent.parent
MODULE = "_starling" + sysconfig.get_config_var("EXT_SUFFIX")
OURS = f"cp{sys.version_info[0]}{sys.version_info[1]}"


def run(*words):
    print("+", *words, flush=True)
    try:
        subprocess.run([*map(str, words)], cwd=TREE, check=True)
    except FileNotFoundError:
        raise SystemExit(f"starling: there is no {words[0]}. bash jobs/setup.sh installs what a build needs.") from None
    except subprocess.CalledProcessError:
        raise SystemExit(f"starling: {words[0]} has failed, see above. Python.h, pybind11 and NumPy are needed: "
                         "apt-get install python3-dev pybind11-dev python3-numpy.") from None


def built(build):
    """The folder of the package in a build folder, brought up to date."""
    run("cmake", "--build", build, "--target", "starling_python")
    return build / "python" / "starling"


def named_build(name):
    """The build folder that STARLING_BUILD names."""
    found = [base / name for base in (pathlib.Path(os.environ.get("PWD", ".")), TREE) if (base / name / "CMakeCache.txt").exists()]
    if not found:
        raise SystemExit(f"starling: STARLING_BUILD={name}: no folder of that name has a build, neither in {os.environ.get('PWD', '.')} "
                         f"nor in {TREE}. Name a folder that cmake has configured, or leave STARLING_BUILD out.")
    return found[0].resolve()


def package():
    """The folder of the built package for this Python."""
    if os.environ.get("STARLING_BUILD"):
        build = named_build(os.environ["STARLING_BUILD"])
        if not (built(build) / MODULE).exists():
            raise SystemExit(f"starling: the build in {build} is for another Python: it has no {MODULE}. Configure it with "
                             f"-DPython_EXECUTABLE={sys.executable}, or leave STARLING_BUILD out.")
        return build / "python" / "starling"
    for build in (TREE / "build" / "release", TREE / "build" / f"release-{OURS}"):
        if not (build / "CMakeCache.txt").exists():
            run("cmake", "--preset", "release", "-B", build, "-DSTARLING_PYTHON=ON", f"-DPython_EXECUTABLE={sys.executable}")
        if (built(build) / MODULE).exists():
            break
    return build / "python" / "starling"


def line_of_record(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The name of the wheel that is written into the folder (PEP 517)."""
    version = re.search(r"project\(starling VERSION (\S+)", (TREE / "CMakeLists.txt").read_text())[1]
    tag = f"{OURS}-{OURS}-{re.sub(r'[-.]', '_', sysconfig.get_platform())}"
    about = f"starling-{version}.dist-info"
    folder = package()
    files = {f"starling/{path.name}": path.read_bytes() for path in sorted(folder.iterdir())
             if path.name == MODULE or path.suffix in (".py", ".pyi", ".typed")}
    files[f"{about}/METADATA"] = (f"Metadata-Version: 2.1\nName: starling\nVersion: {version}\nRequires-Python: >=3.8\nRequires-Dist: numpy\n"
                                  "Summary: Decentralized, differentially private online learning on MPI\n").encode()
    files[f"{about}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: starling\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    lines = [line_of_record(name, content) for name, content in files.items()]
    files[f"{about}/RECORD"] = "".join([*lines, f"{about}/RECORD,,\n"]).encode()
    wheel = f"starling-{version}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return wheel
