#include "options/meant.hpp"

#include <algorithm>
#include <array>

#include "core/text/names.hpp"

namespace starling {

namespace {

struct OtherName {
  std::string_view other;
  std::string_view option;
};

/// Names that libraries of machine learning, and programs, give to options of starling.
constexpr std::array other_names{
    OtherName{"lr", "step"},
    OtherName{"eta", "step"},
    OtherName{"learning-rate", "step"},
    OtherName{"batch-size", "batch"},
    OtherName{"eps", "epsilon"},
    OtherName{"target-epsilon", "total-epsilon"},
    OtherName{"max-grad-norm", "clip"},
    OtherName{"iterations", "rounds"},
    OtherName{"iter", "rounds"},
    OtherName{"max-iter", "rounds"},
    OtherName{"steps", "rounds"},
    OtherName{"passes", "epochs"},
    OtherName{"data", "source"},
    OtherName{"file", "source"},
    OtherName{"input", "source"},
    OtherName{"train", "source"},
    OtherName{"dataset", "source"},
    OtherName{"records", "source"},
    OtherName{"target", "label"},
    OtherName{"outcome", "label"},
    OtherName{"response", "label"},
    OtherName{"y", "label"},
    OtherName{"graph", "topology"},
    OtherName{"network", "topology"},
    OtherName{"weight-decay", "l2"},
    OtherName{"workers", "clients"},
    OtherName{"nodes", "clients"},
    OtherName{"random-state", "seed"},
    OtherName{"random-seed", "seed"},
    OtherName{"validation", "test"},
    OtherName{"fit-intercept", "intercept"},
    OtherName{"x", "source"},
    OtherName{"latex", "format"},
    OtherName{"markdown", "format"},
    OtherName{"dir", "output"},
    OtherName{"folder", "output"},
    OtherName{"o", "output"},
};

bool has(const std::vector<std::string>& known, std::string_view name) {
  return std::find(known.begin(), known.end(), name) != known.end();
}

/// The only known name with this property; none if there are several.
template <class F>
std::optional<std::string> only(const std::vector<std::string>& known, F&& property) {
  const auto first = std::find_if(known.begin(), known.end(), property);
  if (first == known.end() || std::find_if(std::next(first), known.end(), property) != known.end()) return std::nullopt;
  return *first;
}

}  // namespace

std::optional<std::string> meant_option(std::string_view name, const std::vector<std::string>& known) {
  for (const auto& [other, option] : other_names) {
    if (other == name && has(known, option)) return std::string(option);
  }
  if (auto nearest = nearest_name(name, known)) return nearest;
  constexpr std::size_t shortest = 3;  // fewer letters begin too many names
  if (name.size() < shortest) return std::nullopt;
  if (auto longer = only(known, [&](const std::string& each) { return each.starts_with(name); })) return longer;
  return only(known,
              [&](const std::string& each) { return name.starts_with(each + "-") || name.ends_with("-" + each); });
}

}  // namespace starling
