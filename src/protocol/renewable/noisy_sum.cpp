#include "protocol/renewable/noisy_sum.hpp"

#include <algorithm>
#include <numbers>

#include "core/numerics/kernels.hpp"
#include "net/root/root.hpp"
#include "privacy/without_noise.hpp"

namespace starling {

namespace {

std::size_t message_size(const CurvedModel& model, const PairedMechanism* pair) {
  return model.dimension() + (pair == nullptr ? 0 : model.triangles());
}

/// Joins the parts of a release, which are means over `records`, into one vector of sums.
void join(const Released<Vector>& gradient, const Released<Vector>* curvature, double records, const CurvedModel& model,
          Released<Vector>& message) {
  message.update(
      [&](Vector& all, const Vector& mean) {
        all = mean;
        if (curvature == nullptr) return;
        all.insert(all.end(), curvature->value().begin(), curvature->value().end());
        scale_off_diagonal(MutableView(all).subspan(model.dimension()), model.order(), 1 / std::numbers::sqrt2);
      },
      gradient);
  message.update([records](Vector& all) { scale(records, all); });
}

}  // namespace

LocalNoise::LocalNoise(Root& root, RenewableClients& clients, const CurvedModel& model, Mechanism& mechanism,
                       const Codec& codec)
    : NoisySum(root, clients, model),
      mechanism_(mechanism),
      pair_(dynamic_cast<PairedMechanism*>(&mechanism)),
      codec_(codec) {}

Released<Vector> LocalNoise::collect(Round t, View theta, const RoundPrices& prices) {
  const std::size_t size = message_size(model_, pair_);
  Released<Vector> message = declare_public(Vector());
  Released<Vector> gradient = declare_public(Vector());
  Released<Vector> curvature = declare_public(Vector());
  const auto contribution = [&](std::size_t k) -> const Released<Vector>& {
    if (!prices[k]) return message = declare_public(Vector(size));
    const ReleaseAddress address{ReleasePath::renewable_local_gradient, root_.first() + static_cast<Client>(k), t, 0};
    const NoiseKey& key = clients_.key(k);
    mechanism_.release(address, *prices[k], key, clients_.gradient(k, theta, mechanism_.clip()), gradient);
    if (pair_ != nullptr) {
      pair_->release_second(address.by(ReleasePath::renewable_local_curvature), *prices[k], key,
                            clients_.frobenius_curvature(k, theta), curvature);
    }
    join(gradient, pair_ == nullptr ? nullptr : &curvature, static_cast<double>(mechanism_.settings().batch), model_,
         message);
    return message;
  };
  return root_.sum(size, contribution, codec_);
}

CentralNoise::CentralNoise(Root& root, RenewableClients& clients, const CurvedModel& model, Mechanism& mechanism,
                           std::function<double(Round)> price, const Codec& codec)
    : NoisySum(root, clients, model),
      mechanism_(mechanism),
      pair_(dynamic_cast<PairedMechanism*>(&mechanism)),
      price_(std::move(price)),
      codec_(codec) {}

Released<Vector> CentralNoise::collect(Round t, View theta, const RoundPrices& /*paid by all alike*/) {
  const std::size_t d = model_.dimension();
  const std::size_t size = message_size(model_, pair_);
  Entrusted<Vector> message = TrustedAggregator::entrust(Secret<Vector>());
  const auto contribution = [&](std::size_t k) -> const Entrusted<Vector>& {
    Secret<Vector> all = clients_.gradient(k, theta, mechanism_.clip());
    if (pair_ != nullptr) {
      all.update([](Vector& whole, const Vector& more) { whole.insert(whole.end(), more.begin(), more.end()); },
                 clients_.frobenius_curvature(k, theta));
    }
    return message = TrustedAggregator::entrust(all);
  };
  const Secret<Vector> sum = root_.sum_entrusted(size, contribution, codec_);
  Released<Vector> total = declare_public(Vector());
  if (!root_.aggregates()) return total;
  const auto part = [&sum](std::size_t from, std::size_t to) {
    return sum.map([=](const Vector& all) {
      return Vector(all.begin() + static_cast<std::ptrdiff_t>(from), all.begin() + static_cast<std::ptrdiff_t>(to));
    });
  };
  const ReleaseAddress address{ReleasePath::renewable_central_gradient, 0, t, 0};
  Released<Vector> gradient = declare_public(Vector());
  Released<Vector> curvature = declare_public(Vector());
  mechanism_.release(address, price_(t), clients_.key(0), part(0, d), gradient);
  if (pair_ != nullptr)
    pair_->release_second(address.by(ReleasePath::renewable_central_curvature), price_(t), clients_.key(0),
                          part(d, size), curvature);
  join(gradient, pair_ == nullptr ? nullptr : &curvature, static_cast<double>(mechanism_.settings().batch), model_,
       total);
  return total;
}

MaskedNoise::MaskedNoise(Root& root, RenewableClients& clients, const CurvedModel& model, MaskedGaussian& mechanism,
                         std::vector<Masker> maskers, std::function<double(Round)> price)
    : NoisySum(root, clients, model), mechanism_(mechanism), maskers_(std::move(maskers)), price_(std::move(price)) {}

// A client whose stream has ended still gives noise and masks: without them the sum could not be read.
Released<Vector> MaskedNoise::collect(Round t, View theta, const RoundPrices& /*paid by all alike*/) {
  std::optional<Masked> share;
  const std::vector<std::uint64_t> total = root_.sum_masked(model_.dimension(), [&](std::size_t k) -> const Masked& {
    const ReleaseAddress address{ReleasePath::renewable_masked_gradient, root_.first() + static_cast<Client>(k), t, 0};
    return share.emplace(mechanism_.contribute(address, price_(t), clients_.key(k), maskers_[k],
                                               clients_.gradient(k, theta, mechanism_.clip())));
  });
  if (!root_.aggregates()) return declare_public(Vector());
  return mechanism_.open(price_(t), total);
}

}  // namespace starling
