#include "output/intervals/interval_recorder.hpp"

#include <cmath>
#include <limits>

#include "core/numerics/distributions.hpp"

namespace starling {

IntervalRecorder::IntervalRecorder(const PathMethods& methods, std::size_t clients, std::vector<std::size_t> noted,
                                   std::size_t dimension, RecordRounds rounds, PathsOf whose)
    : methods_(methods),
      noted_(std::move(noted)),
      rounds_(rounds),
      whose_(whose),
      paths_(clients, RandomScaling(dimension)),
      blocks_(clients, PathBlocks(dimension)),
      image_(dimension) {
  static_cast<void>(rounds_.due(0));  // every K-th step from here on is one that K divides
  for (std::size_t k = 0; k < clients && methods.batch_means; ++k) {
    batches_.emplace_back(dimension, *methods.batch_means, methods.alpha, methods.steps - methods.burn_in);
  }
  if (methods.overlapping_batches) overlapping_.assign(clients, OverlappingBatches(dimension, methods.alpha));
}

void IntervalRecorder::persist(Snapshot& snapshot) {
  if (whose_ == PathsOf::clients) {
    snapshot(rounds_);
    snapshot.of_clients(paths_, batches_, overlapping_, blocks_);
  } else {  // no other rank's recorder observes rounds
    snapshot.of_first_rank(!paths_.empty(), rounds_, paths_, batches_, overlapping_, blocks_);
  }
  snapshot(path_);
}

void IntervalRecorder::after(const RoundView& view) {
  const Round done = view.done();
  const bool due = rounds_.due(done);  // asked during the burn-in too, so that multiples stay multiples
  if (done <= methods_.burn_in) return;
  const View masses = view.masses();
  for (std::size_t k = 0; k < paths_.size(); ++k) {
    if (!view.stepped(k)) continue;
    const double mass = k < masses.size() ? masses[k] : 1;  // an aggregator may host no client
    const View theta = seen(view.model(k));
    paths_[k].add(theta, mass);
    blocks_[k].add(theta);
    if (!batches_.empty()) batches_[k].add(theta, mass);
    if (!overlapping_.empty()) overlapping_[k].add(theta, mass);
  }
  if (due) note(done);
}

View IntervalRecorder::seen(View theta) {
  if (!map_) return theta;
  map_->apply(theta, image_);
  return image_;
}

void IntervalRecorder::finish(const RoundView& view) {
  if (view.done() <= methods_.burn_in) return;
  if (!path_.empty() && path_.back().steps == view.done()) path_.pop_back();
  note(view.done());
}

void IntervalRecorder::note(Round steps) {
  PathAt at{steps, {}};
  for (const std::size_t k : noted_) at.clients.push_back(spreads(k));
  path_.push_back(std::move(at));
}

std::vector<MethodSpread> IntervalRecorder::spreads(std::size_t k) const {
  std::vector<MethodSpread> methods;
  if (paths_[k].count() == 0) return methods;
  if (methods_.random_scaling) methods.push_back({"random-scaling", paths_[k].spread()});
  if (!overlapping_.empty()) {
    if (const auto spread = overlapping_[k].spread()) {
      methods.push_back({"overlapping-batches", {paths_[k].mean(), spread->spread}});
    }
  }
  if (batches_.empty() || paths_[k].count() < methods_.steps - methods_.burn_in) return methods;
  // Batches tell how sure the average over all models is.
  if (const auto spread = batches_[k].spread()) methods.push_back({"batch-means", {paths_[k].mean(), spread->spread}});
  return methods;
}

Vector IntervalRecorder::scaling(std::size_t k) const {
  Vector matrix = paths_[k].scaling();
  for (double& entry : matrix) entry /= static_cast<double>(paths_[k].count());
  return matrix;
}

Vector IntervalRecorder::estimate(std::size_t k, const RoundView& view) const {
  if (paths_[k].count() > 0) return paths_[k].mean();
  const View theta = view.model(k);
  Vector model(theta.begin(), theta.end());
  if (map_) map_->apply(theta, model);
  return model;
}

double interval_quantile(const std::string& method, double level) {
  if (method == "random-scaling") return random_scaling_quantile(level);
  return two_sided_normal_quantile(level);
}

std::vector<Interval> intervals_of(const std::vector<MethodSpread>& methods, const std::vector<std::string>& names,
                                   const std::vector<double>& levels, std::optional<Client> client) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<Interval> intervals;
  for (const auto& [method, spread] : methods) {
    for (const double level : levels) {
      const double quantile = interval_quantile(method, level);
      for (std::size_t j = 0; j < names.size(); ++j) {
        const double estimate = spread.estimate[j];
        const bool known = spread.spread[j] > 0 && std::isfinite(spread.spread[j]);
        const double half = known ? quantile * spread.spread[j] : unknown;
        // The divisor of random scaling is not a standard error: its limit is random.
        const double error = known && method != "random-scaling" ? spread.spread[j] : unknown;
        intervals.push_back({names[j], estimate, error, estimate - half, estimate + half, level, method, client});
      }
    }
  }
  return intervals;
}

}  // namespace starling
