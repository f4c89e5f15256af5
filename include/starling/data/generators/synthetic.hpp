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

/// For whom a generator draws: what the records of one client may have to do with those of the others.
struct Audience {
  Client clients = 1;
  std::uint64_t seed = 1;
  /// For a test set: of how many clients, whose kinds of records take turns in it. 0 for streams.
  Client test_of = 0;
};

/// Draws one record of a generator.
class Generator {
 public:
  virtual ~Generator() = default;
  [[nodiscard]] virtual std::size_t features() const = 0;
  /// Records per client; 0 for no end.
  [[nodiscard]] virtual std::int64_t records() const = 0;
  /// Of the features, where they have some; else empty.
  [[nodiscard]] virtual std::vector<std::string> names() const { return {}; }
  /// The coefficients of its regression on the features and, last, an intercept, where it has one; else empty. What is
  /// fitted to its records needs an intercept then.
  [[nodiscard]] virtual std::vector<double> coefficients() const { return {}; }
  /// A record of a client in round t (from 1, the paper's count) into `values` (features() of them); returns the label.
  [[nodiscard]] virtual double draw(Round t, Client client, AddressedRandom& random, MutableView values) const = 0;
};

using GeneratorTable = Table<Generator, const Audience&>;
[[nodiscard]] const GeneratorTable& generator_table();

[[nodiscard]] bool is_synthetic(std::string_view source);
/// Whether the source is `synthetic:spectrum`, which only vertical learning can use.
[[nodiscard]] bool is_spectrum(std::string_view source);

/// Of `synthetic:NAME…`. Throws UsageError.
[[nodiscard]] std::unique_ptr<Generator> make_generator(const std::string& source, const Audience& audience);

/// What makes a generator's records, as one line; its digest stands for theirs.
[[nodiscard]] std::string identity_of_generated(const std::string& source, std::uint64_t seed);

/// Throws UsageError for options that say how a file is read: they have no meaning for a generator.
void refuse_reading_options(const ReadSettings& settings);

}  // namespace starling
