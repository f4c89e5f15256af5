/// Recorded figures: observers of the rounds with keys of summary.json, rows of the table of results and panels of
/// figures.svg. docs/how-to/add-an-observer.md adds one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/snapshot.hpp"
#include "net/agreement.hpp"
#include "output/checkpoints/kept_parts.hpp"
#include "protocol/decentralized/settings.hpp"
#include "protocol/observer.hpp"
#include "report/view/json.hpp"
#include "report/view/panel.hpp"

namespace starling {

class SummaryView;

/// The part of a run that an observer measures.
struct FigureSetup {
  Client first = 0;              ///< first client of this rank
  std::size_t clients = 0;       ///< number of clients of this rank
  std::optional<Mixing> mixing;  ///< how clients mix with their neighbours; none where rank 0 aggregates
};

/// The result of a recorded figure. Rank 0 holds it; it is empty on other ranks.
struct FigureResult {
  std::function<void(Json& summary)> write;  ///< adds the figure's keys to summary.json
  std::vector<std::string> notes;            ///< sentences for the notes of the run
};

/// The observer of a recorded figure, on one rank.
class FigureObserver : public Observer {
 public:
  /// Writes or reads the state for a checkpoint.
  virtual void persist(Snapshot& snapshot) = 0;
  /// **Collective.** The result over all ranks. It must not depend on the layout.
  [[nodiscard]] virtual FigureResult gather(Agreement& agreement) const = 0;
};

/// One row of the table of recorded figures.
struct RecordedFigure {
  std::string name;  ///< of the observer's part of a checkpoint
  /// Makes the observer; null where the figure does not apply to the run.
  std::unique_ptr<FigureObserver> (*observe)(const FigureSetup& setup);
  /// Rows of the table of results; empty where summary.json lacks the figure.
  std::string (*rows)(const SummaryView& summary);
  /// Panels of figures.svg; a null pointer for a figure without a curve.
  std::vector<Panel> (*panels)(const SummaryView& summary);
};
using FigureTable = std::vector<RecordedFigure>;

/// Writers of the keys of recorded figures: a part of a Summary.
using FigureWriters = std::vector<std::function<void(Json& summary)>>;

/// All figures that runs record, in the order of their keys.
[[nodiscard]] const FigureTable& figure_table();

/// Rows of all figures that the summary has.
[[nodiscard]] std::string figure_rows(const SummaryView& summary, const FigureTable& table = figure_table());
/// Panels of all figures that the summary has.
[[nodiscard]] std::vector<Panel> figure_panels(const SummaryView& summary, const FigureTable& table = figure_table());

/// The observers of one rank's recorded figures, from the first round to the results.
class FigureRecorder {
 public:
  explicit FigureRecorder(const FigureSetup& setup, const FigureTable& table = figure_table());
  [[nodiscard]] std::vector<Observer*> observers() const;
  /// Adds the observers to a checkpoint. `parts` keeps references.
  void keep_in(KeptParts& parts) const;
  /// **Collective.** The results, on rank 0; appends their notes to `notes`.
  [[nodiscard]] FigureWriters gather(Agreement& agreement, std::vector<std::string>& notes) const;

 private:
  std::vector<std::pair<std::string, std::unique_ptr<FigureObserver>>> observers_;
};

}  // namespace starling
