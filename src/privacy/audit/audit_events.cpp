#include "audit_events.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "core/text/limits.hpp"

namespace starling {

namespace {

constexpr std::size_t quantiles = 256;
constexpr std::size_t bins = 64;
constexpr std::size_t most_values = 65536;
constexpr std::int64_t repeated_often = 3;

std::size_t other(std::size_t side) {
  return 1 - side;
}

/// The choosing of one statistic's events.
class Chooser {
 public:
  Chooser(std::size_t statistic, const std::array<Vector, 2>& sorted, const AuditGoal& goal)
      : statistic_(statistic), sorted_(sorted), goal_(goal) {}

  std::vector<AuditCandidate> run() {
    thresholds();
    likelihood_ratio_bins();
    repeated_values();
    std::vector<AuditCandidate> found;
    for (auto& [kind, candidate] : best_) found.push_back(std::move(candidate));
    return found;
  }

 private:
  [[nodiscard]] double share(std::size_t side, double count) const {
    return count / static_cast<double>(sorted_[side].size());
  }
  [[nodiscard]] double promise(std::size_t likelier, const std::array<double, 2>& counts) const {
    return goal_.promise(share(likelier, counts[likelier]), share(other(likelier), counts[other(likelier)]));
  }

  /// Keeps the best candidate of a kind in a direction; `make` gives its set and words.
  template <class Make>
  void offer(int kind, std::size_t likelier, const std::array<double, 2>& counts, Make make) {
    const double promised = promise(likelier, counts);
    const auto at = best_.find({kind, likelier});
    if (promised <= 0 || (at != best_.end() && at->second.promise >= promised)) return;
    AuditCandidate candidate{statistic_, {}, static_cast<int>(likelier), promised, {}};
    make(candidate);
    best_[{kind, likelier}] = std::move(candidate);
  }

  void thresholds();
  [[nodiscard]] Vector cuts() const;
  void likelihood_ratio_bins();
  [[nodiscard]] Vector bin_bounds() const;
  void repeated_values();

  std::size_t statistic_;
  const std::array<Vector, 2>& sorted_;
  AuditGoal goal_;
  std::map<std::pair<int, std::size_t>, AuditCandidate> best_;  ///< by kind and likelier side
};

/// Quantiles of both sides, their tails by ranks 0, 1, 2, 4, …, and the values next to the edges of each support.
Vector Chooser::cuts() const {
  Vector cuts;
  for (const Vector& values : sorted_) {
    const std::size_t n = values.size();
    for (std::size_t k = 1; k < quantiles; ++k) cuts.push_back(values[k * n / quantiles]);
    for (std::size_t rank = 0; rank < n; rank = std::max<std::size_t>(1, 2 * rank)) {
      cuts.push_back(values[rank]);
      cuts.push_back(values[n - 1 - rank]);
    }
    cuts.push_back(std::nextafter(values.front(), -infinity));
    cuts.push_back(std::nextafter(values.back(), infinity));
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

void Chooser::thresholds() {
  const auto is_edge = [&](double cut, bool above, std::size_t unlikely) {
    return above ? cut > sorted_[unlikely].back() : cut < sorted_[unlikely].front();
  };
  for (const double cut : cuts()) {
    std::array<double, 2> at_least{};
    std::array<double, 2> at_most{};
    for (const std::size_t s : {0U, 1U}) {
      const Vector& values = sorted_[s];
      at_least[s] = static_cast<double>(values.end() - std::lower_bound(values.begin(), values.end(), cut));
      at_most[s] = static_cast<double>(std::upper_bound(values.begin(), values.end(), cut) - values.begin());
    }
    for (const std::size_t likelier : {0U, 1U}) {
      for (const bool above : {true, false}) {
        offer(above ? 0 : 1, likelier, above ? at_least : at_most, [&](AuditCandidate& candidate) {
          candidate.set = {above ? AuditSet::Kind::at_least : AuditSet::Kind::at_most, {cut}, {}};
          candidate.words = fmt::format("{} {:.9g}{}", above ? ">=" : "<=", cut,
                                        is_edge(cut, above, other(likelier)) ? " (beyond the other side's edge)" : "");
        });
      }
    }
  }
}

/// Bounds between bins: every value of a statistic that has few, else quantiles of both sides.
Vector Chooser::bin_bounds() const {
  Vector distinct;
  for (const Vector& values : sorted_) {
    std::size_t taken = 0;
    for (auto at = values.begin(); at != values.end() && taken <= quantiles; ++taken) {
      distinct.push_back(*at);
      at = std::upper_bound(at, values.end(), *at);
    }
  }
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() > quantiles) {
    distinct.clear();
    for (const Vector& values : sorted_) {
      for (std::size_t k = 1; k < bins; ++k) distinct.push_back(values[k * values.size() / bins]);
    }
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  }
  return distinct;
}

/// Bins in the order of their likelihood ratio: the best union of the first few, in each direction.
void Chooser::likelihood_ratio_bins() {
  const Vector bounds = bin_bounds();
  std::vector<std::array<double, 2>> counts(bounds.size() + 1);
  for (const std::size_t s : {0U, 1U}) {
    auto from = sorted_[s].begin();
    for (std::size_t b = 0; b <= bounds.size(); ++b) {
      const auto to = b == bounds.size() ? sorted_[s].end() : std::lower_bound(from, sorted_[s].end(), bounds[b]);
      counts[b][s] = static_cast<double>(to - from);
      from = to;
    }
  }
  std::vector<std::size_t> order(counts.size());
  for (const std::size_t likelier : {0U, 1U}) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto ratio = [&](std::size_t b) { return (counts[b][likelier] + 0.5) / (counts[b][other(likelier)] + 0.5); };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return ratio(a) > ratio(b); });
    std::array<double, 2> united{};
    std::vector<char> chosen(counts.size(), 0);
    for (std::size_t k = 0; k < order.size(); ++k) {
      for (const std::size_t s : {0U, 1U}) united[s] += counts[order[k]][s];
      chosen[order[k]] = 1;
      offer(2, likelier, united, [&](AuditCandidate& candidate) {
        candidate.set = {AuditSet::Kind::bins, bounds, chosen};
        candidate.words = fmt::format("in the {} of {} bins with the highest likelihood ratio", k + 1, counts.size());
      });
    }
  }
}

/// Exact values that come again: the one that tells most, and all that one side alone repeats.
void Chooser::repeated_values() {
  std::array<Vector, 2> own;
  std::array<double, 2> own_count{};
  for (const std::size_t s : {0U, 1U}) {
    const Vector& values = sorted_[s];
    const Vector& others = sorted_[other(s)];
    for (auto at = values.begin(); at != values.end();) {
      const double value = *at;
      const auto next = std::find_if(at, values.end(), [value](double x) { return x != value; });
      const auto count = next - at;
      at = next;
      if (count < 2) continue;
      const auto [low, high] = std::equal_range(others.begin(), others.end(), value);
      std::array<double, 2> counts{};
      counts[s] = static_cast<double>(count);
      counts[other(s)] = static_cast<double>(high - low);
      if (low == high && own[s].size() < most_values) {
        own[s].push_back(value);
        own_count[s] += counts[s];
      }
      if (count < repeated_often) continue;
      offer(3, s, counts, [&](AuditCandidate& candidate) {
        candidate.set = {AuditSet::Kind::values, {value}, {}};
        candidate.words = fmt::format("= {:.17g} exactly", value);
      });
    }
  }
  for (const std::size_t s : {0U, 1U}) {
    if (own[s].size() < 2) continue;  // offered above
    std::array<double, 2> counts{};
    counts[s] = own_count[s];
    offer(4, s, counts, [&](AuditCandidate& candidate) {
      candidate.set = {AuditSet::Kind::values, own[s], {}};
      candidate.words = fmt::format("among {} values that only side {} repeats", own[s].size(), s);
    });
  }
}

}  // namespace

bool AuditSet::holds(double value) const {
  switch (kind) {
    case Kind::at_least:
      return value >= bounds[0];
    case Kind::at_most:
      return value <= bounds[0];
    case Kind::values:
      return std::binary_search(bounds.begin(), bounds.end(), value);
    case Kind::bins:
      return chosen[static_cast<std::size_t>(std::upper_bound(bounds.begin(), bounds.end(), value) - bounds.begin())] !=
             0;
  }
  return false;
}

double AuditGoal::promise(double likely, double unlikely) const {
  const EventLimits limits = rough_limits(likely, unlikely, judged);
  return gaussian ? mu_of(limits) : epsilon_of(limits, delta);
}

std::vector<AuditCandidate> choose_events(std::size_t statistic, const std::array<Vector, 2>& sorted,
                                          const AuditGoal& goal) {
  return Chooser(statistic, sorted, goal).run();
}

}  // namespace starling
