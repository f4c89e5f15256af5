#include "protocol/constraints/long_term_constraints.hpp"

#include <algorithm>

#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "net/agreement.hpp"
#include "privacy/mechanism/paired_mechanism.hpp"
#include "protocol/constraints/constraint_data.hpp"

namespace starling {

double next_multiplier(double lambda, double eta, double c, const DualSettings& settings) {
  const double ascent = settings.step * eta * (c - settings.regularisation * eta * lambda);
  return std::clamp(lambda + ascent, 0.0, settings.most);
}

double next_queue(double queue, double c) {
  return std::max(0.0, queue + c);
}

LongTermConstraints::LongTermConstraints(ConstraintSet set, const DualSettings& settings, PrivateConstraint how,
                                         std::size_t clients, PairedMechanism* pair, std::size_t batch)
    : set_(std::move(set)),
      settings_(settings),
      how_(how),
      pair_(pair),
      batch_(static_cast<double>(batch)),
      values_(declare_public(Columns(set_.on_models(), clients))),
      has_played_(clients, false),
      duals_(declare_public(Columns(set_.on_models(), clients))),
      public_totals_(declare_public(Columns(set_.fixed.size(), clients))),
      private_totals_(clients, Secret<Vector>(Vector(set_.data.size(), 0.0))),
      record_weights_(declare_public(Vector(set_.data.size()))),
      noisy_(declare_public(Vector(second_dimension(set_, how)))) {
  check(set_.data.empty() == (pair == nullptr),
        "{} constraints depend on records, and there is {} second release: each needs the other.", set_.data.size(),
        pair == nullptr ? "no" : "a");
}

std::size_t LongTermConstraints::second_dimension(const ConstraintSet& set, PrivateConstraint how) {
  return how == PrivateConstraint::composite ? set.data.size() : columns_of(set.data);
}

double LongTermConstraints::next(double dual, double eta, double c) const {
  return settings_.method == DualMethod::saddle ? next_multiplier(dual, eta, c, settings_) : next_queue(dual, c);
}

// c is linear, so c̃ at the new point is c(x) (docs/methods/constraints.md, "Virtual queue"; dissertation,
// equation 4.9).
void LongTermConstraints::arrive(std::size_t k, View x) {
  duals_.update([&](Columns& duals) {
    if (settings_.method != DualMethod::queue || !has_played_[k]) return;
    for (std::size_t j = 0; j < set_.fixed.size(); ++j) duals[k][j] = next_queue(duals[k][j], set_.fixed[j].value(x));
  });
  has_played_[k] = true;
  const double of_loss = settings_.method == DualMethod::queue ? settings_.caution : 1;
  record_weights_.update(
      [&](Vector& weights, const Columns& duals) {
        for (std::size_t j = 0; j < weights.size(); ++j) weights[j] = duals[k][set_.fixed.size() + j] / of_loss;
      },
      duals_);
}

void LongTermConstraints::bend(std::size_t k, const ReleaseAddress& address, double price, const NoiseKey& key,
                               double eta, View x, const Secret<Batch>& batch, Released<Vector>& gradient) {
  if (settings_.method == DualMethod::queue) {
    gradient.update([&](Vector& of_loss) { scale(settings_.caution, of_loss); });
  }
  add_public(k, eta, x, gradient);
  if (set_.data.empty()) return;
  release_second(address, price, key, x, batch);
  add_private(k, eta, x, gradient);
  apply(
      [&](Vector& totals, Vector& scores, const Batch& records) {
        sum_constraint_scores(set_.data, records, Clip{}, x, scores);
        for (std::size_t j = 0; j < totals.size(); ++j) totals[j] += scores[j] / batch_ - set_.data[j].bound;
      },
      private_totals_[k], sum_, batch);
}

// Post-processing: values and gradients of public constraints depend on no record, and x is released.
void LongTermConstraints::add_public(std::size_t k, double eta, View x, Released<Vector>& gradient) {
  gradient.update(
      [&](Vector& lagrangian, const Columns& duals) {
        for (std::size_t j = 0; j < set_.fixed.size(); ++j) {
          axpy(duals[k][j], set_.fixed[j].values, set_.fixed[j].index, lagrangian);
        }
      },
      duals_);
  public_totals_.update([&](Columns& totals) {
    for (std::size_t j = 0; j < set_.fixed.size(); ++j) totals[k][j] += set_.fixed[j].value(x);
  });
  if (settings_.method == DualMethod::queue) return;  // arrive() has added c(x)
  if (shared_ != nullptr) {
    values_.update([&](Columns& values) {
      for (std::size_t j = 0; j < set_.fixed.size(); ++j) values[k][j] = set_.fixed[j].value(x);
    });
    return;
  }
  duals_.update([&](Columns& duals) {
    for (std::size_t j = 0; j < set_.fixed.size(); ++j) {
      duals[k][j] = next(duals[k][j], eta, set_.fixed[j].value(x));
    }
  });
}

void LongTermConstraints::share(Agreement& agreement, Client clients) {
  check<FailureError>(settings_.method == DualMethod::saddle && set_.data.empty(),
                      "queues and duals of constraints on data are each client's own");
  shared_ = &agreement;
  all_clients_ = static_cast<double>(clients);
}

// A client that took no step has the value 0.
void LongTermConstraints::agree(double eta) {
  if (shared_ == nullptr) return;
  const Vector sums = shared_->ordered_sum(values_);
  duals_.update([&](Columns& duals) {
    for (std::size_t k = 0; k < has_played_.size(); ++k) {
      for (std::size_t j = 0; j < sums.size(); ++j) duals[k][j] = next(duals[k][j], eta, sums[j] / all_clients_);
    }
  });
  values_ = declare_public(Columns(set_.on_models(), has_played_.size()));
}

void LongTermConstraints::release_second(const ReleaseAddress& address, double price, const NoiseKey& key, View x,
                                         const Secret<Batch>& batch) {
  const Clip clip = pair_->second_clip();
  apply(
      [&](Vector& sum, const Batch& records) {
        if (how_ == PrivateConstraint::composite) {
          sum_constraint_scores(set_.data, records, clip, x, sum);
        } else {
          sum_constraint_vectors(set_.data, records, clip, sum);
        }
      },
      sum_, batch);
  pair_->release_second(address.by(ReleasePath::omd_constraint), price, key, sum_, noisy_);
}

// The step uses the dual from before this release. ĉ = â·x − b is evaluated at x, which this release's noise has not
// moved. The same noisy â in the step and in ĉ at the next point would bias Q downwards, and a dual that contains â
// would bias the step (docs/methods/constraints.md, "Privacy").
void LongTermConstraints::add_private(std::size_t k, double eta, View x, Released<Vector>& gradient) {
  const std::size_t first = set_.fixed.size();
  if (how_ == PrivateConstraint::separate) {
    gradient.update(
        [&](Vector& lagrangian, const Columns& duals, const Vector& noisy) {
          std::size_t at = 0;
          for (std::size_t j = 0; j < set_.data.size(); ++j) {
            const auto& columns = set_.data[j].columns;
            axpy(duals[k][first + j], View(noisy).subspan(at, columns.size()), columns, lagrangian);
            at += columns.size();
          }
        },
        duals_, noisy_);
  }  // composite: the gradient contains ∇c
  duals_.update(
      [&](Columns& duals, const Vector& noisy) {
        std::size_t at = 0;
        for (std::size_t j = 0; j < set_.data.size(); ++j) {
          const auto& columns = set_.data[j].columns;
          const double score = how_ == PrivateConstraint::composite
                                   ? noisy[j]
                                   : dot(View(noisy).subspan(at, columns.size()), columns, x);
          duals[k][first + j] = next(duals[k][first + j], eta, score - set_.data[j].bound);
          at += columns.size();
        }
      },
      noisy_);
}

}  // namespace starling
