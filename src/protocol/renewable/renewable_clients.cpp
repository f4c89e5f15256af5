#include "protocol/renewable/renewable_clients.hpp"

#include <algorithm>
#include <numbers>

#include "core/numerics/kernels.hpp"

namespace starling {

RenewableClients::RenewableClients(CurvedModel& model, Model& learned, Accounts& accounts, std::vector<NoiseKey> keys,
                                   std::vector<std::unique_ptr<Stream>> streams, std::size_t batch)
    : AggregatedClients(learned, accounts, std::move(keys), std::move(streams), batch), model_(model) {}

RoundPrices RenewableClients::begin_all(Round t) {
  RoundPrices prices;
  for (std::size_t k = 0; k < count(); ++k) prices.push_back(begin(k, t));
  return prices;
}

void RenewableClients::add_to_message(std::size_t k, View theta, const MessageParts& parts) {
  if (batch(k) == nullptr) return;
  const MessageLayout places = layout(parts.with_slopes);
  const auto add = [&](Vector& message, Vector& gradient, Vector& triangles, const Batch& batch) {
    const Score score = model_.evaluate(theta, batch, {}, gradient);
    axpy(1, gradient, MutableView(message).first(places.dimension));
    message[places.loss()] += score.loss;
    message[places.records()] += static_cast<double>(score.records);
    model_.gram(theta, batch, parts.curvature, triangles);
    axpy(1, triangles, MutableView(message).subspan(places.curvature(), places.triangles));
    if (!parts.with_slopes) return;
    model_.gram(theta, batch, CurvedModel::Weight::squared_slope, triangles);
    axpy(1, triangles, MutableView(message).subspan(places.curvature() + places.triangles));
  };
  apply(add, message_, gradient_, triangles_, *batch(k));
}

const Secret<Vector>& RenewableClients::answer(std::size_t k, View theta, const MessageParts& parts) {
  message_.update([&](Vector& message) { message.assign(layout(parts.with_slopes).size(), 0.0); });
  add_to_message(k, theta, parts);
  return message_;
}

const Secret<Vector>& RenewableClients::answer_pass(std::size_t k, std::int64_t pass, View theta,
                                                    const MessageParts& parts,
                                                    const std::function<void()>& after_batch) {
  message_.update([&](Vector& message) { message.assign(layout(parts.with_slopes).size(), 0.0); });
  const Round rounds = streams_[k]->rounds_of_pass().value_or(0);
  for (Round r = 0; r < rounds; ++r) {
    if (begin(k, pass * rounds + r)) add_to_message(k, theta, parts);
    after_batch();
  }
  return message_;
}

const Secret<Vector>& RenewableClients::frobenius_curvature(std::size_t k, View theta) {
  if (batch(k) == nullptr) {
    triangles_.update([&](Vector& triangles) { triangles.assign(model_.triangles(), 0.0); });
    return triangles_;
  }
  apply(
      [&](Vector& triangles, const Batch& batch) {
        model_.gram(theta, batch, CurvedModel::Weight::curvature, triangles);
        scale_off_diagonal(triangles, model_.order(), std::numbers::sqrt2);
      },
      triangles_, *batch(k));
  return triangles_;
}

}  // namespace starling
