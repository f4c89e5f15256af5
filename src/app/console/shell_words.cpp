#include "shell_words.hpp"

#include <regex>

namespace starling {

std::string quoted(const std::vector<std::string>& words) {
  std::string line;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool plain =
        words[i].find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@%") ==
            std::string::npos &&
        !words[i].empty();
    line += i == 0 ? "" : " ";
    line += plain ? words[i] : "'" + std::regex_replace(words[i], std::regex("'"), "'\\''") + "'";
  }
  return line;
}

}  // namespace starling
