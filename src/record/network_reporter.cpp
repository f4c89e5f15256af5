#include "starling/record/network_reporter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <ctime>

#include "starling/core/numerics/kernels.hpp"
#include "starling/record/rounds.hpp"
#include "starling/regret/models_in_turn.hpp"

namespace starling {

namespace {

/// Head of a report; the sum of the rank's models follows.
enum Field : std::size_t {
  f_done,
  f_clients,
  f_mass,
  f_in_flight,
  f_present,
  f_records,
  f_loss,
  f_correct,
  f_tests,
  f_test_loss,
  f_test_correct,
  f_spread,
  f_work,
  f_head
};

constexpr std::int64_t between_looks = 20;  // milliseconds
constexpr Round most_between_looks = 8;     // rounds, unless there is something to report

/// After round `done`, which may be -1.
Round next_landmark(Round done) {
  return done < 1 ? done + 1 : 2 * static_cast<Round>(std::bit_floor(static_cast<std::uint64_t>(done)));
}

}  // namespace

NetworkReporter::NetworkReporter(Agreement& agreement, int rank, std::vector<int> active, const MetricsPolicy& policy,
                                 Scores scores, TestScore test, ProgressPrinter* printer,
                                 const std::string& history_file, Models models, std::size_t most_numbers)
    : agreement_(agreement),
      rank_(rank),
      active_(std::move(active)),
      policy_(policy),
      scores_(scores),
      models_(models),
      most_numbers_(most_numbers),
      test_(std::move(test)),
      printer_(printer) {
  if (!history_file.empty()) file_.emplace(history_file);
}

void NetworkReporter::after(const RoundView& view) {
  const std::size_t before = sent_;
  send_up_to(view, view.done());
  if (rank_ != 0 || (sent_ == before && view.done() % between_looks_ != 0)) return;
  const bool looks = this->looks();
  if (sent_ > before || looks) collect(false);
  if (looks && printer_ != nullptr) printer_->tick(view.done());
  if (file_ && looks) file_->flush_if_due();
}

Round NetworkReporter::due() const {
  if (rank_ != 0) return next_report();
  return std::min(next_report(), (seen_ / between_looks_ + 1) * between_looks_);
}

bool NetworkReporter::looks() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE,
                  &now);  // a few nanoseconds, where the exact clock costs as much as a short round
  const std::int64_t milliseconds = std::int64_t{1000} * now.tv_sec + now.tv_nsec / 1'000'000;
  // Where rounds are slow, each is looked at.
  between_looks_ = milliseconds - asked_ < between_looks ? most_between_looks : 1;
  asked_ = milliseconds;
  if (milliseconds - looked_ < between_looks) return false;
  looked_ = milliseconds;
  return true;
}

/// Every rank sends a report for the same rounds, so that the k-th of all belong together; one whose clock skips some
/// sends the same twice.
void NetworkReporter::send_up_to(const RoundView& view, Round done) {
  for (Round round = next_report(); round <= done; round = next_report()) {
    seen_ = round;
    static_cast<void>(rounds_.due(round));
    send(view, round, is_landmark(round));
  }
  seen_ = std::max(seen_, done);
}

Round NetworkReporter::next_report() const {
  return std::min(rounds_.next(), next_landmark(seen_));
}

void NetworkReporter::leave_out(Round end) {
  while (seen_ < end) static_cast<void>(rounds_.due(++seen_));
  if (printer_ != nullptr) printer_->go_on_after(seen_);
}

void NetworkReporter::send(const RoundView& view, Round round, bool with_test) {
  const std::size_t clients = view.masses().size();
  if (clients == 0) return;
  // Progressive metrics leave only as the policy allows; all else is a function of released models and the public
  // graph.
  Score shared;
  bool any_shared = false;
  for (const Secret<Score>& tally : view.tallies()) {
    if (const auto score = policy_.share(tally, SharedFigure::scores_of_reports)) {
      shared += score->value();
      any_shared = true;
    }
  }
  double present = 0;
  for (std::size_t k = 0; k < clients; ++k) present += view.was_present(k) ? 1 : 0;
  Vector head(f_head, 0.0);
  head[f_done] = static_cast<double>(round);
  head[f_clients] = static_cast<double>(clients);
  head[f_mass] = sum(view.masses());
  head[f_in_flight] = view.mass_in_flight();
  head[f_present] = present;
  head[f_work] = work_();
  if (any_shared) {
    head[f_records] = static_cast<double>(shared.records - before_.records);
    head[f_loss] = shared.loss - before_.loss;
    head[f_correct] = static_cast<double>(shared.correct - before_.correct);
  }
  Released<Vector> report = declare_public(std::move(head));
  add_models(view, test_ && with_test, report);
  before_ = shared;
  last_sent_ = round;
  if (journal_) {
    Snapshot entry;
    entry(report);
    journal_->append(entry);
  }
  hand_in(report);
}

/// Puts the sum of this rank's models behind a report's head and, into that, their spread around their own mean,
/// Σ ‖x_u − mean‖², and what they score. Centring here keeps digits that Σ‖x‖² − ‖Σx‖²/n would lose.
void NetworkReporter::add_models(const RoundView& view, bool with_test, Released<Vector>& report) const {
  report.update([&](Vector& numbers) { numbers.resize(f_head + view.model(0).size(), 0.0); });
  ModelsInTurn models(view, most_numbers_);
  models.each([&](std::size_t, const Released<Columns>& some) {
    report.update(
        [&](Vector& numbers, const Columns& x) {
          for (std::size_t k = 0; k < x.size(); ++k) axpy(1, x[k], MutableView(numbers).subspan(f_head));
          for (std::size_t k = 0; with_test && k < x.size(); ++k) {
            const Score score = test_(x[k]);
            numbers[f_tests] += static_cast<double>(score.records);
            numbers[f_test_loss] += score.loss;
            numbers[f_test_correct] += static_cast<double>(score.correct);
          }
        },
        some);
  });
  const auto mean = post_process(
      [](const Vector& numbers) {
        Vector sums(numbers.begin() + f_head, numbers.end());
        scale(1 / numbers[f_clients], sums);
        return sums;
      },
      report);
  models.each([&](std::size_t, const Released<Columns>& some) {
    report.update(
        [](Vector& numbers, const Columns& x, const Vector& centre) {
          for (std::size_t k = 0; k < x.size(); ++k) numbers[f_spread] += squared_distance(x[k], centre);
        },
        some, mean);
  });
}

void NetworkReporter::hand_in(const Released<Vector>& report) {
  ++sent_;
  agreement_.report(report);
}

void NetworkReporter::keep_in(const std::string& journal_file, bool afresh) {
  journal_.emplace(journal_file);
  if (afresh) journal_->go_back(0, [](Snapshot&) {});
}

void NetworkReporter::persist(Snapshot& snapshot) {
  std::int64_t size = snapshot.reading() ? 0 : journal_->settle();
  snapshot(size, rounds_, last_sent_, seen_, before_);
  if (!snapshot.reading()) return;
  journal_->go_back(size, [this](Snapshot& entry) {
    Released<Vector> report = declare_public(Vector());
    entry(report);
    hand_in(report);
  });
  if (printer_ != nullptr) printer_->go_on_after(seen_);
}

void NetworkReporter::collect(bool wait) {
  while (history_.size() < sent_) {
    const auto reports = agreement_.collect(active_, wait);
    if (!reports) return;
    history_.push_back(add_up(*reports));
    if (file_) file_->append(history_.back());
    if (printer_ != nullptr) printer_->show(history_.back(), slowest_of(*reports));
  }
}

std::optional<SlowestRank> NetworkReporter::slowest_of(const std::vector<Vector>& reports) const {
  double sum = 0;
  std::size_t slowest = 0;
  for (std::size_t r = 0; r < reports.size(); ++r) {
    sum += reports[r][f_work];
    if (reports[r][f_work] > reports[slowest][f_work]) slowest = r;
  }
  if (reports.size() < 2 || !(sum > 0)) return std::nullopt;
  return SlowestRank{active_[slowest], reports[slowest][f_work] * static_cast<double>(reports.size()) / sum};
}

NetworkFigures NetworkReporter::add_up(const std::vector<Vector>& reports) const {
  Vector head(f_head, 0.0);
  Vector mean(reports.front().size() - f_head, 0.0);
  for (const Vector& report : reports) {
    for (std::size_t i = f_clients; i < f_head; ++i) head[i] += report[i];
    axpy(1, View(report).subspan(f_head), mean);
  }
  const double clients = head[f_clients];
  scale(1 / clients, mean);
  // Σ‖x_u − x̄‖² = Σ_ranks (own spread + count · ‖own mean − x̄‖²)  (Chan, Golub and LeVeque 1979)
  double spread = head[f_spread];
  for (const Vector& report : reports) {
    Vector own(report.begin() + f_head, report.end());
    scale(1 / report[f_clients], own);
    spread += report[f_clients] * squared_distance(own, mean);
  }
  NetworkFigures figures;
  figures.done = static_cast<Round>(reports.front()[f_done]);
  if (models_ == Models::one_each) {
    figures.mass = head[f_mass];
    figures.in_flight = head[f_in_flight];
    figures.present = head[f_present] / clients;
    figures.consensus_error = spread / clients;
  }
  const bool classes = scores_ == Scores::losses_and_accuracies;
  if (head[f_records] > 0) {
    figures.loss = head[f_loss] / head[f_records];
    if (classes) figures.accuracy = head[f_correct] / head[f_records];
  }
  if (head[f_tests] > 0) {
    figures.test_loss = head[f_test_loss] / head[f_tests];
    if (classes) figures.test_accuracy = head[f_test_correct] / head[f_tests];
  }
  return figures;
}

void NetworkReporter::finish(const RoundView& view, Round done) {
  send_up_to(view, done);
  if (last_sent_ != done || (test_ && !is_landmark(done))) send(view, done, true);
  if (rank_ == 0) collect(true);
  if (file_) file_->flush();
  if (printer_ != nullptr) printer_->close();
}

}  // namespace starling
