#include "starling/protocol/renewable_clients.hpp"

#include <algorithm>
#include <numbers>

#include "starling/core/kernels.hpp"

namespace starling {

namespace {

void scale_off_diagonal(MutableView triangles, std::size_t order, double factor) {
  for (std::size_t at = 0; at < triangles.size();) {
    for (std::size_t i = 0; i < order; ++i) {
      ++at;  // the diagonal
      for (std::size_t j = i + 1; j < order; ++j, ++at) triangles[at] *= factor;
    }
  }
}

}  // namespace

RenewableClients::RenewableClients(CurvedModel& model, Accounts& accounts, std::vector<NoiseKey> keys,
                                   std::vector<std::unique_ptr<Stream>> streams, std::size_t batch)
    : model_(model),
      accounts_(accounts),
      keys_(std::move(keys)),
      streams_(std::move(streams)),
      batch_(batch),
      batches_(streams_.size(), nullptr),
      tallies_(streams_.size()),
      rounds_played_(streams_.size()) {}

std::optional<double> RenewableClients::begin(std::size_t k, Round t) {
  batches_[k] = nullptr;
  if (streams_[k]->ended(t)) return std::nullopt;
  const std::optional<double> price = accounts_.pay(k, t);
  if (!price) return std::nullopt;
  batches_[k] = &streams_[k]->next(t);
  rounds_played_[k].add(t);
  return price;
}

double RenewableClients::public_records(std::size_t k, Round t) const {
  const Stream& stream = *streams_[k];
  const auto m = static_cast<std::int64_t>(batch_);
  const std::optional<Round> rounds = stream.rounds_of_pass();
  if (!rounds || !stream.records() || *rounds == 0 || t % *rounds + 1 < *rounds) return static_cast<double>(m);
  return static_cast<double>(*stream.records() - (*rounds - 1) * m);
}

void RenewableClients::add_to_message(std::size_t k, View theta, const MessageParts& parts) {
  if (batches_[k] == nullptr) return;
  const MessageLayout places = layout(parts.with_slopes);
  const auto add = [&](Vector& message, Vector& gradient, Vector& triangles, const Batch& batch) {
    const Score score = model_.evaluate(theta, batch, {}, gradient);
    axpy(1, gradient, MutableView(message).first(places.dimension));
    message[places.loss()] += score.loss;
    message[places.records()] += static_cast<double>(batch.size());
    model_.gram(theta, batch, parts.curvature, triangles);
    axpy(1, triangles, MutableView(message).subspan(places.curvature(), places.triangles));
    if (!parts.with_slopes) return;
    model_.gram(theta, batch, CurvedModel::Weight::squared_slope, triangles);
    axpy(1, triangles, MutableView(message).subspan(places.curvature() + places.triangles));
  };
  apply(add, message_, gradient_, triangles_, *batches_[k]);
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

void RenewableClients::tally(std::size_t k, View theta) {
  if (batches_[k] == nullptr) return;
  apply([&](Score& tally, const Batch& batch) { tally += model_.score(theta, batch); }, tallies_[k], *batches_[k]);
}

const Secret<Vector>& RenewableClients::gradient(std::size_t k, View theta, const Clip& clip) {
  if (batches_[k] == nullptr) {
    gradient_.update([&](Vector& gradient) { gradient.assign(model_.dimension(), 0.0); });
    return gradient_;
  }
  apply([&](Vector& gradient, Score& tally,
            const Batch& batch) { tally += model_.evaluate(theta, batch, clip, gradient); },
        gradient_, tallies_[k], *batches_[k]);
  return gradient_;
}

const Secret<Vector>& RenewableClients::frobenius_curvature(std::size_t k, View theta) {
  if (batches_[k] == nullptr) {
    triangles_.update([&](Vector& triangles) { triangles.assign(model_.triangles(), 0.0); });
    return triangles_;
  }
  apply(
      [&](Vector& triangles, const Batch& batch) {
        model_.gram(theta, batch, CurvedModel::Weight::curvature, triangles);
        scale_off_diagonal(triangles, model_.order(), std::numbers::sqrt2);
      },
      triangles_, *batches_[k]);
  return triangles_;
}

void unscale_frobenius(MutableView triangles, std::size_t order) {
  scale_off_diagonal(triangles, order, 1 / std::numbers::sqrt2);
}

}  // namespace starling
