#include "run_canaries.hpp"
#include <algorithm>
#include <cmath>
#include <ctime>
#include <unistd.h>

#include "starling/app/commands.hpp"
#include "starling/app/launch.hpp"
#include "starling/app/omd_config.hpp"
#include "starling/app/run_privacy.hpp"
#include "starling/app/start_models.hpp"
#include "starling/app/version.hpp"
#include "starling/core/digest.hpp"
#include "starling/core/per_client.hpp"
#include "starling/data/source.hpp"
#include "starling/data/synthetic.hpp"
#include "starling/graph/analysis.hpp"
#include "starling/net/agreement.hpp"
#include "starling/record/model_average.hpp"
#include "starling/record/model_recorder.hpp"
#include "starling/record/picture.hpp"
#include "starling/record/run_file.hpp"
#include "starling/record/static_regret.hpp"
#include "starling/record/summary.hpp"

namespace starling {

namespace {

constexpr Round rounds_of_endless_streams = 1000;

constexpr Client most_clients_analysed_at_start = 200;

/// What plain mixing makes of this graph (method 1, "Why η_t / w_u").
std::string describe_bias(const Topology& topology) {
  if (topology.clients() > most_clients_analysed_at_start) {
    return "plain mixing counts clients unequally on an unbalanced graph; starling topology check says by how much";
  }
  const std::vector<double> perron = analyse(topology).perron;
  if (perron.empty()) return "plain mixing has no single limit on this graph; see starling topology check";
  const auto [least, most] = std::minmax_element(perron.begin(), perron.end());
  const auto n = static_cast<double>(perron.size());
  return fmt::format("plain mixing counts client {} {:.3g} times and client {} {:.3g} times (1 is fair; push-sum is)",
                     most - perron.begin(), n * *most, least - perron.begin(), n * *least);
}

bool is_refuted(const Summary& summary) {
  return summary.privacy.audit && summary.privacy.audit->refuted;
}

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
    agreement_.same("topology", declare_public(topology_->digest()));
    agreement_.together([&] { open_data(); });
    agree_on_data();
    agreement_.together([&] { open_learning(); });
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
  void check_graph();
  void open_data();
  void agree_on_data();
  void open_learning();
  void choose_rounds(std::optional<Round> available);
  void check_regret() const;
  [[nodiscard]] std::optional<StaticRegret> find_regret(const DecentralizedOmd& omd, Round rounds_done);
  void open_privacy();
  [[nodiscard]] std::string digest_of_start() const;
  [[nodiscard]] std::vector<std::string> source_files() const;
  void make_directory();
  ExitCode play();
  [[nodiscard]] std::vector<Score> test_scores(const Released<Columns>& models);
  [[nodiscard]] Summary make_summary(const DecentralizedOmd& omd, const Released<Columns>& models,
                                     const Neighbours& neighbours, double wall,
                                     const std::vector<NetworkFigures>& history, Round rounds_done);
  void write_results(const Summary& summary, const std::vector<NetworkFigures>& history, bool stopped);
  [[nodiscard]] MetricsPolicy metrics_policy() const;
  [[nodiscard]] Scores scores() const;
  [[nodiscard]] ProgressStyle progress_style() const;

  World& world_;
  Agreement agreement_;
  std::string command_line_;
  OmdConfig config_;
  std::unique_ptr<Topology> topology_;
  std::optional<Layout> layout_;
  std::unique_ptr<Domain> domain_;
  std::unique_ptr<MirrorMap> mirror_;
  std::unique_ptr<Loss> loss_;
  std::unique_ptr<Model> model_;
  Dataset dataset_;
  std::optional<Batch> test_;
  std::size_t dimension_ = 0;
  std::optional<Released<Columns>> start_;
  std::optional<RunPrivacy> privacy_;    // of runs that learn
  std::optional<RunCanaries> canaries_;  // of runs that audit themselves
  std::string run_id_;
  std::optional<RunDirectory> directory_;
  std::vector<std::string> notes_;
};

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
  if (config_.topology) topology_ = std::make_unique<Topology>(Topology::read(*config_.topology));
  const Client clients = number_of_clients(topology_ ? std::optional(topology_->clients()) : std::nullopt);
  if (!topology_) topology_ = topology_table().make("directed-ring", clients, WeightRule::sender);
  layout_.emplace(clients, world_.size());
  check_graph();
  if (clients < static_cast<Client>(world_.size())) {
    notes_.push_back(fmt::format("{} ranks host no client and stay idle", world_.size() - static_cast<int>(clients)));
  }
}

void OmdRun::check_graph() {
  check(ever_connects(*topology_),
        "the topology never connects: some client cannot reach some other however long the run is (models could not "
        "agree) "
        "see starling topology check {}",
        config_.topology.value_or("FILE"));
  if (config_.omd.mixing == Mixing::push_sum) {
    require_sender_sums(*topology_);
    return;
  }
  try {
    require_receiver_sums(*topology_);
  } catch (const UsageError& error) {
    notes_.push_back(fmt::format("plain mixing: {}; models may shrink, grow or leave the domain", error.what()));
  }
  notes_.push_back(describe_bias(*topology_));
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
    model_ = std::make_unique<LinearModel>(*loss_, dataset_.shape.features, config_.intercept);
    dimension_ = model_->dimension();
    if (config_.test) test_ = read_test_set(*config_.test, config_.data, dataset_.shape);
  }
  StartModels start =
      start_models(config_.start, *domain_, dimension_, layout_->clients(), first_client(), client_count());
  dimension_ = start.models.value().rows();
  start_ = std::move(start.models);
  notes_.insert(notes_.end(), start.notes.begin(), start.notes.end());
  choose_rounds(config_.learns() ? dataset_.shape.rounds : std::nullopt);
  check_regret();
}

void OmdRun::check_regret() const {
  if (config_.regret == RegretChoice::none) return;
  check(config_.learns(), "--regret static has no meaning with --loss none (there are no losses to regret)");
  check(dataset_.replayable,
        "--regret static on '{}' (its records come once, and regret reads them again after the last round) use a file",
        config_.data.source);
  check(
      metrics_policy().shared(),
      "--regret static needs shared metrics (what it compares with is fitted to everybody's records without noise) add "
      "--metrics shared if the records may be known to others");
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

/// Of the file with start models, if there is one.
std::string OmdRun::digest_of_start() const {
  return config_.start == "uniform" || config_.start == "zero" ? "" : " " + sha256_of_file(config_.start);
}

/// Files from which this rank has read records.
std::vector<std::string> OmdRun::source_files() const {
  const std::string& source = config_.data.source;
  if (is_synthetic(source) || !dataset_.replayable) return {};
  if (!is_per_client(source)) return files_of(source);
  std::vector<std::string> files;
  for (Client u = first_client(); u < first_client() + client_count(); ++u) {
    for (const std::string& file : files_of(name_of_client(source, u))) files.push_back(file);
  }
  return files;
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
    facts.replayable = dataset_.replayable;
    facts.configuration = config_.text;
    facts.public_inputs = topology_->digest() + digest_of_start();
    facts.fingerprint = dataset_.fingerprint;
    facts.files = source_files();
    for (const auto& stream : dataset_.streams) {
      facts.served.push_back({stream->records(), stream->rounds_of_pass(), stream->rounds()});
    }
  });
  privacy_.emplace(agreement_, *layout_, world_.rank(), config_.privacy, std::move(facts));
  privacy_->open();
  run_id_ = privacy_->run_id();
  for (const std::string& note : privacy_->notes()) notes_.push_back(note);
}

void OmdRun::make_directory() {
  std::string path = config_.output.value_or("");
  if (path.empty()) {
    const std::time_t now = std::time(nullptr);
    char stamp[32];
    std::strftime(stamp, sizeof stamp, "run-omd-%Y%m%d-%H%M%S", std::localtime(&now));
    path = stamp;
  }
  path = agreement_.broadcast(declare_public(path));
  directory_.emplace(path, config_.text, agreement_, world_.rank());
  agreement_.together([&] {
    if (config_.save_partition && first_rank()) {
      save_partition(config_.data, layout_->clients(), *config_.save_partition);
    }
  });
}

MetricsPolicy OmdRun::metrics_policy() const {
  return metrics_policy_of(config_.privacy, !config_.learns() || dataset_.is_public);
}

Scores OmdRun::scores() const {
  if (!config_.learns()) return Scores::none;
  return loss_->classifies() ? Scores::losses_and_accuracies : Scores::losses;
}

ProgressStyle OmdRun::progress_style() const {
  if (config_.progress == ProgressChoice::off) return ProgressStyle::off;
  if (config_.progress == ProgressChoice::on) return ProgressStyle::lines;
  return isatty(STDERR_FILENO) != 0 ? ProgressStyle::bar : ProgressStyle::lines;
}

std::vector<Score> OmdRun::test_scores(const Released<Columns>& models) {
  std::vector<Score> scores;
  for (std::size_t k = 0; k < models.value().size(); ++k) scores.push_back(model_->score(models.value()[k], *test_));
  return scores;
}

/// The evaluation pass, over streams opened anew. **Collective.**
std::optional<StaticRegret> OmdRun::find_regret(const DecentralizedOmd& omd, Round rounds_done) {
  if (config_.regret == RegretChoice::none) return std::nullopt;
  if (rounds_done < config_.omd.rounds) {
    notes_.emplace_back("static regret: left out, since the run was stopped");
    return std::nullopt;
  }
  EvaluationData data;
  agreement_.together([&] {
    Dataset again = open_dataset(config_.data, layout_->clients(), first_client(), client_count());
    check<DataError>(again.fingerprint == dataset_.fingerprint,
                     "{}: it has changed since the run began (the regret would be that of other records)",
                     config_.data.source);
    data.streams = std::move(again.streams);
  });
  data.played = omd.played();
  data.steps = omd.releases();
  data.batch = config_.data.batch;
  data.l2 = config_.omd.l2;
  StaticRegret regret =
      static_regret(agreement_, metrics_policy(), *model_, *domain_, data, [this] { return !world_.go_on_waiting(); });
  if (const std::string remark = remark_on(regret); !remark.empty()) notes_.push_back(remark);
  return regret;
}

ExitCode OmdRun::play() {
  const MetricsPolicy policy = metrics_policy();
  Neighbours neighbours(world_, *layout_, DecentralizedOmd::message_length(*mirror_, dimension_, config_.omd.mixing));
  std::optional<Learning> learning;
  if (config_.learns()) {
    if (config_.privacy.audit) canaries_.emplace(*model_, privacy_->mechanism());
    Model& model = canaries_ ? canaries_->model() : *model_;
    Mechanism& mechanism = canaries_ ? canaries_->mechanism() : privacy_->mechanism();
    learning.emplace(Learning{model, mechanism, privacy_->accounts(), privacy_->keys(), std::move(dataset_.streams)});
  }
  DecentralizedOmd omd(neighbours, *topology_, *mirror_, std::move(learning), config_.omd, *start_);

  const double epsilon_per_release = privacy_ ? privacy_->epsilon_per_release() : 0;
  const auto recorded = recorded_clients(layout_->clients(), config_.record_clients);
  const bool hosts_clients = client_count() > 0;
  std::optional<ModelRecorder> recorder;
  agreement_.together([&] {
    if (!hosts_clients) return;
    recorder.emplace(*directory_, world_.rank(), first_client(), static_cast<std::size_t>(client_count()), dimension_,
                     recorded, policy, RecordRounds(config_.record_every), scores());
  });
  agreement_.together([&] {
    if (!first_rank()) return;
    write_run_file(*directory_, {*layout_, dimension_, recorded, policy.shared() ? scores() : Scores::none},
                   {{"command", "omd"},
                    {"command_line", command_line_},
                    {"task", name_of(scores())},
                    {"rounds_planned", std::to_string(config_.omd.rounds)},
                    {"epsilon_per_release", fmt::format("{:.17g}", epsilon_per_release)},
                    {"starling", version()},
                    {"mpi", mpi_version()},
                    {"topology_digest", topology_->digest()},
                    {"configuration_digest", sha256(config_.text)},
                    {"data_digest", dataset_.digest},
                    {"noise_key", name_of(noise_key_policy(config_.privacy.noise_key))},
                    {"run_id", run_id_}});
  });

  std::optional<ModelAverage> average;
  if (config_.average != Averaging::none) average.emplace(config_.average, config_.omd.rounds);

  std::vector<int> active;
  for (int r = 0; r < world_.size(); ++r) {
    if (layout_->count(r) > 0) active.push_back(r);
  }
  ProgressPrinter printer(progress_style(), config_.omd.rounds, epsilon_per_release);
  TestScore test;
  if (test_) test = [this](View x) { return model_->score(x, *test_); };
  NetworkReporter reporter(agreement_, world_.rank(), active, policy, scores(), test, first_rank() ? &printer : nullptr,
                           first_rank() ? directory_->path() + "/history.csv" : "");
  if (first_rank()) {
    for (const std::string& note : notes_) fmt::print(stderr, "note: {}\n", note);
  }

  world_.watch_signals();
  agreement_.barrier();
  const auto began = std::chrono::steady_clock::now();
  if (hosts_clients) {
    std::vector<Observer*> observers{&*recorder, &reporter};
    if (average) observers.push_back(&*average);
    omd.run(observers);
  }
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const Released<Columns> models = average ? average->models(omd) : omd.models();
  if (recorder) recorder->finish(omd, models);
  if (hosts_clients) reporter.finish(omd);

  // Rank 0 always hosts client 0, so its count of rounds is everybody's.
  const Round done = std::stoll(agreement_.broadcast(declare_public(std::to_string(omd.done()))));
  const bool stopped = done < config_.omd.rounds;
  if (stopped)
    notes_.push_back(fmt::format("stopped by a signal after round {} of {}; all results up to there are whole", done,
                                 config_.omd.rounds));
  const Summary summary = make_summary(omd, models, neighbours, wall, reporter.history(), done);
  agreement_.together([&] {
    if (first_rank()) write_results(summary, reporter.history(), stopped);
  });
  if (agreement_.broadcast(declare_public(std::string(is_refuted(summary) ? "yes" : "no"))) == "yes") {
    return ExitCode::refuted;
  }
  return stopped ? ExitCode::stopped_safely : ExitCode::done;
}

Summary OmdRun::make_summary(const DecentralizedOmd& omd, const Released<Columns>& models, const Neighbours& neighbours,
                             double wall, const std::vector<NetworkFigures>& history, Round rounds_done) {
  const MetricsPolicy policy = metrics_policy();
  Summary summary;
  summary.command = "omd";
  summary.command_line =
      world_.size() == 1
          ? command_line_
          : fmt::format("mpirun {}-n {} {}", oversubscribed() ? "--oversubscribe " : "", world_.size(), command_line_);
  summary.clients = layout_->clients();
  summary.ranks = world_.size();
  summary.rounds = rounds_done;
  summary.rounds_planned = config_.omd.rounds;
  summary.dimension = dimension_;
  summary.average = name_of(config_.average);
  summary.learned = config_.learns();
  summary.classifies = model_ && model_->classifies();
  summary.wall = wall;
  summary.run_directory = directory_->path();

  LocalResults local{models,
                     Vector(omd.masses().begin(), omd.masses().end()),
                     Vector(omd.debts().begin(), omd.debts().end()),
                     omd.tallies(),
                     neighbours.edge_traffic(),
                     neighbours.wire_traffic(),
                     omd.time_shares(),
                     std::nullopt};
  if (test_) local.test = test_scores(local.models);
  summary.regret = find_regret(omd, rounds_done);
  gather_results(agreement_, local, policy, config_.json_models, summary);
  summary.last_loss = last_loss(history, rounds_done);
  if (config_.learns()) {
    summary.privacy = privacy_->finish(rounds_done < config_.omd.rounds);
    if (canaries_) {
      summary.privacy.audit = canaries_->finish(agreement_, privacy_->dearest_charge(), privacy_->delta_of_claims());
    }
    if (policy.shared()) {
      summary.privacy.shared_metrics = {"progressive loss"};
      if (summary.classifies) summary.privacy.shared_metrics.emplace_back("progressive accuracy");
      if (summary.regret) {
        summary.privacy.shared_metrics.emplace_back("static regret");
        summary.privacy.shared_metrics.emplace_back("the model that is best in hindsight for all records");
      }
    } else {
      summary.withheld = {"loss.mean", "loss.last"};
      if (summary.classifies) summary.withheld.emplace_back("metrics.progressive_accuracy");
      if (summary.classifies && !test_) summary.withheld.emplace_back("accuracy");
    }
  }
  summary.notes = notes_;
  return summary;
}

void OmdRun::write_results(const Summary& summary, const std::vector<NetworkFigures>& history, bool stopped) {
  Summary final = summary;
  finish_run_file(*directory_, final);
  write_summary(*directory_, final);
  if (!stopped) {  // after a signal there may be no second left
    const Convergence convergence =
        convergence_to(read_models(directory_->path()), final.final_model, "the final mean model");
    write_convergence(directory_->path(), convergence);
    const std::string problem = draw_pictures(directory_->path(), history, convergence, false);
    if (!problem.empty()) {
      final.notes.push_back(problem);
      write_summary(*directory_, final);
    }
  }
  if (config_.json) {
    fmt::print("{}\n", to_json(final));
  } else {
    fmt::print("\n{}", to_table(final));
  }
  std::fflush(stdout);
}

}  // namespace

int run_omd(const std::vector<std::string>& words, const std::string& command_line, bool speaks) {
  if (std::find(words.begin(), words.end(), "--help") != words.end()) {
    if (speaks) fmt::print("{}", omd_help());
    return 0;
  }
  if (std::find(words.begin(), words.end(), "--print-config") != words.end()) {
    const std::string text = parse_omd_config(words).text;
    if (speaks) fmt::print("{}", text);
    return 0;
  }
  return run_on_all_ranks([&](World& world) { return OmdRun(world, command_line).run(words); });
}

}  // namespace starling
