#include "starling/data/synthetic.hpp"

#include "drift.hpp"
#include "generators.hpp"

#include "starling/core/check.hpp"

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

std::string identity_of_generated(const std::string& source, std::uint64_t seed) {
  return fmt::format("{} seed={}", source, seed);
}

void refuse_reading_options(const ReadSettings& settings) {
  const ReadSettings none;
  struct Given {
    const char* option;
    bool given;
  };
  for (const auto& [option, given] : {Given{"--format", settings.format != none.format},
                                      {"--label", settings.label != none.label},
                                      {"--id", settings.id != none.id},
                                      {"--drop", settings.drop != none.drop},
                                      {"--positive", settings.positive != none.positive},
                                      {"--ignore", settings.ignore != none.ignore},
                                      {"--scale", settings.scale != none.scale},
                                      {"--delimiter", settings.delimiter != none.delimiter},
                                      {"--header", settings.header != none.header},
                                      {"--dimension", settings.dimension != none.dimension}}) {
    check(!given, "{} with '{}' (it says how a file is read, and this is a generator) leave it out", option,
          settings.source);
  }
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
