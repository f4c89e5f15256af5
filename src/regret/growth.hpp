/// Growth exponents of sums over rounds (docs/methods/decentralized.md).
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "core/snapshot.hpp"
#include "protocol/observer.hpp"

namespace starling {

/// The rounds at which a sum is evaluated: from 1 to `last` in steps of 30 % (about nine per decade), with `last`.
[[nodiscard]] std::vector<Round> growth_marks(Round last);

/// A fitted power law, R(t) ≈ scale · t^exponent.
struct GrowthFit {
  double exponent = 0;
  double standard_error = 0;
  double scale = 0;
  Round from = 0;          ///< first round of the fit
  std::size_t points = 0;  ///< number of fitted points
  [[nodiscard]] double at(Round t) const;
};

/// Least squares of log R(t) on log t over the last decade of rounds.
///
/// Points of a cumulative curve share rounds, so their scatter about the line understates the error of the exponent.
/// The increments between points are nearly independent. The standard error follows from the differences between the
/// increments and the fitted ones, each with its own variance (White 1980), propagated to the slope through all later
/// points. The factor n/(n − 2) in the variance accounts for the two fitted numbers. The error covers chance from round
/// to round, not a curve that is not a power law. The fit is none for fewer than 5 points, and where a sum in the
/// decade is unknown (NaN) or not positive.
[[nodiscard]] std::optional<GrowthFit> fit_growth(const std::vector<Round>& rounds, View sums);

/// The observer of played losses: keeps each client's sum at some rounds.
class PlayedRecorder final : public Observer {
 public:
  /// `marks` are the rounds, rising; `clients` is the number of local clients.
  PlayedRecorder(std::vector<Round> marks, std::size_t clients) : marks_(std::move(marks)), played_(clients) {}

  void after(const RoundView& view) override;
  [[nodiscard]] Round due() const override {
    return reached_ < marks_.size() ? marks_[reached_] : std::numeric_limits<Round>::max();
  }
  [[nodiscard]] const std::vector<Round>& marks() const { return marks_; }
  /// Σ f_u,t(x_u,t) of each client over the rounds before each mark reached.
  [[nodiscard]] const std::vector<Secret<Vector>>& played() const { return played_; }
  void persist(Snapshot& snapshot) {
    snapshot(reached_);
    snapshot.of_clients(played_);
  }

 private:
  std::vector<Round> marks_;
  std::size_t reached_ = 0;
  std::vector<Secret<Vector>> played_;
};

}  // namespace starling
