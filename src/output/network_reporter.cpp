#include "output/network_reporter.hpp"

#include <algorithm>
#include <bit>
#include <ctime>

#include "regret/models_in_turn.hpp"

namespace starling {

void ReportTree::add(Vector node) {
  while (!nodes_.empty()) {
    Vector& left = nodes_.back();
    const auto size = static_cast<Client>(node[clients]);
    const auto from = static_cast<Client>(left[first]);
    const bool halves =
        left[clients] == node[clients] && from % (2 * size) == 0 && from + size == static_cast<Client>(node[first]);
    if (!halves) break;
    join(left, node);
    node = std::move(left);
    nodes_.pop_back();
  }
  nodes_.push_back(std::move(node));
}

/// Spreads are joined by Chan, Golub and LeVeque (1979): Σ of both and ‖difference of the means‖² n m / (n + m).
void ReportTree::join(Vector& left, const Vector& right) const {
  const double n = left[clients];
  const double m = right[clients];
  double apart = 0;
  for (std::size_t i = head_; i < left.size(); ++i) {
    const double difference = right[i] / m - left[i] / n;
    apart += difference * difference;
    left[i] += right[i];
  }
  left[spread] += right[spread] + apart * (n * m / (n + m));
  left[clients] += m;
  for (std::size_t i = figures; i < head_; ++i) left[i] += right[i];
}

Vector ReportTree::total() const {
  Vector total = nodes_.front();
  for (std::size_t i = 1; i < nodes_.size(); ++i) join(total, nodes_[i]);
  return total;
}

namespace {

/// Figures of a node of the tree; the sum of its models follows.
enum Field : std::size_t {
  f_mass = ReportTree::figures,
  f_in_flight,
  f_present,
  f_records,
  f_loss,
  f_correct,
  f_tests,
  f_test_loss,
  f_test_correct,
  f_head
};

/// The head of a message; its nodes follow.
enum Head : std::size_t { m_round, m_nodes, m_work, m_head };

constexpr std::int64_t between_looks = 20;  // milliseconds
constexpr Round most_between_looks = 8;     // rounds, unless there is something to report

/// After round `done`, which may be -1.
Round next_landmark(Round done) {
  return done < 1 ? done + 1 : 2 * static_cast<Round>(std::bit_floor(static_cast<std::uint64_t>(done)));
}

}  // namespace

NetworkReporter::NetworkReporter(Agreement& agreement, std::vector<int> active, Client first,
                                 const MetricsPolicy& policy, Scores scores, TestScore test, ProgressPrinter* printer,
                                 std::vector<std::unique_ptr<HistoryWriter>> writers, Models models,
                                 std::size_t most_numbers)
    : agreement_(agreement),
      first_(first),
      active_(std::move(active)),
      policy_(policy),
      scores_(scores),
      models_(models),
      most_numbers_(most_numbers),
      test_(std::move(test)),
      printer_(printer),
      writers_(std::move(writers)) {}

void NetworkReporter::after(const RoundView& view) {
  const std::size_t before = sent_;
  send_up_to(view, view.done());
  if (agreement_.rank() != 0 || (sent_ == before && view.done() % between_looks_ != 0)) return;
  const bool looks = this->looks();
  if (sent_ > before || looks) collect(false);
  if (!looks) return;
  if (printer_ != nullptr) printer_->tick(view.done());
  for (const auto& writer : writers_) writer->flush_if_due();
}

Round NetworkReporter::due() const {
  if (agreement_.rank() != 0) return next_report();
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
  if (view.masses().empty()) return;
  Released<std::vector<Vector>> report = report_of(view, test_ && with_test);
  last_sent_ = round;
  if (journal_) {
    Snapshot entry({first_, static_cast<Client>(view.masses().size())});
    persist_report(entry, round, report);
    journal_->append(entry);
  }
  hand_in(round, report);
}

/// Figures of local client k. Progressive metrics leave only as the policy allows; all else is a function of released
/// models and the public graph.
Vector NetworkReporter::figures_of(const RoundView& view, std::size_t k) {
  Vector figures(f_head, 0.0);
  figures[ReportTree::clients] = 1;
  figures[f_mass] = view.masses()[k];
  figures[f_in_flight] = view.mass_in_flight(k);
  figures[f_present] = view.was_present(k) ? 1 : 0;
  if (view.played().tallies.empty()) return figures;
  if (const auto score = policy_.share(view.played().tallies[k], SharedFigure::scores_of_reports)) {
    before_.resize(view.played().tallies.size());
    const Score& now = score->value();
    figures[f_records] = static_cast<double>(now.records - before_[k].records);
    figures[f_loss] = now.loss - before_[k].loss;
    figures[f_correct] = static_cast<double>(now.correct - before_[k].correct);
    before_[k] = now;
  }
  return figures;
}

/// The nodes of the tree whose clients are all of this rank. Spreads around the means of nodes keep digits that
/// Σ‖x‖² − ‖Σx‖²/n would lose.
Released<std::vector<Vector>> NetworkReporter::report_of(const RoundView& view, bool with_test) {
  ReportTree tree(f_head);
  Released<std::vector<Vector>> report = declare_public(std::vector<Vector>());
  ModelsInTurn models(view, most_numbers_);
  models.each([&](std::size_t from, const Released<Columns>& some) {
    report.update(
        [&](std::vector<Vector>& nodes, const Columns& x) {
          for (std::size_t k = 0; k < x.size(); ++k) {
            if (!view.is_there(from + k)) continue;
            Vector node = figures_of(view, from + k);
            node[ReportTree::first] = static_cast<double>(first_ + static_cast<Client>(from + k));
            if (with_test) {
              const Score score = test_(x[k]);
              node[f_tests] = static_cast<double>(score.records);
              node[f_test_loss] = score.loss;
              node[f_test_correct] = static_cast<double>(score.correct);
            }
            node.insert(node.end(), x[k].begin(), x[k].end());
            tree.add(std::move(node));
          }
          nodes = tree.nodes();
        },
        some);
  });
  return report;
}

/// The k-th reports of all ranks belong together, so that the round is said once. How long the rank has worked is of
/// this process, and stands in no journal.
void NetworkReporter::hand_in(Round round, const Released<std::vector<Vector>>& report) {
  ++sent_;
  agreement_.report(post_process(
      [round, work = work_()](const std::vector<Vector>& nodes) {
        Vector numbers{static_cast<double>(round), static_cast<double>(nodes.size()), work};
        for (const Vector& node : nodes) numbers.insert(numbers.end(), node.begin(), node.end());
        return numbers;
      },
      report));
}

void NetworkReporter::keep_in(const std::string& journal_file, bool afresh) {
  journal_.emplace(journal_file);
  if (afresh) journal_->go_back(0, [](Snapshot&) {});
}

/// Each round's nodes belong to clients, so that a run with other clients on each rank finds them.
void NetworkReporter::persist_report(Snapshot& entry, Round& round, Released<std::vector<Vector>>& report) {
  entry(round);
  report.update([&](std::vector<Vector>& nodes) {
    entry.by_client(nodes, [](const Vector& node) { return static_cast<Client>(node[ReportTree::first]); });
  });
}

void NetworkReporter::persist(Snapshot& snapshot) {
  if (!snapshot.reading()) static_cast<void>(journal_->settle());
  snapshot(rounds_, last_sent_);
  snapshot(seen_);
  snapshot.of_clients(before_);
  if (!snapshot.reading()) return;
  journal_->go_back(snapshot.length_of(journal_->path()), [this](Snapshot& entry) {
    Round round = 0;
    Released<std::vector<Vector>> report = declare_public(std::vector<Vector>());
    persist_report(entry, round, report);
    hand_in(round, report);
  });
  if (printer_ != nullptr) printer_->go_on_after(seen_);
}

void NetworkReporter::collect(bool wait) {
  while (history_.size() < sent_) {
    const auto reports = agreement_.collect(active_, wait);
    if (!reports) return;
    history_.push_back(add_up(*reports));
    for (const auto& writer : writers_) writer->append(history_.back());
    if (printer_ != nullptr) printer_->show(history_.back(), slowest_of(*reports));
  }
}

std::optional<SlowestRank> NetworkReporter::slowest_of(const std::vector<Vector>& reports) const {
  double sum = 0;
  std::size_t slowest = 0;
  for (std::size_t r = 0; r < reports.size(); ++r) {
    sum += reports[r][m_work];
    if (reports[r][m_work] > reports[slowest][m_work]) slowest = r;
  }
  if (reports.size() < 2 || !(sum > 0)) return std::nullopt;
  return SlowestRank{active_[slowest], reports[slowest][m_work] * static_cast<double>(reports.size()) / sum};
}

NetworkFigures NetworkReporter::add_up(const std::vector<Vector>& reports) const {
  ReportTree tree(f_head);
  for (const Vector& report : reports) {
    const std::size_t nodes = static_cast<std::size_t>(report[m_nodes]);
    const std::size_t length = nodes == 0 ? 0 : (report.size() - m_head) / nodes;
    for (std::size_t i = 0; i < nodes; ++i) {
      const auto node = report.begin() + m_head + static_cast<std::ptrdiff_t>(i * length);
      tree.add(Vector(node, node + static_cast<std::ptrdiff_t>(length)));
    }
  }
  const Vector head = tree.total();
  const double clients = head[ReportTree::clients];
  NetworkFigures figures;
  figures.done = static_cast<Round>(reports.front()[m_round]);
  if (models_ == Models::one_each) {
    figures.mass = head[f_mass];
    figures.in_flight = head[f_in_flight];
    figures.present = head[f_present] / clients;
    figures.consensus_error = head[ReportTree::spread] / clients;
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
  if (agreement_.rank() == 0) collect(true);
  for (const auto& writer : writers_) writer->flush();
  if (printer_ != nullptr) printer_->close();
}

}  // namespace starling
