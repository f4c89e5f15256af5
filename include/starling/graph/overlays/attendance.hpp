/// Models of who sits out which round. Attendance is a random-access function of (client, round): nobody keeps or
/// simulates the past of others.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "starling/core/table.hpp"
#include "starling/graph/schedule.hpp"

namespace starling {

class AbsenceModel {
 public:
  virtual ~AbsenceModel() = default;
  /// Whether client u sits out round t ≥ 0.
  [[nodiscard]] virtual bool absent(Client u, Round t) const = 0;
  /// All that it depends on, for digests.
  [[nodiscard]] virtual std::string text() const = 0;
};

/// The stationary share of rounds that each client sits out, each in [0, 1); and the seed of the draws.
struct Dropout {
  std::vector<double> shares;
  std::uint64_t seed = 1;
};

/// Models that draw, by name (`uniform`, `gilbert-elliott`, `markov`). Makers throw UsageError for shares that the
/// model cannot have.
using AbsenceTable = Table<AbsenceModel, const Dropout&>;
[[nodiscard]] const AbsenceTable& absence_table();

/// Absences as a file lists them: lines `round,client`. Throws UsageError.
[[nodiscard]] std::unique_ptr<AbsenceModel> read_absences(const std::string& path, Client clients);

/// Shares as `--dropout` takes them: a number, a list with one number per client, or `clients:FILE` with lines
/// `client,share`. Throws UsageError.
[[nodiscard]] std::vector<double> parse_dropout(const std::string& text, Client clients);

/// From which round on each client is gone; none where it stays.
using Departures = std::vector<std::optional<Round>>;
/// Lines `client,round`. Throws UsageError.
[[nodiscard]] Departures read_departures(const std::string& path, Client clients);

}  // namespace starling
