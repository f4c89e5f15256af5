#include "warm_up.hpp"

#include <cmath>
#include <numbers>

#include "core/numerics/kernels.hpp"
#include "data/serving/dataset.hpp"
#include "infer_engine.hpp"
#include "methods/infer/setting/infer_config.hpp"
#include "net/agreement.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/mechanism/paired_mechanism.hpp"

namespace starling {

namespace {

/// Columns of a graph of moments that are worth their cost: matrices have so many rows.
constexpr std::size_t most_features = 500;

}  // namespace

MomentSums WarmUp::sums() const {
  return {dataset_.shape.features, label_};
}

SecondPart WarmUp::part() const {
  const double records = static_cast<double>(rounds_) * static_cast<double>(config_.data.batch);
  check(records <= most_records_of_sum,
        "--warmup-share {} of a client with {} records in it: the sensitivity of sums over more than {} cannot be "
        "proved. Take a smaller one.",
        config_.warmup_share, records, most_records_of_sum);
  check(dataset_.shape.features <= most_features && !dataset_.shape.sparse,
        "--warmup-share with {}{} features: its matrices are dense, with {} rows at most. Leave it out.",
        dataset_.shape.features, dataset_.shape.sparse ? " sparse" : "", most_features);
  check(dataset_.replayable,
        "--warmup-share with records that cannot be read again: a run that is resumed reads the share again. Leave it "
        "out.");
  SecondPart part;
  part.what = "second moments";
  part.clip = room_of_sum;
  part.dimension = sums().size();
  part.replacement = std::numbers::sqrt2;
  part.once_of = static_cast<std::size_t>(records);
  part.of_first_rounds = rounds_;
  return part;
}

/// The noisy mean moments of client k's share, then the variance of its noise, and 1; zeros of a client that takes no
/// part.
Released<Vector> WarmUp::moments_of_client(std::size_t k, const EngineParts& parts) const {
  MomentSums sums = this->sums();
  Secret<Vector> sum{Vector(sums.size())};
  std::optional<double> price;
  Stream& stream = *parts.streams[k];
  for (Round t = 0; t < rounds_ && !stream.ended(t); ++t) {
    const std::optional<double> paid = parts.accounts.pay(k, t);
    if (!paid) break;
    price = paid;
    sum.update([&](Vector& all, const Batch& batch) { sums.add(batch, all); }, stream.next(t));
  }
  Released<Vector> noisy = declare_public(Vector(sums.size() + 2));
  if (!price) return noisy;
  auto& pair = dynamic_cast<PairedMechanism&>(*parts.mechanism);
  const Client first = parts.layout.first(parts.world.rank());
  const ReleaseAddress address{ReleasePath::infer_moments, first + static_cast<Client>(k), 0, 0};
  pair.release_second(address, *price, parts.keys[k], sum, noisy);
  const double factor = parts.factors.empty() ? 1 : parts.factors[k];
  const double deviation = factor * pair.second_deviation(*price);
  noisy.update([&](Vector& means) {
    scale(factor, means);
    means.push_back(deviation * deviation);
    means.push_back(1);
  });
  return noisy;
}

std::vector<std::size_t> WarmUp::play(EngineParts& parts, Agreement& agreement) {
  const std::size_t features = dataset_.shape.features;
  const std::size_t size = sums().size();
  Released<Columns> columns = declare_public(Columns(size + 2, parts.streams.size()));
  agreement.together([&] {
    for (std::size_t k = 0; k < parts.streams.size(); ++k) {
      columns.update([k](Columns& all, const Vector& own) { all.set(k, own); }, moments_of_client(k, parts));
    }
  });
  Vector sum = agreement.ordered_sum(columns);
  const double clients = sum[size + 1];
  preconditioner_.emplace(features, config_.intercept);
  if (clients > 0) {
    scale(1 / clients, sum);
    const NoisyMoments moments = sums().moments(View(sum).first(size), std::sqrt(sum[size] / clients));
    preconditioner_.emplace(moments, features, config_.intercept);
  }
  // Processors may round differently: all have rank 0's.
  const Vector own = agreement.rank() == 0 ? preconditioner_->numbers() : Vector();
  preconditioner_.emplace(agreement.all_gather(declare_public(own)).front(), features, config_.intercept);
  start_ = declare_public(Vector(preconditioner_->start().begin(), preconditioner_->start().end()));
  parts.start = &*start_;
  parts.learned = &model_.emplace(parts.model, *preconditioner_, features);
  parts.mechanism = &releases_.emplace(*parts.mechanism, *preconditioner_);
  parts.first_round = rounds_;
  return preconditioner_->hidden();
}

}  // namespace starling
