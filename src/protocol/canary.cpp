#include "protocol/canary.hpp"

#include "core/check.hpp"

namespace starling {

CanaryModel::CanaryModel(Model& model, std::size_t coordinate, const NoiseKey& signs, CanaryLog& log)
    : ModelDecorator(model), coordinate_(coordinate), words_(signs), log_(log) {
  check(coordinate < model.dimension(),
        "canaries in coordinate {} of a model with {}: coordinates are numbered from 0.", coordinate,
        model.dimension());
}

Score CanaryModel::evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) {
  if (batch.units() == 0) return inner().evaluate(parameters, batch, clip, gradient);
  if (batch.by_person()) {
    first_.show_persons(batch, 0, 1);
    others_.show_persons(batch, 1, batch.units() - 1);
  } else {
    first_.show(batch, 0, 1);
    others_.show(batch, 1, batch.size() - 1);
  }
  Score score = inner().score(parameters, first_);
  const int sign = (words_() & 1) != 0 ? 1 : -1;
  score += inner().evaluate_with_canary(parameters, {coordinate_, sign}, others_, clip, gradient);
  log_.signs.push_back(sign);
  return score;
}

CanaryMechanism::CanaryMechanism(Mechanism& mechanism, std::size_t coordinate, CanaryLog& log)
    : MechanismDecorator(mechanism), coordinate_(coordinate), log_(log) {
  if (settings_.correlation) deviation_ = settings_.replacement * noise_factor(*settings_.correlation);
}

void CanaryMechanism::release(const ReleaseAddress& address, double price, const NoiseKey& key,
                              const Secret<Vector>& sum, Released<Vector>& noisy_mean) {
  inner().release(address, price, key, sum, noisy_mean);
  const bool correlated = settings_.correlation.has_value();
  if (log_.seen.size() == log_.signs.size()) {
    if (!correlated) return;
    log_.signs.push_back(0);  // the release shows the canaries of earlier rounds
  }
  log_.seen.push_back(noisy_mean.value().at(coordinate_));
  if (!correlated) return;
  log_.clients.push_back(address.client);
  log_.rounds.push_back(address.round);
  log_.noise = deviation_ / price;
}

}  // namespace starling
