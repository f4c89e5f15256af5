#include "options/toml_file.hpp"

#include "core/check.hpp"

#ifdef STARLING_TOML
#include <algorithm>
#include <cmath>
#include <toml++/toml.h>
#endif

namespace starling {

bool is_toml(std::string_view path) {
  return path.ends_with(".toml");
}

#ifdef STARLING_TOML

namespace {

/// Text of a value that is no array.
std::string scalar_text(const toml::node& node, const std::string& where) {
  if (const auto* text = node.as_string()) {
    check(text->get().find_first_of("#\r\n") == std::string::npos,
          "{}: the text holds a # or a line break, which could not stand in config.ini. Name it otherwise.", where);
    return text->get();
  }
  if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
  if (const auto* number = node.as_floating_point()) {
    check(std::isfinite(number->get()), "{}: the number is not finite. Give a finite one.", where);
    return fmt::format("{}", number->get());
  }
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  check(!node.is_table(), "{}: a table holds no option. Write options at the top, as key = value.", where);
  throw UsageError(
      fmt::format("{}: a date or an array in an array is no value of an option. Write text in quotes.", where));
}

std::vector<std::string> texts_of(const toml::node& node, const std::string& where) {
  const toml::array* array = node.as_array();
  if (array == nullptr) return {scalar_text(node, where)};
  check(!array->empty(), "{}: the array is empty. Give a value, or leave the key out.", where);
  std::vector<std::string> texts;
  for (const toml::node& each : *array) texts.push_back(scalar_text(each, where));
  return texts;
}

/// Beyond ASCII toml++ 3.3 may reach code that it declares unreachable, where it looks for white space.
void require_ascii(std::string_view text, const std::string& path) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // byte order mark
  const auto other = std::ranges::find_if(text, [](char c) { return static_cast<unsigned char>(c) > 0x7f; });
  const auto line = 1 + std::count(text.begin(), other, '\n');
  check(other == text.end(), "{}:{}: the line is not ASCII. Write other letters in quotes, as \"\\u00e9\".", path,
        line);
}

}  // namespace

std::string toml_version() {
  return fmt::format("{}.{}.{}", TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH);
}

std::vector<FileEntry> read_toml(std::string_view text, const std::string& path) {
  require_ascii(text, path);
  std::vector<FileEntry> entries;
  try {
    const toml::table table = toml::parse(text, std::string_view(path));
    for (const auto& [key, node] : table) {
      const long long line = key.source().begin.line;
      const std::string name(key.str());
      entries.push_back({name, texts_of(node, fmt::format("{}:{}: {}", path, line, name)), node.is_array(), line});
    }
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{}:{}: {}. A line of TOML is key = value, with text in quotes.", path,
                                 error.source().begin.line, error.description()));
  }
  std::ranges::stable_sort(entries, {}, &FileEntry::line);
  return entries;
}

#else

std::string toml_version() {
  return "";
}

std::vector<FileEntry> read_toml(std::string_view, const std::string& path) {
  throw UsageError(
      fmt::format("{}: this starling was built without toml++ and reads no TOML. Write the file as INI, with another "
                  "ending, or build starling where toml++ is installed.",
                  path));
}

#endif

}  // namespace starling
