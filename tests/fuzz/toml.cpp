// Files for --config in TOML.
#include "options/toml_file.hpp"
#include "target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace starling;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::answers([text] {
    long long line = 0;
    for (const FileEntry& entry : read_toml(text, "run.toml")) {
      fuzz::require(!entry.values.empty(), "a value");
      fuzz::require(entry.line >= 1 && entry.line >= line, "lines in order");
      for (const std::string& value : entry.values)
        fuzz::require(value.find_first_of("#\r\n") == std::string::npos, "values that fit into a line");
      line = entry.line;
    }
  });
  return 0;
}
