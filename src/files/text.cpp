#include "files/text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "core/check.hpp"
#include "files/durable_file.hpp"

namespace starling {

namespace {

using namespace std::string_view_literals;

/// Whether the line has no zero byte, no carriage return and no byte of a multi-byte character. One pass without
/// branches, since almost all lines of almost all files are of this kind.
bool is_simple(std::string_view line) {
  unsigned char odd = 0;
  for (const char c : line) {
    const auto byte = static_cast<signed char>(c);
    odd |= static_cast<unsigned char>(byte <= 0) | static_cast<unsigned char>(byte == '\r');
  }
  return odd == 0;
}

/// Length of the UTF-8 character at the beginning of `text`; 0 if there is none (RFC 3629: no surrogates, nothing
/// beyond U+10FFFF, no form longer than needed).
std::size_t length_of_character(std::string_view text) {
  const auto byte = [text](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U; };
  const auto follows = [&](std::size_t k, unsigned from = 0x80, unsigned to = 0xBF) {
    return byte(k) >= from && byte(k) <= to;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    return follows(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    return follows(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

/// Position of the first byte that begins no character, or npos.
std::size_t first_malformed(std::string_view line) {
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t length = length_of_character(line.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

}  // namespace

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

bool begins_as_utf16(std::string_view head) {
  return head.starts_with("\xFF\xFE"sv) || head.starts_with("\xFE\xFF"sv) || head.starts_with("\0\0\xFE\xFF"sv);
}

std::optional<std::string> text_fault(std::string_view line) {
  if (is_simple(line)) return std::nullopt;
  if (const std::size_t zero = line.find('\0'); begins_as_utf16(line) || zero != std::string_view::npos) {
    return fmt::format(
        "byte {} is part of UTF-16 or of no text: text is read as UTF-8. Convert the file: iconv -f UTF-16 -t UTF-8 "
        "FILE > NEW",
        begins_as_utf16(line) ? 1 : zero + 1);
  }
  if (const std::size_t at = first_malformed(line); at != std::string_view::npos) {
    return fmt::format(
        "byte {} is not UTF-8: text is read as UTF-8. Convert the file: iconv -f LATIN1 -t UTF-8 FILE > NEW", at + 1);
  }
  if (const std::size_t at = line.find('\r'); at != std::string_view::npos) {
    return fmt::format(
        "byte {} is a carriage return that no line feed follows: lines end in a line feed. Convert the file: tr "
        "'\\r' '\\n' < FILE > NEW",
        at + 1);
  }
  return std::nullopt;
}

std::vector<std::string> text_lines(std::string_view text, const std::string& name) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    if (const auto fault = text_fault(line)) throw UsageError(fmt::format("{}:{}: {}", name, lines.size(), *fault));
  }
  return lines;
}

std::vector<std::string> read_lines(const std::string& path, const std::string& purpose) {
  const std::optional<std::string> text = read_whole_file(path);
  check(text.has_value(), "cannot read {}: {}. Check the path and its permissions.", purpose, std::strerror(errno));
  return text_lines(*text, path);
}

}  // namespace starling
