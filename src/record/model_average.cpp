#include "starling/record/model_average.hpp"

#include "starling/core/kernels.hpp"

namespace starling {

const char* name_of(Averaging averaging) {
  return averaging == Averaging::none ? "none" : averaging == Averaging::tail ? "tail" : "all";
}

ModelAverage::ModelAverage(Averaging averaging, Round rounds) : after_(averaging == Averaging::tail ? rounds / 2 : 0) {}

void ModelAverage::after(const RoundView& view) {
  if (view.done() <= after_) return;
  const Released<Columns> models = view.models();
  if (counted_++ == 0) {
    sums_ = models;
    return;
  }
  sums_.update(
      [](Columns& sums, const Columns& now) {
        for (std::size_t k = 0; k < now.size(); ++k) axpy(1, now[k], sums[k]);
      },
      models);
}

Released<Columns> ModelAverage::models(const RoundView& view) const {
  if (counted_ == 0) return view.models();
  return post_process(
      [this](const Columns& sums) {
        Columns means = sums;
        for (std::size_t k = 0; k < means.size(); ++k) scale(1 / static_cast<double>(counted_), means[k]);
        return means;
      },
      sums_);
}

}  // namespace starling
