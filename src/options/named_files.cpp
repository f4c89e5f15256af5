#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

#include <fmt/ranges.h>

#include "core/text/spec.hpp"
#include "options/option.hpp"

namespace starling::named {

namespace {

using Path = std::filesystem::path;

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// The pieces between `separator`, each transformed by `change`, joined again.
template <class Change>
std::string joined(const std::string& value, std::string_view separator, const Change& change) {
  std::vector<std::string> parts;
  for (const std::string_view part : split_at(value, separator)) parts.push_back(change(std::string(part)));
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string file_of_spec(const std::string& value, const Path& folder) {
  const std::size_t colon = value.find(':');
  if (colon == std::string::npos || !is_one_of(value.substr(0, colon), {"schedule", "clients", "file", "linear"})) {
    return value;
  }
  constexpr std::string_view key = "file=";
  std::size_t from = colon + 1;
  if (value.compare(from, key.size(), key) == 0) {
    from += key.size();
  } else if (value.find('=', from) != std::string::npos) {
    return value;  // schedule:from=1,to=2
  }
  return value.substr(0, from) + file(value.substr(from), folder);
}

}  // namespace

std::string file(const std::string& value, const Path& folder) {
  if (value.empty() || value == "-" || Path(value).is_absolute()) return value;
  return (folder / value).lexically_normal().string();
}

std::string source(const std::string& value, const Path& folder) {
  std::error_code ignored;
  if (value.starts_with("memory:")) return value;
  if (value.starts_with("synthetic:")) {  // synthetic:spectrum:v=2,trajectory=FILE
    constexpr std::string_view key = "trajectory=";
    return joined(value, ",", [&](const std::string& part) {
      const std::size_t at = part.find(key);
      return at == std::string::npos ? part
                                     : part.substr(0, at + key.size()) + file(part.substr(at + key.size()), folder);
    });
  }
  if (std::filesystem::exists(folder / value, ignored)) return file(value, folder);  // a name with a comma
  return joined(value, ",", [&](const std::string& part) { return file(part, folder); });
}

std::string start(const std::string& value, const Path& folder) {
  const bool is_word =
      is_one_of(value, {"uniform", "zero", "safe"}) || value.starts_with("classes:") || value.starts_with("mean:");
  return is_word ? value : file(value, folder);
}

std::string noise_key(const std::string& value, const Path& folder) {
  return is_one_of(value, {"random", "seed"}) ? value : file(value, folder);
}

std::string encoding(const std::string& value, const Path& folder) {
  for (const std::string_view kind : {"onehot:", "reference:"}) {
    if (value.starts_with(kind)) return std::string(kind) + file(value.substr(kind.size()), folder);
  }
  return file(value, folder);
}

std::string standardisation(const std::string& value, const Path& folder) {
  return value.starts_with("values:") ? value : file(value, folder);
}

std::string missing(const std::string& value, const Path& folder) {
  constexpr std::string_view constant = "constant:";
  if (!value.starts_with(constant)) return value;
  return std::string(constant) + file(value.substr(constant.size()), folder);
}

std::string absences(const std::string& value, const Path& folder) {
  const std::string word = value.substr(0, value.find(':'));
  return is_one_of(word, {"uniform", "gilbert-elliott", "markov"}) ? value : file(value, folder);
}

std::string model(const std::string& value, const Path& folder) {
  constexpr std::string_view plugin = "plugin:";
  if (!value.starts_with(plugin)) return value;
  const std::size_t end = std::min(value.find(':', plugin.size()), value.size());
  const std::string path = value.substr(plugin.size(), end - plugin.size());
  return std::string(plugin) + file(path, folder) + value.substr(end);
}

std::string spec(const std::string& value, const Path& folder) {
  return joined(value, "+", [&](const std::string& part) { return file_of_spec(part, folder); });
}

}  // namespace starling::named
