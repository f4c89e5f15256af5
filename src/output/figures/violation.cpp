#include "output/figures/violation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numerics/kernels.hpp"
#include "core/text/limits.hpp"
#include "files/text_files.hpp"
#include "output/directory/owners_file.hpp"
#include "output/directory/run_directory.hpp"

namespace starling {

namespace {

std::vector<ConstraintFigures> names_of(const LongTermConstraints* on_models, const EnergySchedule* energy) {
  std::vector<ConstraintFigures> all;
  if (on_models != nullptr) {
    for (const auto& each : on_models->set().fixed) all.push_back({each.name, false, {}, 0, 0, {}});
    for (const auto& each : on_models->set().data) all.push_back({each.name, true, {}, 0, 0, {}});
  }
  if (energy != nullptr) all.push_back({energy->budget().name, false, {}, 0, 0, {}});
  return all;
}

}  // namespace

ConstraintRecorder::ConstraintRecorder(const LongTermConstraints* on_models, const EnergySchedule* energy,
                                       int steps_per_round, Client first, std::size_t clients,
                                       const MetricsPolicy& policy, std::string owners_file)
    : on_models_(on_models),
      energy_(energy),
      steps_per_round_(steps_per_round),
      first_(first),
      clients_(clients),
      policy_(policy),
      owners_file_(std::move(owners_file)),
      records_(clients, declare_public(Vector())),
      owners_totals_(clients) {}

std::size_t ConstraintRecorder::count() const {
  return (on_models_ == nullptr ? 0 : on_models_->set().on_models()) + (energy_ == nullptr ? 0 : 1);
}

/// Σ_t c so far: a column per client.
Released<Columns> ConstraintRecorder::violations(Round done) const {
  Released<Columns> all = declare_public(Columns(count(), clients_));
  if (on_models_ != nullptr) {
    const std::size_t fixed = on_models_->set().fixed.size();
    all.update(
        [&](Columns& columns, const Columns& totals) {
          for (std::size_t k = 0; k < clients_; ++k) columns.set(k, totals[k]);
        },
        on_models_->public_totals());
    const Released<Vector> withheld = declare_public(Vector(on_models_->set().data.size(), unknown));
    for (std::size_t k = 0; k < clients_; ++k) {
      const auto shared = policy_.share(on_models_->private_totals()[k], SharedFigure::violations);
      all.update(
          [&](Columns& columns, const Vector& totals) {
            std::ranges::copy(totals, columns[k].begin() + static_cast<std::ptrdiff_t>(fixed));
          },
          shared ? *shared : withheld);
    }
  }
  if (energy_ != nullptr) {
    all.update([&](Columns& columns) {
      for (std::size_t k = 0; k < clients_; ++k) {
        columns[k].back() = energy_->violation(first_ + static_cast<Client>(k), done * steps_per_round_);
      }
    });
  }
  return all;
}

Released<Columns> ConstraintRecorder::duals(Round done) const {
  Released<Columns> all = declare_public(Columns(count(), clients_));
  if (on_models_ != nullptr) {
    all.update(
        [&](Columns& columns, const Columns& duals) {
          for (std::size_t k = 0; k < clients_; ++k) columns.set(k, duals[k]);
        },
        on_models_->duals());
  }
  if (energy_ != nullptr) {
    all.update([&](Columns& columns) {
      for (std::size_t k = 0; k < clients_; ++k) {
        columns[k].back() = energy_->dual(first_ + static_cast<Client>(k), done * steps_per_round_);
      }
    });
  }
  return all;
}

void ConstraintRecorder::after(const RoundView& view) {
  if (due_.due(view.done())) record(view.done());
}

void ConstraintRecorder::note_for_owner() {
  if (on_models_ == nullptr) return;
  for (std::size_t k = 0; k < clients_; ++k) {
    owners_totals_[k].update([](Vector& all, const Vector& now) { all.insert(all.end(), now.begin(), now.end()); },
                             on_models_->private_totals()[k]);
  }
}

/// Violations of constraints on data, for the owner of the records alone.
Secret<std::string> ConstraintRecorder::rows_for_owner() const {
  const std::vector<DataConstraint>& constraints = on_models_->set().data;
  Secret<std::string> text;
  for (std::size_t r = 0; r < rounds_.size(); ++r) {
    for (std::size_t k = 0; k < clients_; ++k) {
      text.update(
          [&](std::string& rows, const Vector& totals) {
            for (std::size_t j = 0; j < constraints.size(); ++j) {
              rows += fmt::format("{},{},{},{:.17g}\n", rounds_[r], first_ + static_cast<Client>(k),
                                  csv_quoted(constraints[j].name), totals[r * constraints.size() + j]);
            }
          },
          owners_totals_[k]);
    }
  }
  return text;
}

void ConstraintRecorder::record(Round done) {
  rounds_.push_back(done);
  note_for_owner();
  const Released<Columns> violations = this->violations(done);
  const Released<Columns> duals = this->duals(done);
  for (std::size_t k = 0; k < clients_; ++k) {
    records_[k].update(
        [k](Vector& record, const Columns& violation, const Columns& dual) {
          record.insert(record.end(), violation[k].begin(), violation[k].end());
          record.insert(record.end(), dual[k].begin(), dual[k].end());
        },
        violations, duals);
  }
}

/// By record, on rank 0: sums of violations and of duals, in the order of clients, and the largest duals. A rank
/// without clients has no record; ranks that wait for nobody may be stopped at different rounds.
/// **Collective.**
std::vector<Vector> ConstraintRecorder::sums_of_records(Agreement& agreement) const {
  const std::size_t each = 2 * count();
  const auto own = static_cast<std::int64_t>(clients_ > 0 ? rounds_.size() : std::numeric_limits<std::int64_t>::max());
  const auto records = static_cast<std::size_t>(agreement.min(declare_public(own)));
  Released<Columns> of_clients = declare_public(Columns(records * each, clients_));
  Released<Vector> largest = declare_public(Vector(records * count(), 0.0));
  for (std::size_t k = 0; k < clients_; ++k) {
    of_clients.update(
        [&](Columns& all, const Vector& mine) { std::copy_n(mine.begin(), records * each, all[k].begin()); },
        records_[k]);
    largest.update(
        [&](Vector& all, const Vector& mine) {
          for (std::size_t i = 0; i < all.size(); ++i) {
            all[i] = std::max(all[i], mine[i / count() * each + count() + i % count()]);
          }
        },
        records_[k]);
  }
  const Vector sums = agreement.ordered_sum(of_clients);
  std::vector<Vector> result;
  for (const Vector& of_rank : agreement.gather(largest)) {
    result.resize(records);
    for (std::size_t r = 0; r < records; ++r) {
      if (result[r].empty())
        result[r].assign(sums.begin() + static_cast<std::ptrdiff_t>(r * each),
                         sums.begin() + static_cast<std::ptrdiff_t>((r + 1) * each));
      result[r].resize(3 * count(), 0.0);
      for (std::size_t j = 0; j < count(); ++j) {
        double& most = result[r][each + j];
        most = std::max(most, of_rank[r * count() + j]);
      }
    }
  }
  return result;
}

ConstraintReport ConstraintRecorder::finish(Agreement& agreement, Round done, Client clients) {
  if (clients_ > 0 && (rounds_.empty() || rounds_.back() != done)) record(done);
  agreement.together([&] {
    if (on_models_ == nullptr || on_models_->set().data.empty() || clients_ == 0) return;
    const OwnersFile owners(owners_file_);
    owners.go_back(0);  // of a run that was killed after this, and went on
    owners.append_text("# of this rank's private records, for their owner alone\nround,client,constraint,violation\n");
    owners.append(rows_for_owner());
  });
  const Vector totals = agreement.ordered_sum(violations(done));
  const Vector dual_sums = agreement.ordered_sum(duals(done));
  const std::vector<Vector> records = sums_of_records(agreement);

  ConstraintReport report{names_of(on_models_, energy_), {}};
  ViolationCurve& curve = report.curve;
  curve.rounds = rounds_;
  curve.rounds.resize(std::min(curve.rounds.size(), records.size()));
  for (const Vector& record : records) {
    const View all(record);
    curve.violations.emplace_back(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count()));
    Vector means(all.begin() + static_cast<std::ptrdiff_t>(count()), all.end() - static_cast<std::ptrdiff_t>(count()));
    scale(1 / static_cast<double>(clients), means);
    curve.dual_means.push_back(std::move(means));
    curve.dual_maxima.emplace_back(all.end() - static_cast<std::ptrdiff_t>(count()), all.end());
  }
  for (std::size_t j = 0; j < count(); ++j) {
    ConstraintFigures& figures = report.constraints[j];
    curve.names.push_back(figures.name);
    if (!std::isnan(totals[j])) figures.violation = totals[j];
    figures.dual_mean = dual_sums[j] / static_cast<double>(clients);
    if (curve.violations.empty()) continue;
    figures.dual_max = curve.dual_maxima.back()[j];
    Vector sums;
    for (const Vector& violations : curve.violations) sums.push_back(violations[j]);
    figures.growth = fit_growth(curve.rounds, sums);
  }
  return report;
}

}  // namespace starling
