/// Public facts of a run, on which its privacy depends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/links.hpp"
#include "privacy/correlation.hpp"
#include "privacy/ledger/served_rounds.hpp"
#include "privacy/mechanism/second_part.hpp"
#include "privacy/statement/terms.hpp"

namespace starling {

class Introductions;
class Protection;
class RunPairs;
struct ReleaseSettings;

/// The parts of a run's price that histograms have had, and that sums of scores will have. They were priced before the
/// number of rounds was known.
struct HistogramShares {
  double features = 0;                 ///< of histograms of features; 0: there are none
  double norms = 0;                    ///< of a second release, as of norms, from the rest; 0: there is none
  bool labels = false;                 ///< whether it counts the magnitudes of labels too
  Counted counted = Counted::norms;    ///< by the second
  bool label_beside_features = false;  ///< whether the label has a histogram among those of features
  std::int64_t uses = 1;               ///< of a record in gradients: --epochs
  double scores = 0;                   ///< of sums of scores after the last round

  [[nodiscard]] bool any() const { return features > 0 || norms > 0 || scores > 0; }
  /// The shares as words among a run's parameters in ledgers, each after a space; empty without histograms.
  [[nodiscard]] std::string text() const;
};

/// Public facts of a run that its privacy depends on.
struct RunFacts {
  std::size_t batch = 1;
  std::size_t dimension = 1;
  Round rounds = 1;
  std::uint64_t seed = 1;
  bool public_data = false;
  std::optional<SecondPart> second;             ///< of each round's release, where it has two parts
  std::optional<NoiseCorrelation> correlation;  ///< of a client's noise over the rounds, where it is not independent
  std::shared_ptr<const RunPairs> pairs;        ///< under --trust pairs
  /// Makes what protects the releases, where that is no member of mechanism_table. A MultipartMechanism has the parts
  /// of all clients on every rank.
  std::function<std::unique_ptr<Protection>(const ReleaseSettings&)> protection;
  HistogramShares histograms;  ///< of what was released before the first round
  /// Of runs whose members have proved who they are; else null.
  std::shared_ptr<const Introductions> introductions;
  SealedMessages sealed = SealedMessages::none;  ///< of such runs
  bool released_early = false;                   ///< this start has released histograms, or has taken up their release
  /// The price of a whole round, in multiples of the price of its first part (--mu, --epsilon).
  double price_factor = 1;
  /// Where rank 0 combines what clients send: whom they trust. None: they mix with their neighbours.
  std::optional<TrustModel> trust;
  /// And whether that are models, made of several releases each.
  bool sends_models = false;
  /// For vertical learning, with client 0 as fusion centre. `trust` then has no further meaning.
  std::optional<VerticalFacts> vertical;
  /// Whether the same command on the same data makes the same integers again. Pipes do not.
  bool replayable = true;
  std::string configuration;      ///< the effective one, as a file for --config
  bool rounds_matter = true;      ///< whether a round would be another if the run had more rounds after it
  std::string public_inputs;      ///< whatever else it reads that all may know: topology, start models
  std::vector<std::string> data;  ///< digests of each client's records, or one of those that all clients share
  bool clients_changed = false;   ///< some client of the run is gone for good, or has joined (ServedRounds)
  bool persons_in_slots = false;  ///< of unit person: some rank's records come through pipes
  /// The served rounds of each of this rank's clients; `of_all` is 0 for a client that releases nothing.
  std::vector<ServedRounds> served;
};

}  // namespace starling
