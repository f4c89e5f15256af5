/// The results of a run: its model, its files and pictures, the lines that it ends with. All functions are rank 0's.
#pragma once

#include <optional>
#include <vector>

#include "core/columns.hpp"

namespace starling {

class RunDirectory;
class Summary;
struct DataSettings;
struct Dataset;
struct LearningConfig;
struct NetworkFigures;
struct OwnResults;
struct SavedModel;

/// Completes a model that has kind, architecture and loss: by `parameters`, and by the preparation of
/// the records from which it was learned.
[[nodiscard]] SavedModel completed(SavedModel model, const Vector& parameters, const DataSettings& settings,
                                   const Dataset& records);
/// Writes the files of `summary`, of the model if there is one, and the command's own tables.
void write_result_files(const RunDirectory& directory, const Summary& summary, const OwnResults& own,
                        const std::optional<SavedModel>& model);
/// Draws the pictures, with tables of what they show. Where any is missing, writes `summary` again with the reason.
void draw_results(const RunDirectory& directory, Summary& summary, const OwnResults& own,
                  const std::vector<NetworkFigures>& history);
/// Prints the summary to stdout, as JSON or as a table.
void print_summary(const Summary& summary, const LearningConfig& config);

}  // namespace starling
