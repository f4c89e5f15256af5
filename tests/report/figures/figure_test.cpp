// A recorded figure that one file defines is in checkpoints, in summary.json, in the table and in the pictures.
#include "report/figures/figure.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "files/text_files.hpp"
#include "output/fake_view.hpp"
#include "output/rounds.hpp"
#include "report/pictures/picture.hpp"
#include "report/summary.hpp"
#include "report/view/summary_view.hpp"
#include "report/view/table_text.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling {
RecordedFigure small_masses_figure();  // a row of figure_table
}  // namespace starling

namespace starling::figure_test {

using namespace testing_support;

// The example of docs/how-to/add-an-observer.md.

/// The largest absolute coordinate of the clients' models, at recorded rounds.
class LargestCoordinate final : public FigureObserver {
 public:
  void after(const RoundView& view) override {
    if (!due_.due(view.done())) return;
    rounds_.push_back(view.done());
    values_.resize(view.masses().size());
    for (std::size_t k = 0; k < values_.size(); ++k) {
      values_[k].push_back(0);
      for (const double x : view.model(k)) values_[k].back() = std::max(values_[k].back(), std::abs(x));
    }
  }
  [[nodiscard]] Round due() const override { return due_.next(); }
  void persist(Snapshot& snapshot) override {
    snapshot(due_, rounds_);
    snapshot.of_clients(values_);
  }
  [[nodiscard]] FigureResult gather(Agreement& agreement) const override {
    Vector here(values_.empty() ? 0 : rounds_.size());
    for (const Vector& client : values_) raise(here, client);
    Vector largest;
    for (const Vector& rank : agreement.gather(Released<Vector>(declare_public(here)))) raise(largest, rank);
    FigureResult result;
    result.write = [rounds = rounds_, largest](Json& json) {
      json["largest_coordinate"] = {{"rounds", rounds}, {"values", largest}};
    };
    if (!largest.empty() && largest.back() > 1e6) result.notes.emplace_back("a coordinate is beyond 1e6");
    return result;
  }

 private:
  static void raise(Vector& largest, const Vector& values) {
    largest.resize(std::max(largest.size(), values.size()), 0.0);
    for (std::size_t r = 0; r < values.size(); ++r) largest[r] = std::max(largest[r], values[r]);
  }

  RecordRounds due_{std::nullopt};
  std::vector<Round> rounds_;
  std::vector<Vector> values_;  ///< of each client, by record
};

std::string largest_rows(const SummaryView& summary) {
  const Vector values = summary.numbers("largest_coordinate.values");
  return values.empty() ? "" : table_row("largest coordinate", shown(values.back(), "{:.4g}"));
}

std::vector<Panel> largest_panels(const SummaryView& summary) {
  const Vector rounds = summary.numbers("largest_coordinate.rounds");
  const Vector values = summary.numbers("largest_coordinate.values");
  if (values.empty()) return {};
  Curve curve{"all clients", {}};
  for (std::size_t r = 0; r < std::min(rounds.size(), values.size()); ++r) {
    curve.points.emplace_back(rounds[r], values[r]);
  }
  return {{"Largest coordinate", "absolute value", false, {curve}, "no model is on record"}};
}

RecordedFigure largest_coordinate_figure() {
  return {"largest coordinate",
          [](const FigureSetup&) -> std::unique_ptr<FigureObserver> { return std::make_unique<LargestCoordinate>(); },
          largest_rows, largest_panels};
}

// End of the example.

/// Clients whose one coordinate grows: client u of all has −u · round.
class Growing final : public testing_support::FakeView {
 public:
  Growing(Client first, std::size_t clients) : FakeView(1, clients), first_(first) {}

 private:
  [[nodiscard]] Vector place(std::size_t k) const override {
    return {-static_cast<double>(first_ + static_cast<Client>(k)) * static_cast<double>(done())};
  }
  Client first_;
};

/// A figure of the table and the example's: others that somebody adds have rows and panels of their own.
FigureTable with_example() {
  FigureTable table{small_masses_figure()};
  table.push_back(largest_coordinate_figure());
  return table;
}

constexpr Client clients_of_example = 4;

/// The summary of ten rounds, on rank 0; the observers are taken up from a checkpoint after round 5.
Summary played(const FigureTable& table, std::optional<Mixing> mixing) {
  const Layout layout(clients_of_example, world().size());
  const FigureSetup setup{layout.first(world().rank()), static_cast<std::size_t>(layout.count(world().rank())), mixing};
  Growing view(setup.first, setup.clients);
  std::optional<FigureRecorder> recorder(std::in_place, setup, table);
  for (Round t = 0; t <= 10; ++t) {
    view.go(t);
    for (Observer* observer : recorder->observers()) observer->after(view);
    if (t != 5) continue;
    KeptParts parts;
    recorder->keep_in(parts);
    Snapshot written({setup.first, static_cast<Client>(setup.clients)});
    parts.persist(written);
    recorder.emplace(setup, table);
    KeptParts taken_up;
    recorder->keep_in(taken_up);
    Snapshot read(written.content());
    taken_up.persist(read);
    read.require_end();
  }
  Agreement agreement(world());
  Summary summary;
  summary.add(recorder->gather(agreement, summary.notes));
  return summary;
}

TEST(RecordedFigure, OfOneFileIsInTheSummaryTheTableAndThePictures) {
  const FigureTable table = with_example();
  const Summary summary = played(table, Mixing::push_sum);
  if (world().rank() != 0) return;
  const Json json = json_of(summary);
  EXPECT_EQ(json.at("largest_coordinate").at("values").back(), 30);
  EXPECT_EQ(json.at("largest_coordinate").at("rounds").size(), 11U);
  const SummaryView view(json, "summary.json");
  EXPECT_EQ(figure_rows(view, table), table_row("largest coordinate", "30"));

  const testing_support::TemporaryFolder folder;
  RunCurves curves;
  curves.figures = figure_panels(view, table);
  static_cast<void>(draw_pictures(folder / "", curves, {}));
  const std::string script = read_text(folder / "pictures.gp");
  EXPECT_THAT(script, HasSubstr("figures.svg"));
  EXPECT_THAT(script, HasSubstr("Largest coordinate"));
  EXPECT_THAT(script, HasSubstr("10 30"));
}

TEST(RecordedFigure, IsLeftOutWhereItDoesNotApply) {
  const FigureTable table{small_masses_figure()};
  const Summary mixing = played(table, Mixing::push_sum);
  const Summary aggregated = played(table, std::nullopt);
  const Summary of_all_figures = played(figure_table(), Mixing::push_sum);
  if (world().rank() != 0) return;
  EXPECT_TRUE(json_of(of_all_figures).contains("small_masses"));
  EXPECT_TRUE(json_of(mixing).contains("small_masses"));
  EXPECT_FALSE(json_of(aggregated).contains("small_masses"));
  EXPECT_EQ(figure_rows(SummaryView(json_of(aggregated), "summary.json"), table), "");
  EXPECT_TRUE(figure_panels(SummaryView(json_of(mixing), "summary.json"), table).empty());
}

TEST(RecordedFigure, NotesGoToTheRun) {
  FigureTable table{largest_coordinate_figure()};
  const Layout layout(clients_of_example, world().size());
  const FigureSetup setup{layout.first(world().rank()), static_cast<std::size_t>(layout.count(world().rank())), {}};
  const FigureRecorder recorder(setup, table);
  Growing view(setup.first, setup.clients);
  view.go(1'000'000);
  recorder.observers().front()->after(view);
  Agreement agreement(world());
  std::vector<std::string> notes;
  static_cast<void>(recorder.gather(agreement, notes));
  if (world().rank() == 0) {
    EXPECT_EQ(notes, std::vector<std::string>{"a coordinate is beyond 1e6"});
  }
}

}  // namespace starling::figure_test
