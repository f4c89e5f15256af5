#include "starling/data/source.hpp"

#include "readers.hpp"
#include <array>
#include <string_view>

#include <fmt/ranges.h>

#include "starling/core/check.hpp"

namespace starling {

namespace {

struct Format {
  std::string_view name;
  std::array<std::string_view, 3> endings;  // of file names, before an optional .gz
  std::unique_ptr<RecordReader> (*open)(const std::string&, const ReadSettings&);
};

constexpr std::array formats{
    Format{"csv", {".csv", ".tsv", ".tab"}, open_csv},
    Format{"svmlight", {".svm", ".libsvm", ".svmlight"}, open_svmlight},
};

bool has_ending(const Format& format, std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  for (const std::string_view ending : format.endings) {
    if (path.ends_with(ending)) return true;
  }
  return false;
}

std::string known_formats() {
  std::string known;
  for (const Format& format : formats) {
    known += fmt::format("{}{}: {}", known.empty() ? "" : "; ", format.name, fmt::join(format.endings, " "));
  }
  return known;
}

const Format& find_format(const std::string& path, const std::string& name) {
  for (const Format& format : formats) {
    if (name == "auto" ? has_ending(format, path) : name == format.name) return format;
  }
  check(name == "auto", "unknown format '{}' (known: auto; {})", name, known_formats());
  throw UsageError(fmt::format("{}: the name does not tell the format (known: {}; each also with .gz) give --format",
                               path, known_formats()));
}

}  // namespace

Row Record::row() const {
  if (sparse) return {values, index};
  return {values, {}};
}

std::unique_ptr<RecordReader> open_reader(const std::string& path, const ReadSettings& settings) {
  return find_format(path, settings.format).open(path, settings);
}

}  // namespace starling
