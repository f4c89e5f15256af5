#include "output/figures/divergence.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/numerics/kernels.hpp"

namespace starling {

namespace {

constexpr double errors_of_chance = 4;
constexpr double harder_records = 4;
constexpr double largest_usual_norm = 1e6;

/// Whether a mean loss exceeds another that is positive by more than chance, or is not finite.
bool is_above(double loss, double start, double factor) {
  if (!std::isfinite(start) || start <= 0) return false;
  return std::isinf(loss) || loss > factor * start;
}

double chance(double records) {
  return 1 + errors_of_chance / std::sqrt(std::max(records, 1.0));
}

}  // namespace

std::optional<std::string> note_of_divergence(const RunEnd& end) {
  const auto compared = [&end](const char* what, double loss, double start, const char* unless = "") {
    return fmt::format(
        "{} is {:.4g}, above the {:.4g} of the start models: {}the run is worse than one that does not move. {}", what,
        loss, start, unless, end.remedies);
  };
  double first_test = NetworkFigures::unknown;
  double first_loss = NetworkFigures::unknown;
  double last_test = end.test_loss;
  for (const NetworkFigures& line : end.history) {
    if (line.done == 0) first_test = line.test_loss;
    if (line.done == 1) first_loss = line.loss;
    if (std::isnan(end.test_loss) && !std::isnan(line.test_loss)) last_test = line.test_loss;
  }
  if (is_above(last_test, first_test, chance(end.test_records))) {
    return compared("the loss on --test", last_test, first_test);
  }
  const double factor = chance(end.round_records) * (end.classifies ? 1 : harder_records);
  const bool tested = !std::isnan(end.test_loss) && !std::isnan(first_test);
  if (!tested && is_above(end.last_loss, first_loss, factor)) {
    return compared("the loss over the last tenth of the rounds", end.last_loss, first_loss,
                    end.classifies ? "" : "unless later records are harder, ");
  }
  // Losses that are known have said that the run is no worse: features of a scale of 1e-8 have models of 1e8.
  const bool unknown = (std::isnan(last_test) || std::isnan(first_test)) && std::isnan(end.last_loss);
  const double norm = norm2(end.final_model);
  if (!std::isfinite(norm) || (unknown && norm > largest_usual_norm)) {
    return fmt::format(
        "the final models have grown to a norm of {:.3g}: steps are too long for these records, unless features are as "
        "small as that. {}",
        norm, end.remedies);
  }
  return std::nullopt;
}

}  // namespace starling
