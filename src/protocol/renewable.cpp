#include "starling/protocol/renewable.hpp"

#include <algorithm>

#include "starling/core/kernels.hpp"

namespace starling {

Renewable::Renewable(Root& root, RenewableClients& clients, CurvedModel& model, const RenewableSettings& settings,
                     const Released<Vector>& start)
    : root_(root),
      clients_(clients),
      model_(model),
      settings_(settings),
      theta_(start),
      ones_(clients.count(), 1.0),
      played_(clients.count()) {}

Released<Columns> Renewable::models() const {
  return post_process(
      [this](const Vector& theta) {
        Columns models(theta.size(), clients_.count());
        for (std::size_t k = 0; k < models.size(); ++k) std::copy(theta.begin(), theta.end(), models[k].begin());
        return models;
      },
      theta_);
}

bool Renewable::goes_on() {
  if (done_ == settings_.rounds || !root_.begin_round(done_)) return false;
  watch_ = Stopwatch(done_ % Stopwatch::timed_rounds_apart == 0);
  return true;
}

void Renewable::completed(const std::vector<Observer*>& observers) {
  ++done_;
  watch_.lap(shares_.exchange);
  show(observers);
  watch_.lap(shares_.observing);
}

void Renewable::show(const std::vector<Observer*>& observers) {
  for (Observer* observer : observers) observer->after(*this);
}

Vector Renewable::penalty_gradient(View theta, double records) const {
  Vector gradient(theta.begin(), theta.end());
  scale(records * settings_.l2, gradient);
  if (settings_.penalty == Penalty::slopes) {
    for (std::size_t k = 1; k <= model_.classes(); ++k) gradient[k * model_.order() - 1] = 0;
  }
  return gradient;
}

double Renewable::penalty_value(View theta, double records) const {
  return dot(theta, penalty_gradient(theta, records)) / 2;
}

void Renewable::add_penalty(BlockCurvature& curvature, double records) const {
  if (settings_.penalty == Penalty::full) {
    curvature.add_identity(records * settings_.l2);
  } else {
    curvature.add_slopes(records * settings_.l2);
  }
}

}  // namespace starling
