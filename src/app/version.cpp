#include "starling/app/version.hpp"

#include <Eigen/Core>
#include <fmt/format.h>
#include <hdf5.h>

#include "starling/net/world.hpp"

namespace starling {

std::string version() {
  return fmt::format("{} ({})", STARLING_VERSION, STARLING_REVISION);
}

std::string version_text() {
  return fmt::format("starling {}\nMPI    {}\nEigen  {}.{}.{}\nHDF5   {}.{}.{}\n", version(), mpi_version(),
                     EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION, H5_VERS_MAJOR, H5_VERS_MINOR,
                     H5_VERS_RELEASE);
}

}  // namespace starling
