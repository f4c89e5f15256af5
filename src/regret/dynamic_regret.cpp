#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/numerics/kernels.hpp"
#include "regret.hpp"
#include "round_comparator.hpp"

namespace starling {

namespace {

/// Rounds that a rank solves between two exchanges, and numbers that they may come to; neither touches the result.
constexpr Round most_rounds_of_block = 32;
constexpr double most_numbers_of_block = 2e6;
/// Rounds that are searched from two places, evenly spread.
constexpr Round rounds_tried_twice = 16;

bool is_tried_twice(Round t, Round last) {
  const Round apart = std::max<Round>(last / rounds_tried_twice, 1);
  return t % apart == apart / 2;
}

/// How far a certificate is above its tolerance.
double excess(const Minimum& minimum) {
  return minimum.certificate / minimum.tolerance;
}

class DynamicPass {
 public:
  explicit DynamicPass(const EvaluationPass& pass)
      : pass_(pass),
        solver_(pass),
        loss_(pass.model(), pass.data()),
        last_(pass.marks().back()),
        ranks_(pass.agreement().ranks()),
        next_played_(pass.records().clients(), 0),
        best_(pass.records().clients()),
        best_at_marks_(pass.records().clients()) {}

  DynamicRegret run() {
    result_.played = pass_.played().back();
    result_.client_rounds = static_cast<std::int64_t>(pass_.client_rounds().back());
    const Round block = rounds_of_block();
    for (Round from = 0; from < last_ && result_.exists();) {
      const std::vector<RoundComparator> comparators = solve(from, block);
      if (result_.interrupted) break;
      from = std::min(from + block * ranks_, last_);
      for (const RoundComparator& comparator : comparators) {
        if (result_.exists()) take(comparator);
      }
      reach_marks(from);
    }
    if (result_.exists()) add_up();
    return std::move(result_);
  }

 private:
  /// As many as keep a block's records in bounds. **Collective.**
  Round rounds_of_block() {
    Secret<Columns> numbers(Columns(1, pass_.records().clients()));
    for (std::size_t k = 0; k < pass_.records().clients(); ++k) {
      for (std::size_t s = 0; s < pass_.records().spans(); ++s) {
        numbers.update(
            [k](Columns& all, const RecordSpan& span) {
              for (std::size_t i = 0; i < span.records.size(); ++i) {
                all[k][0] += 3 + 2 * static_cast<double>(span.records.row(i).values.size());
              }
            },
            pass_.records().span(k, s));
      }
    }
    const double of_round =
        pass_.total(numbers, SharedFigure::record_sizes)[0] / static_cast<double>(std::max<Round>(last_, 1));
    return std::clamp(static_cast<Round>(most_numbers_of_block / std::max(of_round, 1.0)), Round{1},
                      most_rounds_of_block);
  }

  /// The comparators of `block` rounds per rank from `from` on, in order of rounds. **Collective.**
  std::vector<RoundComparator> solve(Round from, Round block) {
    std::vector<Released<Vector>> parts;
    for (Round r = 0; r < ranks_; ++r) {
      Secret<Vector> part;
      for (std::size_t k = 0; k < pass_.records().clients(); ++k) {
        part.update([](Vector& all, const Vector& one) { all.insert(all.end(), one.begin(), one.end()); },
                    pack_rounds(pass_.records(), k, begin_of(from, block, r), begin_of(from, block, r + 1)));
      }
      parts.push_back(*pass_.policy().share(part, SharedFigure::records_of_rounds));
    }
    const Round own = pass_.agreement().rank();
    const Round begin = begin_of(from, block, own);
    const auto count = static_cast<std::size_t>(begin_of(from, block, own + 1) - begin);
    std::vector<RoundBatches> batches(count);
    for (const Vector& numbers : pass_.agreement().exchange(parts)) unpack_rounds(numbers, batches);
    Vector found{pass_.interrupted() ? 1.0 : 0.0};
    for (std::size_t i = 0; i < count && found[0] == 0; ++i) {
      const Round t = begin + static_cast<Round>(i);
      if (!batches[i].empty()) solver_.solve(t, batches[i], is_tried_twice(t, last_)).pack(found);
      if (pass_.interrupted()) found[0] = 1;
    }
    return gather(found);
  }

  [[nodiscard]] Round begin_of(Round from, Round block, Round number) const {
    return std::min(from + number * block, last_);
  }

  std::vector<RoundComparator> gather(const Vector& found) {
    std::vector<RoundComparator> comparators;
    // Made from shared records alone.
    const auto shared = pass_.policy().share(Secret<Vector>(found), SharedFigure::models_of_rounds);
    for (const Vector& numbers : pass_.agreement().all_gather(*shared)) {
      result_.interrupted = result_.interrupted || numbers[0] != 0;
      for (std::size_t next = 1; next < numbers.size();) {
        comparators.push_back(RoundComparator::unpack(numbers, pass_.model().dimension(), next));
      }
    }
    return comparators;
  }

  void take(const RoundComparator& comparator) {
    reach_marks(comparator.round);
    judge(comparator);
    if (!result_.exists()) return;
    const Vector& x = comparator.best.x;
    if (result_.rounds > 0) result_.path_length += std::sqrt(squared_distance(x, before_));
    before_ = x;
    ++result_.rounds;
    for (std::size_t k = 0; k < best_.size(); ++k) {
      const std::vector<Round>& played = pass_.records().rounds(k);
      if (next_played_[k] == played.size() || played[next_played_[k]] != comparator.round) continue;
      pass_.records().read(k, next_played_[k]++, batch_);
      best_[k].update([&](double& sum, const Batch& batch) { sum += loss_.value(x, batch, 1); }, batch_);
    }
  }

  void judge(const RoundComparator& comparator) {
    const Minimum& best = comparator.best;
    result_.evaluations += best.evaluations;
    result_.tried_twice += comparator.tried_twice ? 1 : 0;
    result_.undetermined += comparator.elsewhere ? 1 : 0;
    if (best.ending == Minimum::Ending::unbounded) result_.unbounded = comparator.round;
    if (best.ending == Minimum::Ending::not_attained) ++result_.not_attained;
    if (best.ending == Minimum::Ending::gave_up) ++result_.not_reached;
    if (result_.rounds > 0 && excess(best) <= excess(result_.worst)) return;
    result_.worst = best;
    result_.worst.x.clear();
    result_.worst_round = comparator.round;
  }

  /// Notes what there is at the marks up to `done` rounds.
  void reach_marks(Round done) {
    while (result_.path.size() < pass_.marks().size() && pass_.marks()[result_.path.size()] <= done) {
      result_.path.push_back(result_.path_length);
      for (std::size_t k = 0; k < best_.size(); ++k) {
        best_at_marks_[k].update([](Vector& all, const double& sum) { all.push_back(sum); }, best_[k]);
      }
    }
  }

  /// **Collective.**
  void add_up() {
    const Vector best = pass_.total(best_at_marks_, pass_.marks().size(), SharedFigure::losses_of_rounds);
    result_.best = best.back();
    result_.curve = pass_.played();
    axpy(-1, best, result_.curve);
    result_.best_of_clients = std::move(best_);
  }

  const EvaluationPass& pass_;
  RoundSolver solver_;
  RoundLoss loss_;
  Round last_;
  Round ranks_;
  DynamicRegret result_;
  Vector before_;                         ///< x* of the last round that has one
  std::vector<std::size_t> next_played_;  ///< number of each client's next played round
  std::vector<Secret<double>> best_;
  std::vector<Secret<Vector>> best_at_marks_;
  Secret<Batch> batch_;
};

}  // namespace

DynamicRegret dynamic_regret(const EvaluationPass& pass) {
  return DynamicPass(pass).run();
}

std::vector<std::string> remarks_on(const DynamicRegret& regret) {
  std::vector<std::string> remarks;
  if (regret.interrupted) {
    return {"dynamic regret: its evaluation was ended by a signal; there is none"};
  }
  if (regret.unbounded) {
    return {
        fmt::format("dynamic regret: there is none: the losses of round {} fall without end on this domain. A bounded "
                    "--domain, or --l2, has a best model",
                    *regret.unbounded)};
  }
  if (regret.not_reached > 0) {
    remarks.push_back(fmt::format(
        "dynamic regret: in {} of {} rounds the comparator's certificate is not as it should be; the worst is a {} of "
        "{:.2g}, not {:.2g}, in round {}; the regret may be larger than shown",
        regret.not_reached, regret.rounds, name_of(regret.worst.kind), regret.worst.certificate, regret.worst.tolerance,
        regret.worst_round));
  }
  if (regret.not_attained > 0) {
    remarks.push_back(fmt::format(
        "dynamic regret: in {} of {} rounds no model is best (the losses go on falling along the comparator); the "
        "regret is against the last model tried, and the path length means nothing. A bounded --domain, or --l2, has "
        "best models",
        regret.not_attained, regret.rounds));
  }
  if (regret.undetermined > 0) {
    remarks.push_back(fmt::format(
        "dynamic regret: in {} of {} rounds tried several models are best; the path length is that of the models found "
        "from the domain's centre. --l2, or larger batches, leave one",
        regret.undetermined, regret.tried_twice));
  }
  return remarks;
}

}  // namespace starling
