/// Built-in generators of labelled streams (`synthetic:NAME`), public and replayable.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "core/text/spec.hpp"
#include "data/settings.hpp"
#include "data/source.hpp"
#include "data/stream.hpp"

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
  /// Draws a record of a client in round t, from 1, into `values` (as many as features). Returns the label.
  using Draw = std::function<double(Round t, Client client, AddressedRandom& random, MutableView values)>;
  Generator(std::size_t features, std::int64_t records, Draw draw, std::vector<double> coefficients = {},
            std::vector<std::string> names = {})
      : features_(features),
        records_(records),
        draw_(std::move(draw)),
        coefficients_(std::move(coefficients)),
        names_(std::move(names)) {}

  [[nodiscard]] std::size_t features() const { return features_; }
  /// Records per client; 0 for no end.
  [[nodiscard]] std::int64_t records() const { return records_; }
  /// Names of the features; empty if they have none.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// Coefficients of the label's regression on the features, the intercept last; empty if no regression is known. A
  /// model of these records needs an intercept.
  [[nodiscard]] const std::vector<double>& coefficients() const { return coefficients_; }
  [[nodiscard]] double draw(Round t, Client client, AddressedRandom& random, MutableView values) const {
    return draw_(t, client, random, values);
  }

 private:
  std::size_t features_;
  std::int64_t records_;
  Draw draw_;
  std::vector<double> coefficients_;
  std::vector<std::string> names_;
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

/// Reader of the records that a run on `synthetic:SPEC` with this seed and batch size serves to the client, in the same
/// order. Messages call the source `name`.
[[nodiscard]] std::unique_ptr<RecordReader> open_generated(std::shared_ptr<const Generator> generator, std::string name,
                                                           std::uint64_t seed, Client client, std::int64_t batch,
                                                           std::int64_t records);

}  // namespace starling
