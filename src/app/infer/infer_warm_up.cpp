// The first share of a run of `starling infer`: its records make the coordinates in which the others are learned from.
#include "infer_run.hpp"
#include <cmath>
#include <numbers>

#include "starling/core/numerics/kernels.hpp"

namespace starling {

namespace {

/// Records whose moments enter one release at most (the grid of privacy/noise/grid.hpp ends at 2^22), and the room that
/// sums of so many need.
constexpr double most_records = 4'000'000;
constexpr double room = 1 + 0x1p-8;

/// Columns of a graph of moments that are worth their cost: matrices have so many rows.
constexpr std::size_t most_features = 500;

}  // namespace

MomentSums InferRun::moment_sums() const {
  return {dataset_.shape.features, !curved_->classifies()};
}

SecondPart InferRun::warm_up_part() const {
  const double records = static_cast<double>(warm_up_rounds_) * static_cast<double>(config_.data.batch);
  check(records <= most_records,
        "--warmup-share {} of a client with {} records in it (the sensitivity of sums over more than {} cannot be "
        "proved) take a smaller one",
        config_.warmup_share, records, most_records);
  check(dataset_.shape.features <= most_features && !dataset_.shape.sparse,
        "--warmup-share with {}{} features (its matrices are dense, with {} rows at most) leave it out",
        dataset_.shape.features, dataset_.shape.sparse ? " sparse" : "", most_features);
  check(dataset_.replayable,
        "--warmup-share with records that cannot be read again (a run that is resumed reads the share again) leave it "
        "out");
  SecondPart part;
  part.what = "second moments";
  part.clip = room;
  part.dimension = moment_sums().size();
  part.replacement = std::numbers::sqrt2;
  part.once_of = static_cast<std::size_t>(records);
  part.of_first_rounds = warm_up_rounds_;
  return part;
}

/// The noisy mean moments of client k's share, then the variance of its noise, and 1; zeros of a client that takes no
/// part.
Released<Vector> InferRun::moments_of_client(std::size_t k, Stream& stream, Accounts& accounts) {
  MomentSums sums = moment_sums();
  Secret<Vector> sum{Vector(sums.size())};
  std::optional<double> price;
  for (Round t = 0; t < warm_up_rounds_ && !stream.ended(t); ++t) {
    const std::optional<double> paid = accounts.pay(k, t);
    if (!paid) break;
    price = paid;
    sum.update([&](Vector& all, const Batch& batch) { sums.add(batch, all); }, stream.next(t));
  }
  Released<Vector> noisy = declare_public(Vector(sums.size() + 2));
  if (!price) return noisy;
  auto& pair = dynamic_cast<PairedMechanism&>(privacy_->mechanism());
  const ReleaseAddress address{ReleasePath::infer_moments, first_client() + static_cast<Client>(k), 0, 0};
  pair.release_second(address, *price, privacy_->keys()[k], sum, noisy);
  const double deviation = pair.second_deviation(*price);
  noisy.update([&](Vector& means) {
    means.push_back(deviation * deviation);
    means.push_back(1);
  });
  return noisy;
}

void InferRun::warm_up(std::vector<std::unique_ptr<Stream>>& streams, Accounts& accounts) {
  const std::size_t features = dataset_.shape.features;
  const std::size_t size = moment_sums().size();
  Released<Columns> columns = declare_public(Columns(size + 2, streams.size()));
  agreement_.together([&] {
    for (std::size_t k = 0; k < streams.size(); ++k) {
      columns.update([k](Columns& all, const Vector& own) { std::copy(own.begin(), own.end(), all[k].begin()); },
                     moments_of_client(k, *streams[k], accounts));
    }
  });
  Vector sum = agreement_.ordered_sum(columns);
  const double clients = sum[size + 1];
  preconditioner_.emplace(features, config_.intercept);
  if (clients > 0) {
    scale(1 / clients, sum);
    const NoisyMoments moments = moment_sums().moments(View(sum).first(size), std::sqrt(sum[size] / clients));
    preconditioner_.emplace(moments, features, config_.intercept);
  }
  // Processors may round differently: all have rank 0's.
  const Vector own = first_rank() ? preconditioner_->numbers() : Vector();
  preconditioner_.emplace(agreement_.all_gather(declare_public(own)).front(), features, config_.intercept);
  start_ = declare_public(Vector(preconditioner_->start().begin(), preconditioner_->start().end()));
  note_hidden(*preconditioner_);
}

void InferRun::note_hidden(const Preconditioner& preconditioner) {
  std::string names;
  for (const std::size_t j : preconditioner.hidden()) {
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", coefficient_names()[j]);
  }
  if (names.empty()) return;
  notes_.push_back(
      fmt::format("warm-up: features vary by less than {} shows in directions mostly of {}: steps there are short. A "
                  "column may be a combination of others; drop it (--drop), or give all one scale (--standardise)",
                  unprotected() ? "rounding" : "noise", names));
}

}  // namespace starling
