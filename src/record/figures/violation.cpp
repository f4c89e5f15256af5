#include "starling/record/figures/violation.hpp"

#include <algorithm>
#include <cmath>

#include "starling/core/limits.hpp"
#include "starling/core/numerics/kernels.hpp"
#include "starling/files/text_files.hpp"
#include "starling/record/directory/run_directory.hpp"

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
      records_(declare_public(Vector())) {}

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
          for (std::size_t k = 0; k < clients_; ++k) std::copy(totals[k].begin(), totals[k].end(), columns[k].begin());
        },
        on_models_->public_totals());
    const Released<Vector> withheld = declare_public(Vector(on_models_->set().data.size(), unknown));
    for (std::size_t k = 0; k < clients_; ++k) {
      const auto shared = policy_.share(on_models_->private_totals()[k], SharedFigure::violations);
      all.update(
          [&](Columns& columns, const Vector& totals) {
            std::copy(totals.begin(), totals.end(), columns[k].begin() + static_cast<std::ptrdiff_t>(fixed));
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
          for (std::size_t k = 0; k < clients_; ++k) std::copy(duals[k].begin(), duals[k].end(), columns[k].begin());
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

/// Violations of constraints on data, for the owner of the records alone.
void ConstraintRecorder::note_for_owner(Round done) {
  if (on_models_ == nullptr) return;
  const std::vector<DataConstraint>& constraints = on_models_->set().data;
  for (std::size_t k = 0; k < clients_; ++k) {
    owners_rows_.update(
        [&](std::string& rows, const Vector& totals) {
          for (std::size_t j = 0; j < constraints.size(); ++j) {
            rows += fmt::format("{},{},{},{:.17g}\n", done, first_ + static_cast<Client>(k),
                                csv_quoted(constraints[j].name), totals[j]);
          }
        },
        on_models_->private_totals()[k]);
  }
}

void ConstraintRecorder::record(Round done) {
  rounds_.push_back(done);
  note_for_owner(done);
  records_.update(
      [&](Vector& records, const Columns& violations, const Columns& duals) {
        Vector sums(3 * count(), 0.0);
        for (std::size_t k = 0; k < clients_; ++k) {
          axpy(1, violations[k], sums);
          axpy(1, duals[k], MutableView(sums).subspan(count()));
          for (std::size_t j = 0; j < count(); ++j) {
            sums[2 * count() + j] = std::max(sums[2 * count() + j], duals[k][j]);
          }
        }
        records.insert(records.end(), sums.begin(), sums.end());
      },
      violations(done), duals(done));
}

ConstraintReport ConstraintRecorder::finish(Agreement& agreement, Round done, Client clients) {
  if (clients_ > 0 && (rounds_.empty() || rounds_.back() != done)) record(done);
  agreement.together([&] {
    if (on_models_ == nullptr || on_models_->set().data.empty() || clients_ == 0) return;
    const OwnersFile owners(owners_file_);
    owners.go_back(0);  // of a run that was killed after this, and went on
    owners.append_text("# of this rank's private records, for their owner alone\nround,client,constraint,violation\n");
    owners.append(owners_rows_);
  });
  const Vector totals = agreement.ordered_sum(violations(done));
  const Vector dual_sums = agreement.ordered_sum(duals(done));
  const std::vector<Vector> of_ranks = agreement.gather(records_);

  ConstraintReport report{names_of(on_models_, energy_), {}};
  ViolationCurve& curve = report.curve;
  curve.rounds = rounds_;
  // A rank without clients has none; ranks that wait for nobody may be stopped at different rounds.
  for (const Vector& records : of_ranks) {
    if (!records.empty()) curve.rounds.resize(std::min(curve.rounds.size(), records.size() / (3 * count())));
  }
  for (std::size_t r = 0; r < curve.rounds.size() && !of_ranks.empty(); ++r) {
    Vector sums(3 * count(), 0.0);
    for (const Vector& records : of_ranks) {
      if (records.empty()) continue;
      const View here = View(records).subspan(r * sums.size(), sums.size());
      axpy(1, here.first(2 * count()), sums);
      for (std::size_t j = 2 * count(); j < sums.size(); ++j) sums[j] = std::max(sums[j], here[j]);
    }
    const View all(sums);
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
