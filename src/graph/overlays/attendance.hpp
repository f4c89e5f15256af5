/// Dropout models. Absence is a random-access function of (client, round), without state and without simulation of
/// other clients.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/text/spec.hpp"
#include "graph/schedule.hpp"

namespace starling {

/// A dropout model.
struct AbsenceModel {
  std::function<bool(Client u, Round t)> absent;  ///< whether client u is absent in round t ≥ 0
  std::function<std::string()> text;              ///< all parameters, for digests
};

/// Parameters of dropout: each client's stationary share of missed rounds, in [0, 1), and the seed of the draws.
struct Dropout {
  std::vector<double> shares;
  std::uint64_t seed = 1;
};

/// Random dropout models, by name (`uniform`, `gilbert-elliott`, `markov`). Makers throw UsageError for shares that a
/// model does not admit.
using AbsenceTable = Table<AbsenceModel, const Dropout&>;
[[nodiscard]] const AbsenceTable& absence_table();

/// Absences listed in a file with lines `round,client`. Throws UsageError.
[[nodiscard]] std::unique_ptr<AbsenceModel> read_absences(const std::string& path, Client clients);

/// Shares from the argument of `--dropout`: a number, a list with one number per client, or `clients:FILE` with lines
/// `client,share`. Throws UsageError.
[[nodiscard]] std::vector<double> parse_dropout(const std::string& text, Client clients);

/// For each client the first round in which it is gone; none if it stays.
using Departures = std::vector<std::optional<Round>>;
/// Departures listed in a file with lines `client,round`. Throws UsageError.
[[nodiscard]] Departures read_departures(const std::string& path, Client clients);

}  // namespace starling
