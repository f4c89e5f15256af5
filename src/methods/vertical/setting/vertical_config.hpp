/// Configuration of `starling vertical`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/vertical/vertical.hpp"
#include "protocol/vertical/vertical_settings.hpp"
#include "run/settings/learning_config.hpp"
#include "run/settings/schedule_options.hpp"

namespace starling {

struct Manual;

/// Sizes of a network's layers, from its inputs to its outputs; those that data decide are left open.
struct LayerSizes {
  std::optional<std::size_t> inputs;
  std::vector<std::size_t> hidden;
  std::optional<std::size_t> outputs;

  /// Reads sizes such as `102-128-16`; `d` as first or last size leaves it open. Throws UsageError.
  [[nodiscard]] static LayerSizes parse(const std::string& text);
  /// A perceptron of these sizes. Throws UsageError, naming `what`, where what the data have is not what was asked for.
  [[nodiscard]] Architecture architecture(std::size_t inputs_there, std::size_t outputs_there,
                                          const std::string& what) const;
};

/// Bits per component of embeddings over the rounds.
struct BitSchedule {
  std::string text;  ///< as RoundValues has it, or `sublinear:B`; empty: as the quantiser says

  /// b of round t of `rounds`, from 0. `sublinear:B` is B + ⌈½ log₂(t + 1)⌉: each bit halves the error, so that it
  /// falls as 1/√t, which is the paper's condition for sublinear regret (Theorem 2); but never more than `most`, which
  /// the quantiser has. Throws UsageError.
  [[nodiscard]] std::vector<long long> values(Round rounds, long long most) const;
  /// First round, from 0, in which `sublinear:B` would take more than `most` bits. None for other schedules.
  [[nodiscard]] std::optional<Round> first_capped(long long most) const;

 private:
  [[nodiscard]] bool is_sublinear() const;
  [[nodiscard]] long long first_bits(long long most) const;
};

/// Who has the parties' final networks: each party its own, or all; automatic: all where they are released values.
enum class NetworksChoice { automatic, local, shared };

/// The protocol of a run: noisy embeddings of records to rank 0, or additive shares with rank 0 as dealer; automatic:
/// shares under a mechanism, where they can do what is asked.
enum class VerticalProtocol { automatic, embeddings, shares };

/// Ways in which parties find the records that they have in common; automatic: in private with identities.
enum class MatchChoice { automatic, in_private, open };

struct VerticalConfig : LearningConfig {
  VerticalProtocol protocol = VerticalProtocol::automatic;
  bool chose_shares = false;  ///< the program did, not the user
  std::string
      why_embeddings;  ///< why a run with a mechanism is none on shares; empty if it was not the program's choice
  std::optional<std::string> source;
  std::vector<std::string> parties;  ///< files
  std::string columns;
  std::string label_source;
  std::optional<std::size_t> person_rows;  ///< R of --unit person
  MatchChoice match = MatchChoice::automatic;
  std::vector<std::string> held_out;  ///< files of --test
  std::string held_out_labels;
  LayerSizes features;
  LayerSizes head;
  Precision precision = Precision::single;
  OptimiserKind optimiser = OptimiserKind::sgd;
  NetworksChoice networks = NetworksChoice::automatic;
  std::string quantiser;
  std::string head_quantiser;
  BitSchedule bits;
  VerticalPlan plan;
  ScheduleOptions absences;  ///< --dropout and --dropout-model alone
  bool static_regret = false;
  std::optional<std::int64_t> regret_passes;
  std::optional<std::size_t> batch;      ///< of tables
  std::optional<double> embedding_clip;  ///< where there is noise

  /// Makes the automatic choice that of embeddings.
  void take_embeddings(const std::string& why);
  /// Whether nobody shows ids to others.
  [[nodiscard]] bool matches_in_private() const;
  [[nodiscard]] bool on_shares() const { return protocol == VerticalProtocol::shares; }
  /// Whether columns of numbers come in the units of the files.
  [[nodiscard]] bool has_own_units() const { return data.scale == 1 && data.keeps_units(); }
  [[nodiscard]] bool is_spectrum() const;
  /// What data.* and the above say of the source.
  [[nodiscard]] VerticalSettings settings() const;
  /// Of the held-out records. Throws UsageError where they are not split as the source is.
  [[nodiscard]] VerticalSettings held_out_settings() const;
  /// Parties that the data have, where the options say so.
  [[nodiscard]] std::optional<Client> parties_of_data() const;
};

[[nodiscard]] Options vertical_options(VerticalConfig& config);
/// Relations to the options that mean nothing on shares.
[[nodiscard]] std::vector<Relation> relations_of_shares();
/// Checks what single options do not show, and fills in what follows from them. Throws UsageError.
void complete_vertical_config(VerticalConfig& config, const Options& options);
[[nodiscard]] Manual vertical_manual();

}  // namespace starling
