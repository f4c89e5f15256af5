#include "core/check.hpp"

#include <cstddef>

namespace starling {

std::string one_line(std::string text) {
  constexpr std::size_t longest = 4'000;
  for (char& c : text) {
    if ((c >= 0 && c < ' ') || c == 0x7f) c = '?';
  }
  if (text.size() <= longest) return text;
  std::size_t end = longest;
  while ((static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U && end > longest - 4) --end;  // inside a character
  return text.substr(0, end) + "…";
}

}  // namespace starling
