// From the configuration of `starling omd` to all that its rounds need.
#include "omd_run.hpp"
#include <algorithm>
#include <filesystem>

#include "starling/app/start_models.hpp"
#include "starling/core/digest.hpp"
#include "starling/core/per_client.hpp"
#include "starling/data/source.hpp"
#include "starling/data/synthetic.hpp"
#include "starling/graph/analysis.hpp"

namespace starling {

namespace {

constexpr Round rounds_of_endless_streams = 1000;

constexpr Client most_clients_analysed_at_start = 200;

/// What plain mixing makes of this graph (method 1, "Why η_t / w_u").
std::string describe_bias(const Graph& graph, bool troubled) {
  if (troubled) {
    return "plain mixing counts clients unequally where they are absent unequally or links lose messages, beside what "
           "the graph itself does; push-sum does not";
  }
  if (graph.clients() > most_clients_analysed_at_start || graph.period() == 0) {
    return "plain mixing counts clients unequally on an unbalanced graph; starling topology check says by how much";
  }
  const std::vector<double> perron = analyse(GraphSample(graph)).perron;
  if (perron.empty()) return "plain mixing has no single limit on this graph; see starling topology check";
  const auto [least, most] = std::minmax_element(perron.begin(), perron.end());
  const auto n = static_cast<double>(perron.size());
  return fmt::format("plain mixing counts client {} {:.3g} times and client {} {:.3g} times (1 is fair; push-sum is)",
                     most - perron.begin(), n * *most, least - perron.begin(), n * *least);
}

}  // namespace

Client OmdRun::number_of_clients(std::optional<Client> of_topology) const {
  std::optional<Client> asked = config_.clients;
  if (config_.clients_per_rank) asked = *config_.clients_per_rank * static_cast<Client>(world_.size());
  check(
      !asked || !of_topology || *asked == *of_topology,
      "{} clients are asked for but the topology has {} (they must agree) leave out --clients or name another topology",
      asked.value_or(0), of_topology.value_or(0));
  const Client clients = of_topology.value_or(asked.value_or(static_cast<Client>(world_.size())));
  check(
      asked.has_value() || clients <= static_cast<Client>(world_.size()),
      "{} clients on {} ranks (a rank would host several, which must be asked for) start {} ranks, or add --clients {}",
      clients, world_.size(), clients, clients);
  return clients;
}

void OmdRun::open_graph() {
  std::unique_ptr<Graph> graph;
  if (config_.topology) graph = read_graph(*config_.topology);
  const Client clients = number_of_clients(graph ? std::optional(graph->clients()) : std::nullopt);
  if (!graph) graph = make_graph("directed-ring", clients, WeightRule::sender);
  layout_.emplace(clients, world_.size());
  check_graph(*graph);
  if (config_.mixing.running_sums && graph->period() == 0) {
    notes_.emplace_back(
        "unacknowledged losses on a graph that never repeats: what is lost on an edge stays under way until that edge "
        "comes again, and both its ends keep a model's worth of sums for every edge that has ever come");
  }
  OverlayTerms terms;
  terms.missing =
      missing_weight(*graph, config_.mixing.mixing == Mixing::push_sum ? MixingSums::sender : MixingSums::receiver);
  terms.steps_per_round = config_.mixing.gossip_steps;
  terms.seed = config_.data.seed;
  schedule_ = overlaid(std::move(graph), config_.schedule, terms);
  if (clients < static_cast<Client>(world_.size())) {
    notes_.push_back(fmt::format("{} ranks host no client and stay idle", world_.size() - static_cast<int>(clients)));
  }
}

void OmdRun::check_graph(const Graph& graph) {
  check(graph.ever_connects(),
        "the topology never connects: some client cannot reach some other however long the run is (models could not "
        "agree) "
        "see starling topology check {}",
        config_.topology.value_or("FILE"));
  if (config_.mixing.mixing == Mixing::push_sum) {
    graph.require_sender_sums();
    return;
  }
  try {
    graph.require_receiver_sums();
  } catch (const UsageError& error) {
    notes_.push_back(fmt::format("plain mixing: {}; models may shrink, grow or leave the domain", error.what()));
  }
  const ScheduleOptions& trouble = config_.schedule;
  const bool absences = trouble.dropout || trouble.dropout_model != "uniform" || trouble.leave;
  notes_.push_back(describe_bias(graph, absences || trouble.link_loss > 0));
}

void OmdRun::open_data() {
  domain_ = domain_table().make(config_.domain.value_or(default_domain(Spec::parse(config_.mirror).name())));
  mirror_ = mirror_table().make(config_.mirror, *domain_);
  if (!config_.learns()) {
    check(!config_.privacy.mechanism && !config_.test && !config_.save_partition,
          "--loss none learns nothing: --mechanism, --test and --save-partition have no meaning with it");
    check(config_.start != "uniform" && config_.start != "zero",
          "--loss none averages starts (there is no data to learn from) give them: --start FILE");
    return;
  }
  check(config_.privacy.mechanism.has_value(),
        "no --mechanism is chosen (a run on data must say how they are protected: no default would be right for all) "
        "choose one "
        "of: {}",
        mechanism_table().names());
  loss_ = loss_table().make(config_.loss);
  config_.data.label_map = [this](double raw) { return loss_->label(raw); };
  config_.data.go_on_waiting = [this] { return world_.go_on_waiting(); };
  if (config_.privacy.ledger) source_digest_ = digest_of_source();
  if (config_.save_partition && first_rank()) check_saves_partition(config_.data, *config_.save_partition);
  dataset_ = open_dataset(config_.data, layout_->clients(), first_client(), client_count());
}

/// Ranks that read one file must have read the same; clients with files of their own learn one model.
void OmdRun::agree_on_data() {
  if (!config_.learns()) return;
  if (dataset_.common) {
    agreement_.same("content of " + config_.data.source, declare_public(dataset_.fingerprint));
  }
  const auto shapes = agreement_.all_gather(declare_public(dataset_.shape.text()));
  agreement_.together([&] {
    DataShape all;
    all.empty = true;
    for (const std::string& text : shapes) all = all.joined(DataShape::parse(text));
    check<DataError>(!all.empty, "'{}': no client has a record (nothing can be learned) check the source",
                     config_.data.source);
    dataset_.shape = all;
  });
  if (dataset_.shape.sparse && !config_.data.dimension && config_.privacy.protects()) {
    notes_.push_back(fmt::format(
        "{} features: the largest index in the clients' records, which everybody learns so; --dimension fixes it "
        "beforehand",
        dataset_.shape.features));
  }
}

void OmdRun::open_learning() {
  if (config_.learns()) {
    const std::size_t features = dataset_.shape.features;
    if (config_.model == ModelChoice::location) {
      model_ = std::make_unique<LocationModel>(*loss_, features);
      if (config_.data.label.empty() && !dataset_.is_public) {
        notes_.emplace_back(
            "--model location: the label's column (y or label, else the last one) is no coordinate of the points; "
            "--label names another");
      }
    } else {
      model_ = std::make_unique<LinearModel>(*loss_, features, config_.intercept);
    }
    dimension_ = model_->dimension();
    if (config_.test) test_ = read_test_set(*config_.test, config_.data, dataset_.shape);
  }
  StartModels start =
      start_models(config_.start, *domain_, dimension_, layout_->clients(), first_client(), client_count());
  dimension_ = start.models.value().rows();
  start_ = std::move(start.models);
  notes_.insert(notes_.end(), start.notes.begin(), start.notes.end());
  choose_rounds(config_.learns() ? dataset_.shape.rounds : std::nullopt);
  check(!config_.privacy.audit || config_.omd.rounds * layout_->clients() >= least_canaries,
        "--audit with {} rounds of {} clients ({} canaries are needed to say anything) play more rounds",
        config_.omd.rounds, layout_->clients(), least_canaries);
  check_regret();
}

void OmdRun::open_constraints() {
  if (!config_.constraints.any()) return;
  ConstraintFacts facts;
  facts.dimension = dimension_;
  if (config_.learns()) {
    facts.features = dataset_.shape.features;
    facts.scores = loss_->scores();
    facts.names = dataset_.shape.names;
  }
  constraints_.emplace(config_.constraints, facts, config_.omd.rounds, config_.privacy.protects());
  constraints_->set_steps(config_.omd);
  check(!config_.benchmark_window || constraints_->set().on_models() > 0,
        "--benchmark-window with an energy budget alone (no model keeps or breaks it) leave it out");
  check(
      !constraints_->set().energy || config_.mixing.mixing == Mixing::push_sum,
      "--constraint energy with --mixing plain (receivers' weights would not sum to one where a sender is silent) use "
      "push-sum");
  check(constraints_->set().data.empty() || !config_.privacy.audit,
        "--audit with a constraint on data (canaries are in gradients alone) audit a run without it");
}

void OmdRun::check_regret() const {
  if (config_.regret == RegretChoice::none) return;
  check(config_.learns(), "--regret has no meaning with --loss none (there are no losses to regret)");
  check(
      !config_.mixing.deadline,
      "--regret with --{} (it compares what clients play in the same round, and these are in different ones) leave out "
      "one of them",
      config_.async ? "async" : "deadline");
  check(dataset_.replayable,
        "--regret on '{}' (its records come once, and regret reads them again after the last round) use a file",
        config_.data.source);
  check(metrics_policy().shared(),
        "--regret needs shared metrics (what it compares with is fitted to everybody's records without noise) add "
        "--metrics shared if the records may be known to others");
  if (constraints_ && config_.regret != RegretChoice::dynamic) {
    check_constrained_regret(constraints_->set(), config_.omd.rounds, dimension_);
  }
}

void OmdRun::choose_rounds(std::optional<Round> available) {
  check(!available || !config_.rounds || *config_.rounds <= *available,
        "--rounds {} is beyond the data, which give {} rounds (nothing is repeated silently) add --epochs",
        config_.rounds.value_or(0), available.value_or(0));
  check(dataset_.replayable || config_.rounds,
        "'{}' is read as it arrives (nobody knows beforehand when it ends) say how many rounds to play: --rounds",
        config_.data.source);
  config_.omd.rounds = config_.rounds.value_or(available.value_or(rounds_of_endless_streams));
}

bool OmdRun::starts_can_be_read_again() const {
  return config_.start == "uniform" || config_.start == "zero" || std::filesystem::is_regular_file(config_.start);
}

/// Of the file with start models, if there is one.
std::string OmdRun::digest_of_start() const {
  if (config_.start == "uniform" || config_.start == "zero" || !starts_can_be_read_again()) return "";
  return " " + sha256_of_file(config_.start);
}

/// Of every byte of the files that this rank reads records from; none of generators and pipes.
std::string OmdRun::digest_of_source() const {
  const std::string& source = config_.data.source;
  if (is_synthetic(source) || source == "-") return "";
  std::vector<std::string> files;
  if (is_per_client(source)) {
    for (Client u = first_client(); u < first_client() + client_count(); ++u) {
      for (const std::string& file : files_of(name_of_client(source, u))) files.push_back(file);
    }
  } else {
    files = files_of(source);
  }
  std::string text;
  for (const std::string& file : files) {
    if (std::filesystem::is_regular_file(file)) text += sha256_of_file(file) + " ";
  }
  return text;
}

/// **Collective.**
void OmdRun::open_privacy() {
  if (!config_.learns()) {
    run_id_ = make_run_id(agreement_, NoiseKeyPolicy::random, config_.data.seed);
    return;
  }
  RunFacts facts;
  agreement_.together([&] {
    facts.batch = config_.data.batch;
    facts.dimension = dimension_;
    facts.rounds = config_.omd.rounds;
    facts.seed = config_.data.seed;
    facts.public_data = dataset_.is_public;
    // Canaries have signs of their own in each run; what comes from a pipe is not there a second time; and models that
    // depend on who was late have other gradients.
    facts.replayable =
        dataset_.replayable && !config_.privacy.audit && !config_.mixing.deadline && starts_can_be_read_again();
    facts.configuration = config_.text;
    facts.public_inputs = schedule_->digest() + digest_of_start();
    if (constraints_) {
      facts.public_inputs += constraints_->text();
      facts.second = constraints_->second_part();
    }
    facts.fingerprint = dataset_.fingerprint;
    facts.source_digest = source_digest_;
    check<DataError>(source_digest_ == (config_.privacy.ledger ? digest_of_source() : ""),
                     "{}: it has changed while it was read (the ledger could not say what was released) start again",
                     config_.data.source);
    for (const auto& stream : dataset_.streams) {
      facts.served.push_back({stream->records(), stream->rounds_of_pass(), stream->rounds()});
    }
  });
  privacy_.emplace(agreement_, *layout_, world_.rank(), config_.privacy, std::move(facts));
  privacy_->open();
  run_id_ = privacy_->run_id();
  for (const std::string& note : privacy_->notes()) notes_.push_back(note);
}

}  // namespace starling
