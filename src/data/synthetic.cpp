#include "starling/data/synthetic.hpp"

#include "drift.hpp"
#include "generators.hpp"

namespace starling {

namespace {
constexpr std::string_view synthetic_prefix = "synthetic:";
}

bool is_synthetic(std::string_view source) {
  return source.starts_with(synthetic_prefix);
}

std::unique_ptr<Generator> make_generator(const std::string& source) {
  return generator_table().make(std::string_view(source).substr(synthetic_prefix.size()));
}

double mapped(const DataSettings& settings, const std::string& source, double label) {
  try {
    return settings.label_map(label);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", source, error.what()));
  }
}

const Table<Generator>& generator_table() {
  static const Table<Generator> table("generator",
                                      {{"drift",
                                        "two classes whose common mean drifts; rows of norm 1",
                                        {{"d", "features (5)"},
                                         {"informative", "1: the label keeps its direction while the mean drifts (0)"},
                                         {"n", "records per client; 0 is a stream without end (0)"}},
                                        make_drift}});
  return table;
}

}  // namespace starling
