/// Output of `starling doctor`.
#pragma once

#include <string>
#include <vector>

#include "console/print.hpp"
#include "doctor_checks.hpp"

namespace starling {

/// A check with its finding.
struct Examined {
  std::string name;
  Finding finding;
};

/// A duration with its unit, from ns to s.
[[nodiscard]] std::string in_seconds(double seconds);

/// All checks, in the order of their table.
[[nodiscard]] std::vector<Examined> examine(const LaunchFacts& facts);
/// Worst verdict of the results.
[[nodiscard]] Verdict verdict_of(const std::vector<Examined>& checks);

/// A row for each check, the slowest edges if there are several, and a sentence at the end.
[[nodiscard]] std::string doctor_table(const LaunchFacts& facts, const std::vector<Examined>& checks);
/// {verdict, checks: [{name, verdict, value, advice}], graph, directory, clients, ranks: [{…}], clocks: [{seconds,
/// uncertainty}], edges: [{from, to, vectors, seconds}], exchange: [seconds]}; times in seconds, by rank, null where
/// there are none. One line.
[[nodiscard]] std::string doctor_json(const LaunchFacts& facts, const std::vector<Examined>& checks);

}  // namespace starling
