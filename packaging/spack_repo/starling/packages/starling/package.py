# Copyright The starling developers. See the top-level LICENSE file for details.
#
# SPDX-License-Identifier: Apache-2.0

from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Starling(CMakePackage):
    """Decentralized, differentially private online learning on MPI."""

    # The clone that this recipe is part of.
    git = f"file://{Path(__file__).resolve().parents[5]}"

    license("Apache-2.0", checked_by="starling")

    version("main", branch="main")
    version("0.3.0", tag="v0.3.0")
    version("0.2.0", tag="v0.2.0")

    variant("python", default=True, description="Build the Python package")
    variant("plots", default=True, description="Draw pictures with gnuplot and Graphviz")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.23:", type="build")
    depends_on("mpi@3.1:")
    depends_on("hdf5")
    depends_on("eigen@3.4:3", type="build")
    depends_on("spectra@1:", type="build")
    depends_on("boost@1.74:+program_options")
    depends_on("fmt")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("openssl@3:")
    depends_on("libsodium")
    depends_on("mpfr")
    depends_on("random123", type="build")
    depends_on("tomlplusplus", type="build")
    depends_on("zlib-api")
    depends_on("gnuplot", type="run", when="+plots")
    depends_on("graphviz", type="run", when="+plots")

    with when("+python"):
        extends("python@3.8:")
        depends_on("py-pybind11@2.6:", type="build")
        depends_on("py-numpy", type=("build", "run"))
        depends_on("py-h5py", type="run")

    conflicts("%gcc@:11", msg="starling is written in C++20 and needs GCC 12 or later")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define("STARLING_TESTS", False),
            # Spack's compiler wrapper adds the flags of the target.
            self.define("STARLING_ARCH", ""),
            self.define_from_variant("STARLING_PYTHON", "python"),
        ]
        if self.spec.satisfies("+python"):
            args.append(self.define("Python_EXECUTABLE", self.spec["python"].command.path))
            args.append(self.define("STARLING_PYTHON_DIR", self.spec["python"].package.platlib))
        return args
