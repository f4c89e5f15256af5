#include "core/text/per_client.hpp"

#include "core/check.hpp"
#include "core/text/spec.hpp"

namespace starling {

namespace {
constexpr std::string_view opening = "{client";
}

bool is_per_client(std::string_view pattern) {
  return pattern.find(opening) != std::string_view::npos;
}

std::string name_of_client(std::string_view pattern, Client client) {
  std::string name;
  while (true) {
    const auto at = pattern.find(opening);
    name += pattern.substr(0, at);
    if (at == std::string_view::npos) return name;
    std::string_view rest = pattern.substr(at + opening.size());
    const auto end = rest.find('}');
    const std::string_view first = rest.substr(0, end);
    check(end != std::string_view::npos && (first.empty() || first.starts_with(':')),
          "'{}': a client's place is written {{client}}, or {{client:1}} to count from 1. Correct the name.", pattern);
    name += std::to_string(client + (first.empty() ? 0 : parse_integer(first.substr(1), "number of client 0")));
    pattern = rest.substr(end + 1);
  }
}

}  // namespace starling
