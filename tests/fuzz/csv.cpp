// Delimited text, plain or gzipped. The first byte of an input chooses how it is read.
#include <vector>

#include "records.hpp"
#include "target.hpp"

namespace {

using starling::ReadSettings;
using Header = ReadSettings::Header;

/// Categories of the first column.
const starling::fuzz::MemoryFile& codes() {
  static const starling::fuzz::MemoryFile file("column,category,value\n0,a,1\n0,b,2\n");
  return file;
}

/// What is read by tables of categories that are inputs.
const starling::fuzz::MemoryFile& coded() {
  static const starling::fuzz::MemoryFile file("u,v,y\nlow,1,0\nhigh,2,1\n");
  return file;
}

/// What is read by tables of numbers that are inputs.
const starling::fuzz::MemoryFile& numbers() {
  static const starling::fuzz::MemoryFile file("u,v,y\n1,2,0\n-3,4,1\n");
  return file;
}

/// Ways to read; inputs of the corpus begin with their numbers.
const std::vector<void (*)(ReadSettings&)> ways = {
    [](ReadSettings&) {},
    [](ReadSettings& settings) { settings.label = "0"; },
    [](ReadSettings& settings) {
      settings.label = "z";
      settings.id = "id";
    },
    [](ReadSettings& settings) {
      settings.drop = {"a", "1"};
    },
    [](ReadSettings& settings) { settings.delimiter = "comma"; },
    [](ReadSettings& settings) {
      settings.delimiter = "space";
      settings.header = Header::no;
    },
    [](ReadSettings& settings) {
      settings.header = Header::yes;
      settings.positive = {1, 2};
      settings.ignore = {0};
    },
    [](ReadSettings& settings) {
      settings.key = "k";
      settings.scale = 1.0 / 255;
    },
    [](ReadSettings& settings) {
      settings.delimiter = "|";
      settings.dimension = 2;
    },
    [](ReadSettings& settings) { settings.delimiter = "tab"; },
    [](ReadSettings& settings) { settings.format = "auto"; },
    [](ReadSettings& settings) { settings.encode = codes().path(); },
    nullptr,  // the input is the table of categories
    [](ReadSettings& settings) { settings.missing = ReadSettings::Missing::indicator; },
    [](ReadSettings& settings) {
      settings.encode = codes().path();
      settings.encoding = ReadSettings::Encoding::one_hot;
      settings.missing = ReadSettings::Missing::zero;
    },
    nullptr,  // the input is the table of ranges
    nullptr,  // the input is the table of constants for missing values
};

/// Reads a public file by a table that is the input.
void read_by_table(std::size_t way, const std::string& table, ReadSettings settings) {
  if (ways.size() - way == 1) {
    settings.missing = ReadSettings::Missing::constant;
    settings.missing_constants = table;
  } else if (ways.size() - way == 2) {
    settings.ranges = table;
  } else {
    settings.encode = table;
  }
  const bool texts = !settings.encode.empty();
  starling::fuzz::answers([&] { starling::fuzz::read_soundly(texts ? coded().path() : numbers().path(), settings); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace starling;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  ReadSettings settings;
  settings.format = "csv";
  const std::size_t way = fuzz::choose(text, ways.size());
  if (ways[way] != nullptr) ways[way](settings);
  if (settings.format == "auto" && fuzz::is_hdf5(text)) return -1;
  const fuzz::MemoryFile file(text);
  if (ways[way] == nullptr) {
    read_by_table(way, file.path(), settings);
    return 0;
  }
  fuzz::answers([&] { fuzz::read_soundly(file.path(), settings); });
  return 0;
}
