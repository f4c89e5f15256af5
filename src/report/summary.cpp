#include "report/summary.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/numerics/kernels.hpp"
#include "hdf5/file.hpp"
#include "net/agreement.hpp"
#include "output/directory/history.hpp"
#include "output/directory/run_directory.hpp"
#include "privacy/metrics_policy.hpp"
#include "privacy/statement/statement.hpp"

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
  Vector& mean = summary.part<FinalModels>().mean;
  const double clients = sum_over_clients(agreement, there.models.value().size(), [](std::size_t) { return 1.0; });
  mean = agreement.ordered_sum(there.models);
  scale(1 / clients, mean);
  const auto spread = post_process(
      [&](const Columns& models) {
        return one_row(models.size(), [&](std::size_t k) { return squared_distance(models[k], mean); });
      },
      there.models);
  summary.part<Consensus>().error = agreement.ordered_sum(spread)[0] / clients;
}

/// Weighs each client's model by its mass.
void add_model_by_mass(Agreement& agreement, const LocalResults& there, FinalModels& final_models) {
  const bool uneven = std::ranges::any_of(there.masses, [](double mass) { return mass != 1; });
  final_models.by_mass = final_models.mean;
  if (!agreement.any(declare_public(uneven))) return;
  const auto weighted = post_process(
      [&](const Columns& models) {
        Columns scaled = models;
        for (std::size_t k = 0; k < scaled.size(); ++k) scale(there.masses[k], scaled[k]);
        return scaled;
      },
      there.models);
  final_models.by_mass = agreement.ordered_sum(weighted);
  scale(1 / sum_over_clients(agreement, there.masses.size(), [&](std::size_t k) { return there.masses[k]; }),
        final_models.by_mass);
}

Score test_of(Agreement& agreement, const std::vector<Score>& scores) {
  // Added in client order too: each rank's clients one by one.
  const auto sum = [&](auto field) {
    return sum_over_clients(agreement, scores.size(),
                            [&](std::size_t k) { return static_cast<double>(scores[k].*field); });
  };
  return {sum(&Score::loss), static_cast<std::int64_t>(sum(&Score::correct)),
          static_cast<std::int64_t>(sum(&Score::records))};
}

/// The sum of the clients' scores; none where the policy withholds scores.
std::optional<Score> scores_of(Agreement& agreement, const LocalResults& local, const MetricsPolicy& policy) {
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

void add_edges(Agreement& agreement, const LocalResults& local, RunTraffic& traffic) {
  Vector numbers;
  for (const EdgeTraffic& edge : local.edges) {
    numbers.insert(numbers.end(), {static_cast<double>(edge.from), static_cast<double>(edge.to),
                                   static_cast<double>(edge.messages), static_cast<double>(edge.bytes)});
  }
  for (const Vector& part : agreement.gather(Released<Vector>(declare_public(numbers)))) {
    for (std::size_t i = 0; i + 3 < part.size(); i += 4) {
      traffic.edges.push_back({static_cast<Client>(part[i]), static_cast<Client>(part[i + 1]),
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
  auto& [edges, wire, evaluation_bytes] = summary.part<RunTraffic>();
  TimeShares& shares = summary.part<RunTimes>().shares;
  double& largest_debt = summary.part<Steps>().largest_debt;
  Pace& pace = summary.part<Pace>();
  bool first = true;
  for (const Vector& rank : agreement.gather(Released<Vector>(declare_public(own)))) {
    wire.messages += static_cast<std::int64_t>(rank[0]);
    wire.bytes += static_cast<std::int64_t>(rank[1]);
    largest_debt = std::max(largest_debt, rank[2]);
    shares.learning += rank[3];
    shares.exchange += rank[4];
    shares.mixing += rank[5];
    shares.observing += rank[6];
    evaluation_bytes += static_cast<std::int64_t>(rank[7]);
    if (rank[8] < 0) continue;
    const auto played = static_cast<Round>(rank[8]);
    pace.least_rounds = first ? played : std::min(pace.least_rounds, played);
    pace.most_rounds = std::max(pace.most_rounds, played);
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
  Consensus& consensus = summary.part<Consensus>();
  consensus.mass = sum_over_clients(agreement, local.masses.size(), [&](std::size_t k) { return local.masses[k]; });
  consensus.in_flight =
      sum_over_clients(agreement, local.in_flight.size(), [&](std::size_t k) { return local.in_flight[k]; });
  add_model_by_mass(agreement, there, summary.part<FinalModels>());
  RunScores& scores = summary.part<RunScores>();
  if (summary.learned) scores.progressive = scores_of(agreement, local, policy);
  if (there.test) scores.test = test_of(agreement, *there.test);
  add_edges(agreement, local, summary.part<RunTraffic>());
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
    summary.part<FinalModels>().of_clients = std::move(all);
  }
}

void finish_run_file(const RunDirectory& directory, const Summary& summary) {
  const hdf5::File file(directory.run_file(), hdf5::File::Mode::append);
  std::vector<std::int64_t> rows;
  const std::vector<EdgeTraffic>& edges = summary.get<RunTraffic>().edges;
  for (const EdgeTraffic& edge : edges) rows.insert(rows.end(), {edge.from, edge.to, edge.messages, edge.bytes});
  file.write("/traffic", {edges.size(), 4}, rows);
  file.attribute("/traffic", "columns", "from, to, messages, bytes");
  file.make_group("/privacy");
  if (!summary.learned) return;
  const PrivacyReport& privacy = summary.get<PrivacyReport>();
  file.attribute("/privacy", "mechanism", privacy.mechanism);
  file.attribute("/privacy", "noise_key", std::string(name_of(privacy.noise_key)));
  file.attribute("/privacy", "unit", std::string(name_of(privacy.unit)));
  file.attribute("/privacy", "epsilon_per_release", privacy.release.epsilon);
  file.attribute("/privacy", "epsilon", privacy.own().epsilon);
  file.attribute("/privacy", "delta", privacy.own().delta);
  if (privacy.own().mu) file.attribute("/privacy", "mu", *privacy.own().mu);
  file.attribute("/privacy", "one_per_batch_epsilon", privacy.losses.one_per_batch.epsilon);
  file.attribute("/privacy", "client_epsilon", privacy.losses.client.epsilon);
  file.attribute("/privacy", "participations", static_cast<double>(privacy.losses.participations));
  file.attribute("/privacy", "statement", statement(privacy));
}

std::optional<double> last_loss(const std::vector<NetworkFigures>& history, Round rounds) {
  // Each line holds the mean since the one before, so lines count by the rounds between them.
  double total = 0;
  double weight = 0;
  for (std::size_t i = history.size(); i-- > 1;) {
    const auto span = static_cast<double>(history[i].done - history[i - 1].done);
    if (!std::isnan(history[i].loss)) {
      total += span * history[i].loss;
      weight += span;
    }
    if (history[i - 1].done * 10 <= rounds * 9) break;
  }
  return weight > 0 ? std::optional(total / weight) : std::nullopt;
}

}  // namespace starling
