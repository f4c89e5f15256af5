/// One run of `starling omd`.
#pragma once

#include "app/run/learning_run.hpp"
#include "omd_config.hpp"
#include "run_canaries.hpp"
#include "run_constraints.hpp"
#include "step_cap_choice.hpp"
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "starling/graph/graph.hpp"
#include "starling/protocol/decentralized/mixing_channel.hpp"
#include "starling/regret/regret.hpp"

namespace starling {

/// One run of `starling omd` on one rank, from configuration to results.
class OmdRun final : public LearningRun {
 public:
  OmdRun(World& world, std::string command_line) : LearningRun(world, "omd", std::move(command_line)) {}

  ExitCode run(const std::vector<std::string>& words) {
    configure([&] { config_ = parse_omd_config(words); });
    if (is_finished()) return show_finished();
    agreement_.together([&] { open_graph(); });
    agreement_.same("topology", declare_public(schedule_->digest()));
    agreement_.together([&] { open_data(); });
    if (config_.learns()) agree_on_data();
    agreement_.together([&] {
      open_learning();
      open_constraints();
    });
    choose_step_cap();
    if (constraints_) agreement_.same("constraints", declare_public(constraints_->text()));
    open_privacy();
    make_directory();
    return play();
  }

 private:
  [[nodiscard]] const LearningConfig& common() const override { return config_; }

  [[nodiscard]] std::string why_not_resumable() const override;
  [[nodiscard]] std::string why_no_round_is_left_out() const override { return ""; }
  [[nodiscard]] std::string why_no_more_rounds() const override;
  [[nodiscard]] std::string digest_of_inputs() const override {
    return LearningRun::digest_of_inputs() + schedule_->digest() + digest_of(config_.omd.step_cap);
  }
  void open_graph();
  void check_graph(const Graph& graph);
  void open_data();
  void open_learning();
  void open_constraints();
  /// **Collective.**
  void choose_step_cap();
  void check_regret() const;
  [[nodiscard]] std::optional<Regret> regret_of(const DecentralizedOmd& omd, const PlayedRecorder& played);
  void open_privacy();
  ExitCode play();
  [[nodiscard]] std::vector<Score> test_scores(const Released<Columns>& models);
  [[nodiscard]] bool any_has_played(const DecentralizedOmd& omd);
  void note_late_clients(const DecentralizedOmd& omd);
  [[nodiscard]] Summary make_summary(const DecentralizedOmd& omd, Released<Columns> models, const MixingChannel& door,
                                     const PlayedRecorder& played, const Recorded& recorded, double wall,
                                     Round rounds_done);
  [[nodiscard]] std::vector<std::string> draw() const;
  [[nodiscard]] Scores scores() const;

  OmdConfig config_;
  std::unique_ptr<Schedule> schedule_;
  bool even_masses_ = false;  ///< every client has a mass of 1 in every round
  std::unique_ptr<Domain> domain_;
  std::unique_ptr<MirrorMap> mirror_;
  std::unique_ptr<Model> model_;
  std::optional<Released<Columns>> start_;  // until the protocol has them
  std::optional<RunConstraints> constraints_;
  std::optional<ConstraintReport> violation_;
  std::optional<RunCanaries> canaries_;  // of runs that audit themselves
};

}  // namespace starling
