// HDF5 files of all shapes, types and kinds of storage, made with the library as the input says: what our reader makes
// of them. The first byte chooses how they are read.
#include "hdf5_shapes.hpp"
#include "records.hpp"
#include "target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace starling;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ReadSettings settings;
  settings.format = "hdf5";
  const std::size_t way = fuzz::choose(bytes, 5);
  if (way == 1) settings.label = "na";
  if (way == 2) settings.label = "1";
  if (way == 3) settings.drop = {"0"};
  if (way == 4) settings.key = "0";
  const fuzz::MemoryFile file(fuzz::hdf5_file(bytes));
  const std::string source = file.path();
  fuzz::answers([&] { fuzz::read_soundly(source, settings); });
  fuzz::answers([&] { fuzz::read_soundly(source + "," + source, settings); });
  return 0;
}
