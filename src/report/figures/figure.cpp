#include "report/figures/figure.hpp"

#include "report/view/summary_view.hpp"

namespace starling {

// One line for each figure, which is defined in a file of its own.
RecordedFigure small_masses_figure();

const FigureTable& figure_table() {
  static const FigureTable table{small_masses_figure()};
  return table;
}

std::string figure_rows(const SummaryView& summary, const FigureTable& table) {
  std::string text;
  for (const RecordedFigure& figure : table) text += figure.rows(summary);
  return text;
}

std::vector<Panel> figure_panels(const SummaryView& summary, const FigureTable& table) {
  std::vector<Panel> panels;
  for (const RecordedFigure& figure : table) {
    if (figure.panels == nullptr) continue;
    for (Panel& panel : figure.panels(summary)) panels.push_back(std::move(panel));
  }
  return panels;
}

FigureRecorder::FigureRecorder(const FigureSetup& setup, const FigureTable& table) {
  for (const RecordedFigure& figure : table) {
    if (auto observer = figure.observe(setup)) observers_.emplace_back(figure.name, std::move(observer));
  }
}

std::vector<Observer*> FigureRecorder::observers() const {
  std::vector<Observer*> all;
  for (const auto& [name, observer] : observers_) all.push_back(observer.get());
  return all;
}

void FigureRecorder::keep_in(KeptParts& parts) const {
  for (const auto& [name, observer] : observers_) parts.add(name, *observer);
}

FigureWriters FigureRecorder::gather(Agreement& agreement, std::vector<std::string>& notes) const {
  FigureWriters writers;
  for (const auto& [name, observer] : observers_) {
    FigureResult result = observer->gather(agreement);
    notes.insert(notes.end(), result.notes.begin(), result.notes.end());
    if (result.write) writers.push_back(std::move(result.write));
  }
  return writers;
}

}  // namespace starling
