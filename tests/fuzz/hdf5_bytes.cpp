// Any bytes as an HDF5 file. What is found here may be a fault of the HDF5 library (see README.md).
#include "records.hpp"
#include "target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace starling;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ReadSettings settings;
  settings.format = "hdf5";
  const fuzz::MemoryFile file(bytes);
  fuzz::answers([&] { fuzz::read_soundly(file.path(), settings); });
  return 0;
}
