#include "round_comparator.hpp"

#include <algorithm>

#include "core/numerics/kernels.hpp"
#include "core/random.hpp"

namespace starling {

namespace {

// A model's error is up to about the root of its gap: path lengths need small ones.
constexpr double tried_gap = 1e-11;
/// At kinks less is reached, and less is enough.
constexpr double wanted_gap = 1e-9;
constexpr double round_gradient_norm = 1e-8;
constexpr std::int64_t round_evaluations = 1500;
/// Models further apart than this, relatively, are different.
constexpr double apart = 1e-3;
constexpr double not_played = -1;

std::size_t size_at(View numbers, std::size_t& next) {
  return static_cast<std::size_t>(numbers[next++]);
}

void pack_batch(const Batch& batch, Vector& numbers) {
  numbers.push_back(static_cast<double>(batch.size()));
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Row row = batch.row(i);
    numbers.push_back(batch.label(i));
    numbers.push_back(row.sparse() ? 1 : 0);
    numbers.push_back(static_cast<double>(row.values.size()));
    numbers.insert(numbers.end(), row.values.begin(), row.values.end());
    numbers.insert(numbers.end(), row.index.begin(), row.index.end());
  }
}

Batch unpack_batch(View numbers, std::size_t& next) {
  Batch batch;
  std::vector<std::int32_t> index;
  for (std::size_t left = size_at(numbers, next); left > 0; --left) {
    const double label = numbers[next++];
    const bool sparse = numbers[next++] != 0;
    const std::size_t count = size_at(numbers, next);
    const View values = numbers.subspan(next, count);
    next += count;
    index.clear();
    for (std::size_t j = 0; sparse && j < count; ++j) index.push_back(static_cast<std::int32_t>(numbers[next++]));
    batch.add({values, index}, label);
  }
  return batch;
}

}  // namespace

void RoundComparator::pack(Vector& numbers) const {
  numbers.insert(numbers.end(), {static_cast<double>(round), best.value, static_cast<double>(best.kind),
                                 best.certificate, best.tolerance, static_cast<double>(best.evaluations),
                                 static_cast<double>(best.ending), tried_twice ? 1.0 : 0.0, elsewhere ? 1.0 : 0.0});
  numbers.insert(numbers.end(), best.x.begin(), best.x.end());
}

RoundComparator RoundComparator::unpack(View numbers, std::size_t d, std::size_t& next) {
  RoundComparator result;
  result.round = static_cast<Round>(numbers[next++]);
  result.best.value = numbers[next++];
  result.best.kind = static_cast<Minimum::Certificate>(size_at(numbers, next));
  result.best.certificate = numbers[next++];
  result.best.tolerance = numbers[next++];
  result.best.evaluations = static_cast<std::int64_t>(numbers[next++]);
  result.best.ending = static_cast<Minimum::Ending>(size_at(numbers, next));
  result.tried_twice = numbers[next++] != 0;
  result.elsewhere = numbers[next++] != 0;
  const View x = numbers.subspan(next, d);
  result.best.x.assign(x.begin(), x.end());
  next += d;
  return result;
}

Secret<Vector> pack_rounds(const ReplayedRecords& records, std::size_t k, Round from, Round to) {
  Secret<Vector> packed;
  Secret<Batch> batch;
  const std::vector<Round>& played = records.rounds(k);
  auto next = std::lower_bound(played.begin(), played.end(), from);
  for (Round t = from; t < to; ++t) {
    if (next == played.end() || *next != t) {
      packed.update([](Vector& numbers) { numbers.push_back(not_played); });
      continue;
    }
    records.read(k, static_cast<std::size_t>(next - played.begin()), batch);
    packed.update([](Vector& numbers, const Batch& one) { pack_batch(one, numbers); }, batch);
    ++next;
  }
  return packed;
}

void unpack_rounds(View numbers, std::vector<RoundBatches>& rounds) {
  for (std::size_t next = 0; next < numbers.size();) {  // client by client
    for (RoundBatches& round : rounds) {
      if (numbers[next] == not_played) {
        ++next;
      } else {
        round.push_back(unpack_batch(numbers, next));
      }
    }
  }
}

RoundSolver::RoundSolver(const EvaluationPass& pass)
    : domain_(pass.domain()), dimension_(pass.model().dimension()), loss_(pass.model(), pass.data()) {
  settings_.gap = tried_gap;
  settings_.gradient_norm = round_gradient_norm;
  settings_.evaluations = round_evaluations;
  settings_.strong_convexity = pass.data().l2.strong_convexity();
}

Minimum RoundSolver::search(const RoundBatches& batches, const Vector& start) {
  Vector part;
  MinimiseSettings settings = settings_;
  settings.start = start;
  const auto mean_loss = [&](View x, MutableView gradient) {
    part.assign(dimension_ + 1, 0.0);
    for (const Batch& batch : batches) loss_.add(x, batch, 1, part);
    scale(1 / static_cast<double>(batches.size()), part);
    std::copy_n(part.begin(), dimension_, gradient.begin());
    return part[dimension_];
  };
  Minimum minimum = minimise(mean_loss, domain_, dimension_, settings);
  if (minimum.kind == Minimum::Certificate::gap) {
    minimum.tolerance *= wanted_gap / tried_gap;
    const bool gave_up = minimum.ending == Minimum::Ending::gave_up;
    if (gave_up && minimum.certificate <= minimum.tolerance) minimum.ending = Minimum::Ending::reached;
  }
  return minimum;
}

RoundComparator RoundSolver::solve(Round round, const RoundBatches& batches, bool twice) {
  RoundComparator result{round, search(batches, {}), twice, false};
  if (!twice) return result;
  Vector start = result.best.x;
  AddressedRandom random(0, Purpose::experiment, 0, static_cast<std::uint64_t>(round));
  for (double& value : start) value += (1 + norm2(result.best.x)) * random.normal();
  const Minimum second = search(batches, start);
  result.elsewhere = std::sqrt(squared_distance(second.x, result.best.x)) > apart * (1 + norm2(result.best.x));
  return result;
}

}  // namespace starling
