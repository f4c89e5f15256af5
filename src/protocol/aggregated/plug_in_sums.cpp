#include "protocol/aggregated/plug_in_sums.hpp"

#include <algorithm>
#include <cmath>

#include "core/numerics/gram.hpp"
#include "core/numerics/kernels.hpp"
#include "model/mallows_model.hpp"
#include "net/root/root.hpp"
#include "privacy/mechanism/paired_mechanism.hpp"
#include "privacy/without_noise.hpp"
#include "protocol/aggregated/aggregated_clients.hpp"

namespace starling {

namespace {

/// Margin for rounding in scaling and summing, so that nothing is ever clipped.
constexpr double slack = 1 + 0x1p-12;

double unit_or_one(double bound) {
  return std::isfinite(bound) ? bound : 1;
}

void divide(MutableView triangles, double unit, std::size_t order, double off_diagonal) {
  scale(1 / unit, triangles);
  scale_off_diagonal(triangles, order, off_diagonal);
}

/// y += a x x', packed.
void add_square(double a, View x, MutableView y) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = i; j < x.size(); ++j) y[at++] += a * x[i] * x[j];
  }
}

}  // namespace

ReleasedMatrix influence_of(const PlugInMeans& means, std::size_t batch, double inverse_clients) {
  const double share = inverse_clients / static_cast<double>(batch);
  ReleasedMatrix result{means.moment, means.moment_noise * share};
  axpy(-1, means.between, result.triangle);
  scale(1 / static_cast<double>(batch), result.triangle);
  for (std::size_t j = 0, at = 0; at < result.triangle.size(); ++j) {
    result.triangle[at] += means.direction_noise;
    at += means.dimension - j;
  }
  scale(inverse_clients, result.triangle);
  return result;
}

CurvatureScale::CurvatureScale(const MallowsModel& model)
    : order_(model.dimension()),
      curvature_unit_(unit_or_one(model.most_curvature())),
      moment_unit_(unit_or_one(model.most_influence() * model.most_influence())) {}

std::size_t CurvatureScale::triangle() const {
  return triangle_size(order_);
}

void CurvatureScale::scale(Vector& triangles) const {
  divide(MutableView(triangles).first(triangle()), curvature_unit_, order_, std::numbers::sqrt2);
  divide(MutableView(triangles).subspan(triangle()), moment_unit_, order_, std::numbers::sqrt2);
}

PlugInMeans CurvatureScale::unscaled(View triangles, double deviation) const {
  PlugInMeans result;
  result.dimension = order_;
  const auto middle = triangles.begin() + static_cast<std::ptrdiff_t>(triangle());
  result.curvature.assign(triangles.begin(), middle);
  result.moment.assign(middle, triangles.end());
  divide(result.curvature, 1 / curvature_unit_, order_, 1 / std::numbers::sqrt2);
  divide(result.moment, 1 / moment_unit_, order_, 1 / std::numbers::sqrt2);
  result.curvature_noise = curvature_unit_ * deviation;
  result.moment_noise = moment_unit_ * deviation;
  return result;
}

PlugInSums::PlugInSums(Root& root, AggregatedClients& clients, MallowsModel& model, CurvatureParts parts,
                       const PairedMechanism& mechanism)
    : root_(root),
      clients_(clients),
      model_(model),
      parts_(parts),
      scale_(model),
      pair_(mechanism),
      directions_(clients.count(), declare_public(Vector(model.dimension() + 2))) {}

void PlugInSums::add(std::size_t k, const ReleaseAddress& address, double price, View theta,
                     const Released<Vector>& direction) {
  add_curvature(k, address, price, theta);
  if (parts_ != CurvatureParts::both) return;
  const double deviation = pair_.deviation(price);
  directions_[k].update(
      [&](Vector& total, const Vector& noisy) {
        axpy(1, noisy, MutableView(total).first(noisy.size()));
        total[noisy.size()] += deviation * deviation;
        total[noisy.size() + 1] += 1;
      },
      direction);
}

// A client's message is (S S'/n, S, noise of S S'/n, noise of S, n, 1): post-processing of its releases.
void PlugInSums::find_between(PlugInMeans& means) {
  const std::size_t d = model_.dimension();
  const std::size_t triangle = triangle_size(d);
  Released<Vector> part = declare_public(Vector());
  const Released<Vector> sum = root_.sum(triangle + d + 4, [&](std::size_t k) -> const Released<Vector>& {
    part.update(
        [&](Vector& own, const Vector& directions) {
          own.assign(triangle + d + 4, 0.0);
          const double n = directions[d + 1];
          if (n == 0) return;
          add_square(1 / n, View(directions).first(d), MutableView(own).first(triangle));
          std::copy_n(directions.begin(), d, own.begin() + static_cast<std::ptrdiff_t>(triangle));
          own[triangle + d] = directions[d] / n;
          own[triangle + d + 1] = directions[d];
          own[triangle + d + 2] = n;
          own[triangle + d + 3] = 1;
        },
        directions_[k]);
    return part;
  });
  if (!root_.aggregates() || means.moment.empty()) return;
  const View total = sum.value();
  means.between.assign(total.begin(), total.begin() + static_cast<std::ptrdiff_t>(triangle));
  const double steps = total[triangle + d + 2];
  const double others = total[triangle + d + 3] - 1;
  if (others <= 0) {  // a single client
    std::fill(means.between.begin(), means.between.end(), 0.0);
    return;
  }
  const double batch = static_cast<double>(pair_.settings().batch);
  const double noise = total[triangle + d] - total[triangle + d + 1] / steps;
  add_square(-1 / steps, total.subspan(triangle, d), means.between);
  axpy(-others / batch, means.moment, means.between);
  for (std::size_t j = 0; j < d; ++j) means.between[triangle_at(j, j, d)] -= noise;
  scale(1 / (steps - others / batch), means.between);
}

std::size_t PlugInSums::size() const {
  return triangle_size(model_.dimension()) * (parts_ == CurvatureParts::both ? 2 : 1);
}

// Ψ̇/B1 and ΨΨ'/B0² have Frobenius norms of at most 1 and inner products that are not negative, so replacing a record
// moves the sum by at most √2 times a record's norm. At a price of √2 μ for both, the noise on an entry has the
// deviation √2/μ (docs/methods/inference.md, "Intervals").
SecondPart PlugInSums::part(const MallowsModel& model, CurvatureParts parts, double share) {
  const bool both = parts == CurvatureParts::both;
  const bool bounded = std::isfinite(model.most_influence());
  SecondPart part;
  part.what = both ? "curvature and squared estimating function, for plug-in intervals" : "curvature, for its bias";
  part.clip = !bounded ? model.most_influence() : (both ? std::numbers::sqrt2 : 1) * slack;
  part.dimension = triangle_size(model.dimension()) * (both ? 2 : 1);
  part.share = share;
  part.replacement = bounded ? std::numbers::sqrt2 : 2;
  return part;
}

const Secret<Vector>& PlugInSums::scaled(std::size_t k, View theta) {
  apply(
      [&](Vector& triangles, const Batch& batch) {
        model_.curvature(theta, batch, triangles);
        scale_.scale(triangles);
        triangles.resize(size());
      },
      triangles_, *clients_.batch(k));
  return triangles_;
}

LocalPlugInSums::LocalPlugInSums(Root& root, AggregatedClients& clients, MallowsModel& model, CurvatureParts parts,
                                 PairedMechanism& mechanism)
    : PlugInSums(root, clients, model, parts, mechanism),
      mechanism_(mechanism),
      noisy_(declare_public(Vector())),
      totals_(clients.count(), declare_public(Vector(size() + 3))),
      noted_(clients.count(), declare_public(Vector())) {}

void LocalPlugInSums::last_curvature(Vector& triangle) const {
  triangle = scale_.unscaled(View(noisy_.value()).first(scale_.triangle()), 0).curvature;
}

double LocalPlugInSums::curvature_noise(double price) const {
  return scale_.curvature_unit() * mechanism_.second_deviation(price);
}

void LocalPlugInSums::add_curvature(std::size_t k, const ReleaseAddress& address, double price, View theta) {
  mechanism_.release_second(address.by(ReleasePath::infer_curvature), price, clients_.key(k), scaled(k, theta), noisy_);
  const double of_direction = mechanism_.deviation(price);
  const double of_entry = mechanism_.second_deviation(price);
  totals_[k].update(
      [&](Vector& total, const Vector& noisy) {
        axpy(1, noisy, MutableView(total).first(noisy.size()));
        const MutableView rest = MutableView(total).subspan(noisy.size());
        rest[0] += of_direction * of_direction;
        rest[1] += of_entry * of_entry;
        rest[2] += 1;
      },
      noisy_);
}

PlugInMeans LocalPlugInSums::collect() {
  const std::size_t size = this->size();
  const Released<Vector> sum =
      root_.sum(size + 3, [this](std::size_t k) -> const Released<Vector>& { return totals_[k]; });
  PlugInMeans result;
  const double batches = root_.aggregates() ? sum.value()[size + 2] : 0;
  if (batches > 0) {
    Vector means = sum.value();
    scale(1 / batches, means);
    result = scale_.unscaled(View(means).first(size), std::sqrt(means[size + 1] / batches));
    result.direction_noise = means[size];
  }
  find_between(result);
  return result;
}

void LocalPlugInSums::note(Round steps) {
  moments_.push_back(steps);
  for (std::size_t k = 0; k < noted_.size(); ++k) {
    noted_[k].update(
        [](Vector& all, const Vector& of_directions, const Vector& totals) {
          all.insert(all.end(), of_directions.begin(), of_directions.end());
          all.insert(all.end(), totals.begin(), totals.end());
        },
        directions()[k], totals_[k]);
  }
}

std::vector<std::pair<Round, PlugInMeans>> LocalPlugInSums::collect_noted() {
  const std::vector<Released<Vector>> last_directions = directions();
  const std::vector<Released<Vector>> last_totals = totals_;
  std::vector<std::pair<Round, PlugInMeans>> means;
  for (std::size_t i = 0; i < moments_.size(); ++i) {
    for (std::size_t k = 0; k < noted_.size(); ++k) {
      const std::size_t d = last_directions[k].value().size();
      const std::size_t each = d + last_totals[k].value().size();
      const auto part = [&](std::size_t from, std::size_t count) {
        return post_process(
            [&](const Vector& all) {
              const View own = View(all).subspan(i * each + from, count);
              return Vector(own.begin(), own.end());
            },
            noted_[k]);
      };
      directions()[k] = part(0, d);
      totals_[k] = part(d, each - d);
    }
    means.emplace_back(moments_[i], collect());
  }
  directions() = last_directions;
  totals_ = last_totals;
  return means;
}

CentralPlugInSums::CentralPlugInSums(Root& root, AggregatedClients& clients, MallowsModel& model,
                                     PairedMechanism& mechanism, double price, Round steps)
    : PlugInSums(root, clients, model, CurvatureParts::both, mechanism),
      mechanism_(mechanism),
      price_(price),
      steps_(steps),
      totals_(clients.count(), Secret<Vector>(Vector(size()))),
      batches_(clients.count(), declare_public(Vector(1))) {}

void CentralPlugInSums::add_curvature(std::size_t k, const ReleaseAddress& /*address*/, double /*price*/, View theta) {
  totals_[k].update([](Vector& total, const Vector& own) { axpy(1, own, total); }, scaled(k, theta));
  batches_[k].update([](Vector& count) { count[0] += 1; });
}

PlugInMeans CentralPlugInSums::collect() {
  const std::size_t size = this->size();
  Entrusted<Vector> message = TrustedAggregator::entrust(Secret<Vector>());
  const Secret<Vector> sum = root_.sum_entrusted(size, [&](std::size_t k) -> const Entrusted<Vector>& {
    return message = TrustedAggregator::entrust(totals_[k]);
  });
  const Released<Vector> counts =
      root_.sum(1, [this](std::size_t k) -> const Released<Vector>& { return batches_[k]; });
  PlugInMeans result;
  if (root_.aggregates() && counts.value()[0] > 0) result = means_of(sum, counts.value()[0]);
  find_between(result);
  return result;
}

PlugInMeans CentralPlugInSums::means_of(const Secret<Vector>& sum, double batches) {
  Released<Vector> noisy = declare_public(Vector());
  mechanism_.release_second({ReleasePath::infer_curvature_sum, 0, steps_, 0}, price_, clients_.key(0), sum, noisy);
  // The mechanism divides by the planned number of records; the mean is over the records that came.
  const double records = batches * static_cast<double>(mechanism_.settings().batch);
  const double factor = static_cast<double>(mechanism_.second_batch()) / records;
  Vector means = noisy.value();
  scale(factor, means);
  PlugInMeans result = scale_.unscaled(means, mechanism_.second_deviation(price_) * factor);
  result.direction_noise = mechanism_.deviation(price_) * mechanism_.deviation(price_);
  return result;
}

}  // namespace starling
