/// Built-in generators of labelled streams (`synthetic:NAME`), public and replayable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "starling/core/random.hpp"
#include "starling/core/table.hpp"
#include "starling/data/settings.hpp"
#include "starling/data/stream.hpp"

namespace starling {

/// The clients of a generator, whose records may depend on each other.
struct Audience {
  Client clients = 1;
  std::uint64_t seed = 1;
  /// For a test set: number of clients, whose kinds of records take turns. 0 for streams.
  Client test_of = 0;
};

/// A distribution of labelled records, per client and round.
class Generator {
 public:
  virtual ~Generator() = default;
  [[nodiscard]] virtual std::size_t features() const = 0;
  /// Records per client; 0 for no end.
  [[nodiscard]] virtual std::int64_t records() const = 0;
  /// Names of the features; empty if they have none.
  [[nodiscard]] virtual std::vector<std::string> names() const { return {}; }
  /// Coefficients of the label's regression on the features, the intercept last; empty if no regression is known. A
  /// model of these records needs an intercept.
  [[nodiscard]] virtual std::vector<double> coefficients() const { return {}; }
  /// Draws a record of a client in round t, from 1, into `values` (features() entries). Returns the label.
  [[nodiscard]] virtual double draw(Round t, Client client, AddressedRandom& random, MutableView values) const = 0;
};

using GeneratorTable = Table<Generator, const Audience&>;
[[nodiscard]] const GeneratorTable& generator_table();

/// Whether the source is a generator, `synthetic:…`.
[[nodiscard]] bool is_synthetic(std::string_view source);
/// Whether the source is `synthetic:spectrum`, which only vertical learning can use.
[[nodiscard]] bool is_spectrum(std::string_view source);

/// The generator that `synthetic:NAME…` names. Throws UsageError.
[[nodiscard]] std::unique_ptr<Generator> make_generator(const std::string& source, const Audience& audience);

/// One line that determines a generator's records; its digest stands for the records' digest.
[[nodiscard]] std::string identity_of_generated(const std::string& source, std::uint64_t seed);

/// Throws UsageError for options on reading files, which have no meaning for a generator.
void refuse_reading_options(const ReadSettings& settings);

}  // namespace starling
