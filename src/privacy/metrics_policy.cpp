#include "privacy/metrics_policy.hpp"

#include <array>

#include <fmt/format.h>

namespace starling {

namespace {

constexpr std::array<SharedFigureRow, 21> rows{{
    {SharedFigure::scores_of_run,
     "sums over the run of each client's progressive losses, right predictions and numbers of records",
     "as sums over the first clients from rank to rank, in all to every rank; the means in summary.json and run.h5"},
    {SharedFigure::scores_of_reports,
     "sums of progressive losses, right predictions and numbers of records of each rank's clients, from report to "
     "report",
     "rank 0; the network's means in history.csv, progress and pictures"},
    {SharedFigure::scores_of_clients, "progressive losses and accuracies of single clients, from record to record",
     "readers of clients/<rank>.h5, which run.h5 shows as /loss and /accuracy, and of reports"},
    {SharedFigure::spread_of_scores,
     "how losses and accuracies of a rank's clients are spread (mean, least, quartiles, most)",
     "readers of clients/<rank>.h5, which run.h5 shows as /spread"},
    {SharedFigure::violations, "violations of constraints on data, cumulative, at recorded rounds",
     "sums of a rank's clients to rank 0, and sums over the first clients from rank to rank; the network's in "
     "violation.csv and summary.json"},
    {SharedFigure::played_losses, "sums of the losses of the models that were played, up to each mark of the curve",
     "as sums over the first clients from rank to rank, in all to every rank; in regret.csv and summary.json"},
    {SharedFigure::hindsight_sums,
     "sums of losses and gradients of all records at each model that is tried in the search for the best one in "
     "hindsight, and that model",
     "as sums over the first clients from rank to rank, in all to every rank; static regret and the model in "
     "summary.json, regret.csv and pictures"},
    {SharedFigure::regret_of_clients, "rounds, losses and regrets of single clients (of up to 100)",
     "rank 0; in summary.json"},
    {SharedFigure::record_sizes, "how many numbers the clients' records hold",
     "as sums over the first clients from rank to rank, in all to every rank"},
    {SharedFigure::rows_of_constraints, "each round's sums of the features in constraints on data",
     "as sums over the first clients from rank to rank, in all to every rank"},
    {SharedFigure::records_of_rounds, "the records of each round as they are",
     "the rank that finds the model which is best for them"},
    {SharedFigure::models_of_rounds, "the model that is best for each round's records, and its loss",
     "every rank; the path's length in regret.csv and summary.json"},
    {SharedFigure::losses_of_rounds, "sums of the losses of each round's best model, up to each mark of the curve",
     "as sums over the first clients from rank to rank, in all to every rank; dynamic regret in regret.csv and "
     "summary.json"},
    {SharedFigure::scores_of_vertical_rounds,
     "losses and accuracies of each round's records, those to be learned and those to be tested",
     "readers of rounds.csv"},
    {SharedFigure::scores_of_vertical, "losses and accuracies of predictions, learned and tested, over the run",
     "readers of summary.json (as means: loss, mean squared error, accuracy, regret) and history.csv"},
    {SharedFigure::predictions, "the area under the ROC curve of all predictions", "readers of summary.json"},
    {SharedFigure::columns_of_parties, "the columns of all records as they are", "rank 0, for static regret"},
    {SharedFigure::labels, "the labels of all records as they are", "rank 0, for static regret"},
    {SharedFigure::varying_columns, "which columns of a rank's records never vary", "readers of the run's notes"},
    {SharedFigure::column_scales, "numbers of records, sums and sums of squares of each client's columns",
     "as sums over the first clients from rank to rank, in all to every rank; means and deviations in config.ini or "
     "standardise.csv"},
    {SharedFigure::record_sizes_of_clients,
     "each client's number of records, sums of their squared norms and labels, and largest norm",
     "as sums over the first clients from rank to rank, in all to every rank; their means in the run's output"},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].figure != static_cast<SharedFigure>(i)) return false;
  }
  return rows.back().figure == SharedFigure::record_sizes_of_clients;
}
static_assert(in_order(), "a row for each figure, in its order");

}  // namespace

std::span<const SharedFigureRow> shared_figure_table() {
  return rows;
}

std::string words_for(SharedFigure figure) {
  const SharedFigureRow& row = rows[static_cast<std::size_t>(figure)];
  return fmt::format("{} (to: {})", row.what, row.whom);
}

std::string SharedFigures::text() const {
  return std::to_string(bits_);
}

void SharedFigures::add(const std::string& text) {
  bits_ |= std::stoull(text);
}

std::vector<std::string> SharedFigures::words() const {
  std::vector<std::string> all;
  for (const SharedFigureRow& row : rows) {
    if (has(row.figure)) all.push_back(words_for(row.figure));
  }
  return all;
}

}  // namespace starling
