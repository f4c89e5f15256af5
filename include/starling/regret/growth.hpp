/// How a sum over rounds grows: the rounds at which it is looked at, and the exponent of its growth.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "starling/core/snapshot.hpp"
#include "starling/protocol/observer.hpp"

namespace starling {

/// Rounds from 1 to `last`, each 30 % after the one before (some nine per decade), with the last itself.
[[nodiscard]] std::vector<Round> growth_marks(Round last);

/// R(t) ≈ scale · t^exponent.
struct GrowthFit {
  double exponent = 0;
  double standard_error = 0;
  double scale = 0;
  Round from = 0;          ///< first round of the fit
  std::size_t points = 0;  ///< in it
  [[nodiscard]] double at(Round t) const;
};

/// Least squares of log R(t) on log t over the last decade of rounds.
///
/// Points of such a curve share their rounds, so that their scatter about the line says little of the exponent's error.
/// What is independent, or nearly so, is what the sum gains from one point to the next: the standard error follows from
/// the differences between these gains and those of the fitted curve, each of its own size (White 1980), as they move
/// the slope through all later points; times n/(n − 2) in the variance for the two numbers fitted. It covers chance
/// from round to round, not a curve that is no power. None with fewer than 5 points, or where a sum in that decade is
/// unknown (NaN) or not positive.
[[nodiscard]] std::optional<GrowthFit> fit_growth(const std::vector<Round>& rounds, View sums);

/// Keeps each client's played loss at some rounds.
class PlayedRecorder final : public Observer {
 public:
  /// `marks` rise. For `clients` local clients.
  PlayedRecorder(std::vector<Round> marks, std::size_t clients) : marks_(std::move(marks)), played_(clients) {}

  void after(const RoundView& view) override;
  [[nodiscard]] Round due() const override {
    return reached_ < marks_.size() ? marks_[reached_] : std::numeric_limits<Round>::max();
  }
  [[nodiscard]] const std::vector<Round>& marks() const { return marks_; }
  /// Σ f_u,t(x_u,t) of each client over the rounds before each mark that was reached.
  [[nodiscard]] const std::vector<Secret<Vector>>& played() const { return played_; }
  void persist(Snapshot& snapshot) { snapshot(reached_, played_); }

 private:
  std::vector<Round> marks_;
  std::size_t reached_ = 0;
  std::vector<Secret<Vector>> played_;
};

}  // namespace starling
