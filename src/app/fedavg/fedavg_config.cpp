#include "fedavg_config.hpp"

#include "app/settings/source_options.hpp"

#include "starling/core/limits.hpp"
#include "starling/data/serving/partition.hpp"
#include "starling/loss/loss.hpp"
#include "starling/privacy/mechanism.hpp"

namespace starling {

namespace {

constexpr long long most_local_steps = 1'000'000;

void add_learning_options(Options& options, FedAvgConfig& config) {
  const char* group = "Learning";
  options.add(
      {group, "local-steps", "E", "1",
       "steps that a client makes in each round, on a batch each, before its model is averaged with the others'",
       setter::integer(config.fedavg.local_steps, 1, most_local_steps)});
  options.add({group, "client-weights", "WHICH", "records",
               "what clients' models count for in the mean: records (each as many as its stream has in one pass, which "
               "everybody learns so; not for sources without end), or equal",
               setter::choice<ClientWeights>(config.weights,
                                             {{"records", ClientWeights::records}, {"equal", ClientWeights::equal}})});
  add_model_options(options, group, config.model);
  options.add({group, "loss", "LOSS", "logistic", "loss of the model (below)", setter::text(config.loss)});
  options.add({group, "l2", "LAMBDA", "0", "adds (lambda/2)|x|^2 to the loss of every local step",
               setter::number(config.fedavg.l2, 0, 1e12)});
  options.add({group, "start", "WHERE", "uniform",
               "uniform (zero; of a network values between +-1/sqrt(fan-in), made from --seed), zero, or a CSV file "
               "with one row (public)",
               setter::text(config.start), false, named::start});
  options.add({group, "average", "WHAT", "none",
               "model that the run ends with: none (of the last round), tail (the mean over the second half of the "
               "rounds) or all (over all rounds)",
               setter::choice<Averaging>(
                   config.average, {{"none", Averaging::none}, {"tail", Averaging::tail}, {"all", Averaging::all}})});
  options.add({group, "step", "C", "1", "the local steps of round t are C / (t + i0)^p, t from 1",
               setter::number(config.fedavg.step, tiny, 1e12)});
  options.add(
      {group, "step-power", "P", "0.5", "p; 0 is a constant step", setter::number(config.fedavg.step_power, 0, 10)});
  options.add({group, "step-offset", "I0", "0", "i0", setter::number(config.fedavg.step_offset, 0, 1e15)});
}

Options fedavg_options(FedAvgConfig& config) {
  Options options("fedavg");
  add_client_options(options, "Clients", config, "one per rank");
  add_data_options(options, config);
  add_reading_options(options, config.data);
  add_learning_options(options, config);
  add_privacy_options(options, config.privacy);
  add_output_options(options, config, "fedavg");
  add_checkpoint_options(options, config);
  add_model_output_options(options, config);
  return options;
}

}  // namespace

FedAvgConfig parse_fedavg_config(const std::vector<std::string>& words) {
  FedAvgConfig config;
  Options options = fedavg_options(config);
  options.parse(words);
  check_learning_options(config);
  check_model_choice(config.model, config.privacy);
  check(!config.privacy.audit, "--audit (canaries are made for omd) use starling privacy audit");
  check(!config.rounds || *config.rounds <= most_whole / config.fedavg.local_steps,
        "--rounds {} with --local-steps {} (so many local steps cannot be counted) play fewer",
        config.rounds.value_or(0), config.fedavg.local_steps);
  config.json = config.json || config.json_models;
  config.text = options.configuration();
  config.as_given = options.configuration(Options::Names::as_given);
  return config;
}

std::string fedavg_help() {
  FedAvgConfig config;
  const Options options = fedavg_options(config);
  std::string text =
      "starling fedavg: federated averaging with rank 0 as aggregator, a baseline for omd.\n\n"
      "  mpirun -n 10 starling fedavg --source data.csv --local-steps 5 --mechanism gaussian --epsilon 1\n\n"
      "Each rank is a client with its own stream, rank 0 too. In a round every client starts at the common model, "
      "makes E = --local-steps\n"
      "steps on its own records, each on a batch of --batch, and sends rank 0 the model that it comes to; rank 0 sends "
      "the weighted mean\n"
      "back. Round t takes batches t E to t E + E - 1 of each stream (all from 0); a client whose records or budget "
      "end within a round\n"
      "stops there. --rounds counts rounds, privacy counts local steps: each uses a clipped and noised gradient, one "
      "release at the\n"
      "price of --epsilon or --mu (a schedule goes by local steps), and local models are made of nothing else. Rank 0 "
      "sees all local\n"
      "models, clients see the means. For the same passes epsilon does not depend on E; with --rounds, E times as "
      "many\n"
      "batches are read. Exit codes: 0 done, 2 usage, 3 data, 4 nothing done since no client's budget "
      "allows it, 5 peer or\n"
      "file failure, 75 stopped by a signal with results safe.\n";
  text += options.help();
  text += sources_help();
  text += "\nPartitions:\n" + partition_table().help();
  text += "\nLosses:\n" + loss_table().help();
  text += "\nMechanisms:\n" + mechanism_table().help();
  text += prices_help();
  return text;
}

}  // namespace starling
