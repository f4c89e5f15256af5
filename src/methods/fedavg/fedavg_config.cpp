#include "fedavg_config.hpp"

#include <array>
#include <cmath>

#include "codec/quantiser.hpp"
#include "console/command.hpp"
#include "core/text/spec.hpp"
#include "data/serving/partition.hpp"
#include "loss/loss.hpp"
#include "run/settings/catalogue.hpp"
#include "run/settings/source_options.hpp"

namespace starling {

namespace {

void add_learning_options(Options& options, FedAvgConfig& config) {
  options.group("Learning");
  options.add(declared("local-steps", {.common = true}), config.fedavg.local_steps);
  options.add(
      option(
          "local-update", "HOW",
          "against drift of clients whose records differ: plain; proximal:MU (FedProx: each local step also pulls by "
          "MU towards the common model); scaffold (control variates, which double the messages)",
          {.example = "proximal:0.1 --local-steps 5",
           .relations = {excludes("trust=pairs", "control variates carry the noise of pairs into each local step",
                                  "Use plain or proximal.")
                             .only_for("scaffold")}}),
      config.local_update);
  add_weights_option(options, config, "; everybody learns their numbers; not for sources without end", {});
  add_model_options(options, config.model);
  options.add(declared("loss", "loss of the model", {.values = [] { return values_of("Losses", loss_table()); }}),
              config.loss);
  options.add(declared("l2", {.initial = "0"}), config.fedavg.l2.lambda);
  options.add(
      declared("start",
               "uniform (zero; of a network values between +-1/sqrt(fan-in), made from --seed), zero, "
               "classes:P0,P1,... (the constant that answers classes with these shares), mean:M (of counts and amounts "
               "likewise), or a CSV file with one row "
               "(public)",
               {.initial = "uniform"}),
      config.start);
  options.add(
      declared(
          "average",
          {.help = "model that the run ends with: none (of the last round), tail (the mean over the second half of the "
                   "rounds) or all (over all rounds)"}),
      config.average, {{"none", Averaging::none}, {"tail", Averaging::tail}, {"all", Averaging::all}});
  options.add(declared("step", {.help = "the local steps of round t are C / (t + i0)^p, t from 1"}),
              config.fedavg.step);
  options.add(declared("step-power"), config.fedavg.step_power);
  options.add(declared("step-offset", {.initial = "0"}), config.fedavg.step_offset);
  add_decay_option(options, config,
                   {.help = "how steps fall: power (as --step, --step-power and --step-offset say) or linear (local "
                            "step s of the S that a client makes in all is C (1 - (s-1)/S))"});
}

void read_local_update(FedAvgConfig& config) {
  Spec spec = Spec::parse(config.local_update);
  const std::string& name = spec.name();
  check(name == "plain" || name == "proximal" || name == "scaffold", "--local-update: {}",
        unknown_name("local update", name, {"plain", "proximal", "scaffold"}));
  if (name == "proximal") {
    spec.bind({{"mu", "pull towards the common model, above 0"}});
    config.fedavg.proximal = spec.number("mu");
    check(config.fedavg.proximal > 0 && std::isfinite(config.fedavg.proximal),
          "--local-update {}: mu must be positive: it pulls towards the common model.", config.local_update);
  } else {
    spec.bind({});
  }
  config.fedavg.controls = name == "scaffold";
  check(name == "plain" || config.fedavg.local_steps > 1,
        "--local-update {} with --local-steps 1: a single step starts at the common model, and nothing drifts. Take "
        "more local steps, or leave --local-update out.",
        name);
}

/// Noise between pairs cancels where the mean has the releases of all clients alike, in every local step.
std::vector<Relation> beside_pairs_of_means() {
  return {excludes("client-weights=equal", "a pair cancels where both ends count alike")};
}

/// Options that the rule chooses where they are left open.
constexpr std::array options_of_rule{"intercept",         "epochs", "batch", "clip", "step", "step-decay", "l2",
                                     "noise-correlation", "start"};

}  // namespace

Options fedavg_options(FedAvgConfig& config) {
  Options options("fedavg");
  options.group("Clients");
  add_client_options(options, config, "one per rank");
  add_precision_option(options, config.fedavg.precision);
  add_data_options(options, config);
  add_reading_options(options, config.data);
  add_learning_options(options, config);
  add_tuning_options(options, config, options_of_rule);
  add_privacy_options(options, config.privacy, config.data, PersonChoices::all);
  add_pair_options(options, config.privacy, beside_pairs_of_means());
  add_output_options(options, config, "fedavg");
  add_checkpoint_options(options, config);
  add_identity_options(options, config);
  add_model_output_options(options, config);
  add_personal_option(options, config);
  return options;
}

void complete_fedavg_config(FedAvgConfig& config, const Options& options) {
  check_learning_options(config);
  check_model_choice(config.model, config.privacy, config.data);
  refuse_audit(config);
  static_cast<void>(quantiser_table().make(config.fedavg.precision));
  read_local_update(config);
  check(!config.rounds || *config.rounds <= most_whole / config.fedavg.local_steps,
        "--rounds {} with --local-steps {}: so many local steps cannot be counted. Play fewer.",
        config.rounds.value_or(0), config.fedavg.local_steps);
  config.releases_of_round = config.fedavg.local_steps;
  config.why_not.more_rounds =
      config.privacy.trusts_pairs                  ? "keys of pairs are made for the rounds of a run"
      : config.linear_decay                        ? "steps fall to zero at the end"
      : config.privacy.score_share.value_or(0) > 0 ? "scores are measured once, after the last round"
      : config.average == Averaging::tail          ? "the mean over the last half of the rounds has begun"
                                                   : "";
  note_open_options(options, config, options_of_rule);
  check_norm(config);
  keep_configuration(options, config, config.tunes() ? config.open_options : std::vector<std::string>());
}

Manual fedavg_manual() {
  return {
      .usage = "[OPTIONS]",
      .text =
          "Each rank is a client with its own stream, rank 0 too. In a round every client starts at the common model, "
          "makes E = --local-steps steps on its own records, each on a batch of --batch, and sends rank 0 the model "
          "that it comes to; rank 0 sends the weighted mean back. Round t takes batches t E to t E + E - 1 of each "
          "stream (all from 0); a client whose records or budget end within a round stops there. --rounds counts "
          "rounds, privacy counts local steps: each uses a clipped and noised gradient, one release at the price of "
          "--epsilon or --mu (a schedule goes by local steps), and local models are made of nothing else. Rank 0 sees "
          "all local models, clients see the means. For the same passes epsilon does not depend on E; with --rounds, E "
          "times as many batches are read. What --tuning auto plans are local steps, in which noise may be correlated "
          "across rounds. Exit codes: 0 done, 2 usage, 3 data, 4 nothing done since no client's "
          "budget allows it, 5 peer or file failure, 75 stopped by a signal with results safe.",
      .examples = {
          "mpirun -n 5 starling fedavg --source site-{client}.csv --local-steps 5 --mechanism gaussian --epsilon 1"}};
}

}  // namespace starling
