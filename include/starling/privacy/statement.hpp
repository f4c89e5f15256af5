/// What a run says about privacy: the figures, and a paragraph that a lawyer and a statistician can both read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "starling/privacy/mechanism.hpp"

namespace starling {

/// Where the clients' noise keys come from. `seed`: from a public number, so that anybody can take the noise off again.
enum class NoiseKeyPolicy { random, seed, file };

/// "random", "seed" or "file".
[[nodiscard]] const char* name_of(NoiseKeyPolicy policy);
/// "record" or "component".
[[nodiscard]] const char* name_of(PrivacyUnit unit);

/// What a report needs beside the mechanism. Counts are of what really happened, not of what was planned.
struct ReleaseCounts {
  std::int64_t releases = 0;        ///< most releases that one client made
  std::int64_t participations = 0;  ///< most releases that one record entered: 1 on a one-pass stream, else epochs
  std::int64_t clients = 1;
};

/// The privacy figures of a run. Infinite where nothing is protected (null in JSON). All losses are pure ε plus δ under
/// basic composition, which is exact bookkeeping but not the tightest for many releases.
struct PrivacyReport {
  std::string mechanism;    ///< name in mechanism_table
  std::string description;  ///< the mechanism's own sentence
  NoiseKeyPolicy noise_key = NoiseKeyPolicy::random;
  PrivacyUnit unit = PrivacyUnit::record;
  std::string neighbours;  ///< completes "two data sets count as neighbours if …"
  double epsilon_per_release = 0;
  double delta_per_release = 0;
  std::int64_t participations = 0;
  double epsilon = 0;  ///< participations × per release: the loss of one record (or component) by the whole run
  double delta = 0;
  /// releases × per release: the loss, by all releases of a client, of somebody with one record in each batch.
  double one_per_batch_epsilon = 0;
  double one_per_batch_delta = 0;
  /// releases × batch × per release (× d for unit component): the loss of somebody to whom all records of a client
  /// belong, by group privacy.
  /// Infinite if δ > 0: no figure is claimed then.
  double client_epsilon = 0;
  std::int64_t releases = 0;
  std::int64_t clients = 0;
  std::size_t batch = 1;
  std::size_t dimension = 1;
  double clip = 0;
  std::string run_id;
  std::string recipients = "the client's neighbours in the communication graph and, through them, every other client";
  std::vector<std::string> shared_metrics;  ///< numbers from private records that were shared without noise
  bool public_data = false;                 ///< the records are synthetic or were declared public

  /// Whether the figures protect anything: there is noise, and nobody else can compute it.
  [[nodiscard]] bool is_private() const;
};

/// Fills in all figures; `mechanism_name` is the name in the table. `recipients`, `shared_metrics` and `public_data`
/// are left to the caller. Throws UsageError for negative counts or more participations than releases.
[[nodiscard]] PrivacyReport privacy_report(const Mechanism& mechanism, const std::string& mechanism_name,
                                           NoiseKeyPolicy noise_key, const ReleaseCounts& counts);

/// One paragraph: what is protected, by what, how much is lost, and what is not covered. Losses are rounded up.
[[nodiscard]] std::string statement(const PrivacyReport& report);

}  // namespace starling
