#include "core/check.hpp"

#include <string_view>

namespace starling {

std::string one_line(std::string text) {
  constexpr std::string_view ellipsis = "…";
  for (char& c : text) {
    if ((c >= 0 && c < ' ') || c == 0x7f) c = '?';
  }
  if (text.size() <= longest_message) return text;
  std::size_t end = longest_message - ellipsis.size();
  for (int k = 0; k < 3 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U; ++k) --end;  // inside a character
  text.resize(end);
  return text.append(ellipsis);
}

}  // namespace starling
