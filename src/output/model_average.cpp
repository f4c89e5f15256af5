#include "output/model_average.hpp"

#include <algorithm>

#include "core/numerics/kernels.hpp"

namespace starling {

const char* name_of(Averaging averaging) {
  return averaging == Averaging::none ? "none" : averaging == Averaging::tail ? "tail" : "all";
}

ModelAverage::ModelAverage(Averaging averaging, Round rounds, Columns zero)
    : after_(averaging == Averaging::tail ? rounds / 2 : 0),
      sums_(declare_public(std::move(zero))),
      weights_(sums_.value().size(), 0.0) {}

void ModelAverage::after(const RoundView& view) {
  if (view.done() <= after_) return;
  const View masses = view.masses();
  if (weights_.empty()) weights_.assign(masses.size(), 0.0);
  for (std::size_t k = 0; k < masses.size(); ++k) weights_[k] += masses[k];
  const Released<Columns> models = view.models();
  ++counted_;
  sums_.update(
      [&](Columns& sums, const Columns& now) {
        if (sums.size() != now.size()) sums = Columns(now.rows(), now.size());
        for (std::size_t k = 0; k < now.size(); ++k) axpy(masses[k], now[k], sums[k]);
      },
      models);
}

Released<Columns> ModelAverage::models(const RoundView& view) const {
  if (counted_ == 0 || sums_.value().size() == 0) return view.models();
  const auto without_mass = [](double weight) { return !(weight > 0); };
  Released<Columns> means = post_process(
      [&](const Columns& sums) {
        Columns result = sums;
        for (std::size_t k = 0; k < result.size(); ++k) {
          if (!without_mass(weights_[k])) scale(1 / weights_[k], result[k]);
        }
        return result;
      },
      sums_);
  if (std::ranges::none_of(weights_, without_mass)) return means;
  means.update(
      [&](Columns& result, const Columns& now) {
        for (std::size_t k = 0; k < result.size(); ++k) {
          if (without_mass(weights_[k])) result.set(k, now[k]);
        }
      },
      view.models());
  return means;
}

}  // namespace starling
