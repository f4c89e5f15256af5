/// Options on the overlays of a schedule: clients that sit out rounds or leave, links that lose messages.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/links.hpp"
#include "options/options.hpp"

namespace starling {

class Graph;
class Schedule;
struct AbsenceModel;
struct MixingSettings;
struct OverlayTerms;
enum class LossModel;

struct ScheduleOptions {
  std::optional<std::string> dropout;
  std::string dropout_model = "uniform";
  std::optional<std::string> leave;
  double link_loss = 0;
  LossModel link_loss_model{};  ///< acknowledged

  /// Whether clients may be absent or gone, or messages lost.
  [[nodiscard]] bool any() const { return absences() || link_loss > 0; }
  [[nodiscard]] bool absences() const { return dropout || dropout_model != "uniform" || leave; }
};

/// Adds --dropout and --dropout-model to `options`; `settings` must outlive it.
void add_dropout_options(Options& options, ScheduleOptions& settings);
/// The absences that these ask for; null where nobody is ever absent. Throws UsageError for options that do not fit
/// together and for files that are no such files.
[[nodiscard]] std::unique_ptr<AbsenceModel> absences_of(const ScheduleOptions& options, Client clients,
                                                        std::uint64_t seed);
/// Adds these and --leave, --link-loss and --link-loss-model likewise.
void add_schedule_options(Options& options, ScheduleOptions& settings);

/// Throws UsageError for a topology, from this file, that never connects its clients.
void require_connected(const Graph& graph, const std::string& file);
/// Throws UsageError, with edges that would help, if the graph does not connect the clients that are not lost.
void require_connected_without(const Graph& graph, const std::vector<Client>& lost);
/// Notes on `--leave` for the start of a run: the earliest departure after which the remaining clients are not strongly
/// connected any more, by round, clients and components. Rounds from `end` on do not come.
/// Throws UsageError for a file that is none.
[[nodiscard]] std::vector<std::string> departure_notes(const Graph& graph, const ScheduleOptions& options, Round end);

/// Terms of a run over this graph. Where an edge is missing, the sums stay what they are that mixing needs: those of
/// receivers under plain mixing, where they are one.
[[nodiscard]] OverlayTerms overlay_terms(const Graph& graph, const MixingSettings& mixing, std::uint64_t seed);

/// The schedule with all that the options ask for; itself where they ask for nothing. Throws UsageError for options
/// that do not fit together and for files that are no such files.
[[nodiscard]] std::unique_ptr<Schedule> overlaid(std::unique_ptr<Schedule> schedule, const ScheduleOptions& options,
                                                 const OverlayTerms& terms);

}  // namespace starling
