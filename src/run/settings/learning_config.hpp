/// Options that the learning commands share: clients, data, privacy, output.
#pragma once

#include <optional>
#include <string>

#include "core/clients/membership.hpp"
#include "core/links.hpp"
#include "data/settings.hpp"
#include "options/options.hpp"
#include "output/choices.hpp"
#include "privacy_options.hpp"
#include "run/identity/identity_options.hpp"

namespace starling {

enum class ExchangeWay;

/// Why a run with some configuration cannot go on in some way. A reason is empty where the run can.
struct WhyNot {
  std::string goes_on;      ///< from a checkpoint
  std::string leaves_out;   ///< with other records, leaving out rounds
  std::string other_ranks;  ///< on another number of ranks
  std::string more_rounds;  ///< with another number of rounds than was first planned
  std::string other_clients =
      "only runs of omd go on without clients or with more (others need what all clients have sent)";
};

struct LearningConfig : IdentityChoice {
  // clients
  std::optional<Client> clients;
  std::optional<Client> clients_per_rank;
  // data
  DataSettings data;
  std::optional<std::string> test;
  std::optional<std::string> save_partition;
  std::optional<Round> rounds;
  bool deals_evenly = false;  ///< a pass has as many batches for every client, instead of as many records a batch
  // learning
  std::string loss = "logistic";
  std::string start = "uniform";
  // privacy
  PrivacyOptions privacy;
  // output
  std::optional<std::string> output;
  std::string private_place;  ///< of private folders, on each host; empty: in the run directory
  std::optional<Round> record_every;
  std::optional<RecordedChoice> record_clients;
  ProgressChoice progress = ProgressChoice::automatic;
  bool json = false;
  bool json_models = false;
  bool verbose = false;
  double watchdog = 60;
  bool personal = false;  ///< clients fit personal models after the rounds
  std::optional<std::string> tensorboard;
  std::optional<std::string> openmetrics;
  // checkpoints
  CheckpointPace checkpoint;
  std::optional<std::string> resume;             ///< the directory of the run that goes on
  std::optional<std::string> lost;               ///< clients without which it goes on: a list, or `missing`
  std::optional<Client> join;                    ///< number of clients that join it
  std::optional<std::string> source_of_joining;  ///< their records; none: as the run's source says
  std::optional<std::string> rewire;             ///< spec of the graph of the clients that are then there
  /// What clients count for in the model (--client-weights); none of a method without a choice.
  std::optional<ClientWeights> weights;

  // what the method makes of these
  WhyNot why_not;
  Round releases_of_round = 1;  ///< of a client
  /// Options that help where models diverge, in a sentence without a full stop.
  std::string remedies_of_divergence =
      "Lower --step, scale the features (--scale, --standardise), or, under noise, take larger batches";

  /// The effective configuration as a file for --config.
  std::string text;
  std::string as_given;  ///< the same with names of files as the user gave them
  std::string to_tune;   ///< `text` without what --tuning is to choose

  /// Whether the run learns from records. The alternative averages public start values.
  [[nodiscard]] bool learns() const { return loss != "none"; }
};

/// --clients and --clients-per-rank; `otherwise` says how many there are by default.
void add_client_options(Options& options, LearningConfig& config, const std::string& otherwise);
/// --source, --partition, --batch, --rounds, --test, --seed and the like, but for how files are read.
/// `batch` is the help of --batch. With `batch_file` the option takes file:FILE besides, and the name goes there.
void add_data_options(Options& options, LearningConfig& config, const std::string& batch = {},
                      std::string* batch_file = nullptr);
/// --output, --json, --watchdog, --config, --help and the like.
void add_output_options(Options& options, LearningConfig& config, const std::string& command);
/// --record-clients and --json-models, for commands whose clients' models can be told apart by number alone.
void add_model_output_options(Options& options, LearningConfig& config);
/// --personal, for commands whose model can be fitted to records. `relations` are the method's own.
void add_personal_option(Options& options, LearningConfig& config, std::vector<Relation> relations = {});
/// --checkpoint-every, --resume, --lost and --join.
void add_checkpoint_options(Options& options, LearningConfig& config);
/// --rewire, for commands whose clients have a graph.
void add_rewire_option(Options& options, LearningConfig& config);
/// --exchange.
void add_exchange_option(Options& options, ExchangeWay& way);
/// Why plain mixing has no messages in few bits.
constexpr const char* no_sum_in_plain_mixing = "it keeps no sum in which what rounding takes away could stay";
/// --message-precision. `relations` are the method's own.
void add_precision_option(Options& options, std::string& precision, std::vector<Relation> relations = {});
/// The effect of the option that has this name. Options of a single command change its results.
[[nodiscard]] Option::Effect effect_of(const std::string& option);
/// Throws UsageError for --audit, in commands without canaries.
void refuse_audit(const LearningConfig& config);
/// Throws UsageError for options of those above that contradict each other.
void check_learning_options(const LearningConfig& config);
/// Keeps the effective configuration, once all options are read. `open` are options whose values --tuning is to choose,
/// `needless` those that mean nothing in this run.
void keep_configuration(const Options& options, LearningConfig& config, const std::vector<std::string>& open = {},
                        const std::vector<std::string>& needless = {});

}  // namespace starling
