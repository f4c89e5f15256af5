#include "graph/graph.hpp"

#include <array>
#include <utility>

#include "core/check.hpp"
#include "core/text/names.hpp"

namespace starling {

namespace {

using RuleName = std::pair<WeightRule, std::string_view>;
constexpr std::array<RuleName, 4> rule_names{{{WeightRule::explicit_weights, "explicit"},
                                              {WeightRule::sender, "sender"},
                                              {WeightRule::receiver, "receiver"},
                                              {WeightRule::metropolis, "metropolis"}}};

}  // namespace

std::string_view name_of(WeightRule rule) {
  for (const auto& [known, name] : rule_names) {
    if (known == rule) return name;
  }
  return "explicit";
}

WeightRule parse_weight_rule(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& [rule, known] : rule_names) {
    if (known == name) return rule;
    names.emplace_back(known);
  }
  throw UsageError(unknown_name("weight rule", name, names));
}

}  // namespace starling
