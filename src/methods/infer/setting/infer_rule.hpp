/// The rule of `--tuning auto` of `starling infer`: settings that its user left open, from public numbers
/// (docs/methods/inference.md, "Settings from public numbers").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/serving/dataset.hpp"
#include "infer_config.hpp"
#include "loss/loss.hpp"
#include "report/tuning.hpp"

namespace starling {

/// Public facts of a run on which the rule depends.
struct InferRuleFacts {
  const InferConfig& config;
  const CurvedLoss& loss;
  const DataShape& shape;
  bool replayable;                      ///< whether the records can be read again
  Client clients;                       ///< on all ranks together
  Vector shares;                        ///< factors with which the mean step has the clients' noisy means
  std::optional<std::int64_t> records;  ///< of the client with most; none where nobody knows
  Round endless;                        ///< rounds of streams without a known end
  double hiding = 1;                    ///< clients that hide each other by noise that they share
};

/// Rounds of Newton's method: with noise, six, of which the first finds scales; without, until any loss has come to
/// rest.
[[nodiscard]] std::int64_t newton_rounds(bool protects);

/// Why the rule takes a path in place of Newton's method; empty if it takes the latter.
[[nodiscard]] std::string why_a_path(const InferRuleFacts& facts);

/// Says that noise will hide the curvature from Newton's method, whatever the records are; empty where it may not.
/// `dropped` features have no coefficient.
[[nodiscard]] std::string newton_outlook(const InferRuleFacts& facts, std::size_t dropped);

/// The rule's values of those options that are not given. Throws UsageError.
[[nodiscard]] std::vector<TunedValue> values_by_rule(const InferRuleFacts& facts);

}  // namespace starling
