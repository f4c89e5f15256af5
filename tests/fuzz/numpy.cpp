// Any bytes as NumPy's .npy or .npz. The first byte of an input chooses how it is read.
#include <vector>

#include "records.hpp"
#include "target.hpp"

namespace {

using starling::ReadSettings;

/// Ways to read; inputs of the corpus begin with their numbers.
const std::vector<void (*)(ReadSettings&)> ways = {
    [](ReadSettings& settings) { settings.format = "npy"; },
    [](ReadSettings& settings) { settings.format = "npz"; },
    [](ReadSettings& settings) {
      settings.format = "npy";
      settings.label = "0";
      settings.missing = ReadSettings::Missing::indicator;
    },
    [](ReadSettings& settings) {
      settings.format = "npz";
      settings.label = "a";
      settings.missing = ReadSettings::Missing::zero;
    },
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace starling;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ReadSettings settings;
  ways[fuzz::choose(bytes, ways.size())](settings);
  const fuzz::MemoryFile file(bytes);
  fuzz::answers([&] { fuzz::read_soundly(file.path(), settings); });
  return 0;
}
