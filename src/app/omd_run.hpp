/// One run of `starling omd`.
#pragma once

#include "run_canaries.hpp"
#include "run_constraints.hpp"
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "starling/app/omd_config.hpp"
#include "starling/app/run_privacy.hpp"
#include "starling/graph/graph.hpp"
#include "starling/protocol/mixing_door.hpp"
#include "starling/record/regret.hpp"
#include "starling/record/run_directory.hpp"
#include "starling/record/summary.hpp"

namespace starling {

/// One run of `starling omd` on one rank, from configuration to results. Steps that can fail on some ranks only are
/// wrapped in Agreement::together, so that all ranks leave together.
class OmdRun {
 public:
  OmdRun(World& world, std::string command_line)
      : world_(world), agreement_(world), command_line_(std::move(command_line)) {}

  ExitCode run(const std::vector<std::string>& words) {
    agreement_.together([&] { config_ = parse_omd_config(words); });
    agreement_.same("configuration", declare_public(config_.text));
    world_.set_watchdog(config_.watchdog);
    agreement_.together([&] { open_graph(); });
    agreement_.same("topology", declare_public(schedule_->digest()));
    agreement_.together([&] { open_data(); });
    agree_on_data();
    agreement_.together([&] {
      open_learning();
      open_constraints();
    });
    if (constraints_) agreement_.same("constraints", declare_public(constraints_->text()));
    open_privacy();
    make_directory();
    if (privacy_) privacy_->move_in(directory_->private_folder(world_.rank()));
    return play();
  }

 private:
  [[nodiscard]] bool first_rank() const { return world_.rank() == 0; }
  [[nodiscard]] Client first_client() const { return layout_->first(world_.rank()); }
  [[nodiscard]] Client client_count() const { return layout_->count(world_.rank()); }

  void open_graph();
  [[nodiscard]] Client number_of_clients(std::optional<Client> of_topology) const;
  void check_graph(const Graph& graph);
  void open_data();
  void agree_on_data();
  void open_learning();
  void open_constraints();
  void choose_rounds(std::optional<Round> available);
  void check_regret() const;
  [[nodiscard]] std::optional<Regret> regret_of(const DecentralizedOmd& omd, const PlayedRecorder& played);
  void open_privacy();
  [[nodiscard]] std::string digest_of_start() const;
  [[nodiscard]] bool starts_can_be_read_again() const;
  [[nodiscard]] std::string digest_of_source() const;
  void make_directory();
  ExitCode play();
  [[nodiscard]] std::vector<Score> test_scores(const Released<Columns>& models);
  [[nodiscard]] bool any_has_played(const DecentralizedOmd& omd);
  [[nodiscard]] Summary make_summary(const DecentralizedOmd& omd, const Released<Columns>& models,
                                     const MixingDoor& door, const PlayedRecorder& played, double wall,
                                     const std::vector<NetworkFigures>& history, Round rounds_done);
  void write_results(const Summary& summary, const std::vector<NetworkFigures>& history, bool stopped);
  [[nodiscard]] MetricsPolicy metrics_policy() const;
  [[nodiscard]] Scores scores() const;
  [[nodiscard]] ProgressStyle progress_style() const;

  World& world_;
  Agreement agreement_;
  std::string command_line_;
  OmdConfig config_;
  std::unique_ptr<Schedule> schedule_;
  std::optional<Layout> layout_;
  std::unique_ptr<Domain> domain_;
  std::unique_ptr<MirrorMap> mirror_;
  std::unique_ptr<Loss> loss_;
  std::unique_ptr<Model> model_;
  Dataset dataset_;
  std::string source_digest_;  // where a ledger is kept
  std::optional<Batch> test_;
  std::size_t dimension_ = 0;
  std::optional<Released<Columns>> start_;
  std::optional<RunConstraints> constraints_;
  std::optional<ConstraintReport> violation_;
  std::optional<RunPrivacy> privacy_;    // of runs that learn
  std::optional<RunCanaries> canaries_;  // of runs that audit themselves
  std::string run_id_;
  std::optional<RunDirectory> directory_;
  std::vector<std::string> notes_;
};

}  // namespace starling
