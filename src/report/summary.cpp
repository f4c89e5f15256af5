#include "report/summary.hpp"

#include <algorithm>

#include "core/numerics/kernels.hpp"
#include "net/agreement.hpp"
#include "privacy/metrics_policy.hpp"

namespace starling {

namespace {

Columns one_row(std::size_t count, const std::function<double(std::size_t)>& entry) {
  Columns row(1, count);
  for (std::size_t k = 0; k < count; ++k) row[k][0] = entry(k);
  return row;
}

/// A row of numbers that depend on the graph and on batch counts alone, and not on records.
Released<Columns> public_row(std::size_t count, const std::function<double(std::size_t)>& entry) {
  return declare_public(one_row(count, entry));
}

/// Σ of one public number of each client.
double sum_over_clients(Agreement& agreement, std::size_t count, const std::function<double(std::size_t)>& entry) {
  return agreement.ordered_sum(public_row(count, entry))[0];
}

void add_models(Agreement& agreement, const LocalResults& there, Summary& summary) {
  const double clients = sum_over_clients(agreement, there.models.value().size(), [](std::size_t) { return 1.0; });
  summary.final_model = agreement.ordered_sum(there.models);
  scale(1 / clients, summary.final_model);
  const auto spread = post_process(
      [&](const Columns& models) {
        return one_row(models.size(), [&](std::size_t k) { return squared_distance(models[k], summary.final_model); });
      },
      there.models);
  summary.consensus_error = agreement.ordered_sum(spread)[0] / clients;
}

/// Weighs each client's model by its mass.
void add_model_by_mass(Agreement& agreement, const LocalResults& there, Summary& summary) {
  const bool uneven = std::ranges::any_of(there.masses, [](double mass) { return mass != 1; });
  summary.model_by_mass = summary.final_model;
  if (!agreement.any(declare_public(uneven))) return;
  const auto weighted = post_process(
      [&](const Columns& models) {
        Columns scaled = models;
        for (std::size_t k = 0; k < scaled.size(); ++k) scale(there.masses[k], scaled[k]);
        return scaled;
      },
      there.models);
  summary.model_by_mass = agreement.ordered_sum(weighted);
  scale(1 / sum_over_clients(agreement, there.masses.size(), [&](std::size_t k) { return there.masses[k]; }),
        summary.model_by_mass);
}

void add_test(Agreement& agreement, const std::vector<Score>& scores, Summary& summary) {
  // Added in client order too: each rank's clients one by one.
  const auto sum = [&](auto field) {
    return sum_over_clients(agreement, scores.size(),
                            [&](std::size_t k) { return static_cast<double>(scores[k].*field); });
  };
  summary.test = Score{sum(&Score::loss), static_cast<std::int64_t>(sum(&Score::correct)),
                       static_cast<std::int64_t>(sum(&Score::records))};
}

/// The sum of the clients' scores; none where the policy withholds scores.
std::optional<Score> add_scores(Agreement& agreement, const LocalResults& local, const MetricsPolicy& policy) {
  if (!policy.shared()) return std::nullopt;
  Columns rows(4, local.tallies.size());
  Released<Columns> shared = declare_public(rows);
  for (std::size_t k = 0; k < local.tallies.size(); ++k) {
    const Released<Score> score = *policy.share(local.tallies[k], SharedFigure::scores_of_run);
    shared.update(
        [&](Columns& all, const Score& one) {
          all[k][0] = one.loss;
          all[k][1] = static_cast<double>(one.correct);
          all[k][2] = static_cast<double>(one.records);
          all[k][3] = static_cast<double>(one.out_of_range);
        },
        score);
  }
  const Vector total = agreement.ordered_sum(shared);
  return Score{total[0], static_cast<std::int64_t>(total[1]), static_cast<std::int64_t>(total[2]),
               static_cast<std::int64_t>(total[3])};
}

void add_traffic(Agreement& agreement, const LocalResults& local, Summary& summary) {
  Vector numbers;
  for (const EdgeTraffic& edge : local.edges) {
    numbers.insert(numbers.end(), {static_cast<double>(edge.from), static_cast<double>(edge.to),
                                   static_cast<double>(edge.messages), static_cast<double>(edge.bytes)});
  }
  for (const Vector& part : agreement.gather(Released<Vector>(declare_public(numbers)))) {
    for (std::size_t i = 0; i + 3 < part.size(); i += 4) {
      summary.edges.push_back({static_cast<Client>(part[i]), static_cast<Client>(part[i + 1]),
                               static_cast<std::int64_t>(part[i + 2]), static_cast<std::int64_t>(part[i + 3])});
    }
  }
}

void add_rank_figures(Agreement& agreement, const LocalResults& local, Summary& summary) {
  const Vector own{static_cast<double>(local.wire.messages),
                   static_cast<double>(local.wire.bytes),
                   local.debts.empty() ? 0 : std::ranges::max(local.debts),
                   local.shares.learning,
                   local.shares.exchange,
                   local.shares.mixing,
                   local.shares.observing,
                   static_cast<double>(agreement.bytes()),
                   static_cast<double>(local.played_rounds.value_or(-1))};
  bool first = true;
  for (const Vector& rank : agreement.gather(Released<Vector>(declare_public(own)))) {
    summary.wire.messages += static_cast<std::int64_t>(rank[0]);
    summary.wire.bytes += static_cast<std::int64_t>(rank[1]);
    summary.largest_debt = std::max(summary.largest_debt, rank[2]);
    summary.shares.learning += rank[3];
    summary.shares.exchange += rank[4];
    summary.shares.mixing += rank[5];
    summary.shares.observing += rank[6];
    summary.evaluation_bytes += static_cast<std::int64_t>(rank[7]);
    if (rank[8] < 0) continue;
    const auto played = static_cast<Round>(rank[8]);
    summary.least_rounds = first ? played : std::min(summary.least_rounds, played);
    summary.most_rounds = std::max(summary.most_rounds, played);
    first = false;
  }
}

template <class T>
std::vector<T> those(const std::vector<char>& chosen, const std::vector<T>& values) {
  std::vector<T> some;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (chosen[k] != 0) some.push_back(values[k]);
  }
  return some;
}

/// The results of clients chosen by a mark of each.
LocalResults results_of(const std::vector<char>& chosen, const LocalResults& all) {
  LocalResults some = all;
  some.models = post_process(
      [&](const Columns& models) {
        Columns columns(models.rows(), static_cast<std::size_t>(std::ranges::count(chosen, 1)));
        std::size_t next = 0;
        for (std::size_t k = 0; k < models.size(); ++k) {
          if (chosen[k] != 0) columns.set(next++, models[k]);
        }
        return columns;
      },
      all.models);
  some.masses = those(chosen, all.masses);
  some.debts = those(chosen, all.debts);
  some.in_flight = those(chosen, all.in_flight);
  if (!all.tallies.empty()) some.tallies = those(chosen, all.tallies);
  if (all.test) some.test = those(chosen, *all.test);
  return some;
}

LocalResults without_lost(const LocalResults& all) {
  std::vector<char> left = all.lost;
  for (char& each : left) each = each == 0 ? 1 : 0;
  return results_of(left, all);
}

/// Models, and what is measured of them, are of the clients that are there; all other figures also count those that
/// have departed.
void gather(Agreement& agreement, const LocalResults& local, const LocalResults& there, const MetricsPolicy& policy,
            Summary& summary) {
  add_models(agreement, there, summary);
  summary.mass = sum_over_clients(agreement, local.masses.size(), [&](std::size_t k) { return local.masses[k]; });
  summary.in_flight =
      sum_over_clients(agreement, local.in_flight.size(), [&](std::size_t k) { return local.in_flight[k]; });
  add_model_by_mass(agreement, there, summary);
  if (summary.learned) summary.progressive = add_scores(agreement, local, policy);
  if (there.test) add_test(agreement, *there.test, summary);
  add_traffic(agreement, local, summary);
  add_rank_figures(agreement, local, summary);
}

}  // namespace

void gather_results(Agreement& agreement, const LocalResults& local, const MetricsPolicy& policy, bool all_models,
                    Summary& summary) {
  std::optional<LocalResults> left;
  if (!local.lost.empty()) left = without_lost(local);
  std::optional<LocalResults> there;
  if (std::ranges::count(local.there, 0) > 0) there = results_of(local.there, local);
  gather(agreement, left ? *left : local, there ? *there : local, policy, summary);
  if (all_models) {
    const auto flat =
        post_process([](const Columns& x) { return Vector(x.flat().begin(), x.flat().end()); }, local.models);
    Columns all(summary.dimension, static_cast<std::size_t>(summary.clients));
    auto next = all.flat().begin();
    for (const Vector& part : agreement.gather(flat)) next = std::ranges::copy(part, next).out;
    summary.models = std::move(all);
  }
}

}  // namespace starling
