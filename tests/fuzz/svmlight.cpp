// SVMlight rows, plain or gzipped. The first byte of an input chooses how it is read.
#include "records.hpp"
#include "target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace starling;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  ReadSettings settings;
  settings.format = "svmlight";
  const std::size_t way = fuzz::choose(text, 3);
  if (way == 1) settings.dimension = 5;
  if (way == 2) {
    settings.positive = {1};
    settings.ignore = {0};
    settings.scale = 0.5;
  }
  const fuzz::MemoryFile file(text);
  fuzz::answers([&] { fuzz::read_soundly(file.path(), settings); });
  return 0;
}
