// `starling doctor`: the steps in which a launch is looked at.
#include <chrono>
#include <map>

#include "app/commands.hpp"
#include "console/print.hpp"
#include "core/check.hpp"
#include "doctor_config.hpp"
#include "doctor_predict.hpp"
#include "doctor_text.hpp"
#include "files/tell_user.hpp"
#include "graph/analysis/analysis.hpp"
#include "net/agreement.hpp"
#include "net/host/mpi_session.hpp"
#include "protocol/decentralized/mixer.hpp"
#include "run/launch.hpp"
#include "run/settings/schedule_options.hpp"

namespace starling {

namespace {

/// Says every two seconds how far the timing of edges has come.
class WaysPrinter {
 public:
  void operator()(std::size_t done, std::size_t of) {
    const auto now = std::chrono::steady_clock::now();
    if (now - said_ < between_) return;
    said_ = now;
    tell_user("timing edges: {} of {}\n", done, of);
  }

 private:
  static constexpr std::chrono::seconds between_{2};
  std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
};

class Doctor {
 public:
  explicit Doctor(World& world) : world_(world), agreement_(world) {}

  ExitCode run(const std::vector<std::string>& words) {
    agreement_.together([&] { config_ = parse_doctor_config(words); });
    agreement_.same("configuration", declare_public(config_.as_given));
    world_.set_watchdog(config_.watchdog);
    if (config_.predict) return predict_round();
    agreement_.together([&] { open_graph(); });
    agreement_.same("topology", declare_public(graph_->digest()));
    const LaunchFacts facts = look();
    const std::vector<Examined> checks = examine(facts);
    agreement_.together([&] {
      if (world_.rank() == 0) print(config_.json ? doctor_json(facts, checks) : doctor_table(facts, checks));
    });
    return verdict_of(checks) == Verdict::bad ? ExitCode::refuted : ExitCode::done;
  }

 private:
  [[nodiscard]] ExitCode predict_round();
  void open_graph();
  [[nodiscard]] LaunchFacts look();
  void require_memory(const LaunchFacts& facts, const Layout& layout, std::size_t length) const;
  [[nodiscard]] std::string words_for_graph() const;

  World& world_;
  Agreement agreement_;
  DoctorConfig config_;
  std::unique_ptr<Graph> graph_;
  std::optional<GraphSample> sample_;
};

/// **Collective.**
ExitCode Doctor::predict_round() {
  LaunchDefaults defaults{config_.topology, config_.clients, config_.clients_per_rank, config_.dimension,
                          static_cast<double>(cpus_of_this_host())};
  Launch launch;
  agreement_.together([&] {
    launch = parse_launch(*config_.predict, defaults);
    graph_ = graph_of(launch);
  });
  const Costs costs = measure_costs(world_, agreement_, launch, *graph_);
  agreement_.together([&] {
    if (world_.rank() != 0) return;
    const RoundForecast prediction = predict(launch, *graph_, costs);
    print(config_.json ? prediction_json(launch, costs, prediction) : prediction_table(launch, costs, prediction));
  });
  return ExitCode::done;
}

void Doctor::open_graph() {
  const auto ranks = static_cast<Client>(world_.size());
  std::optional<Client> asked = config_.clients;
  if (config_.clients_per_rank) asked = *config_.clients_per_rank * ranks;
  graph_ = config_.topology ? read_graph(*config_.topology)
                            : make_graph(usual_family, asked.value_or(ranks), WeightRule::sender);
  if (config_.topology) require_connected(*graph_, *config_.topology);
  const Client clients = graph_->clients();
  check(!asked || *asked == clients,
        "{} clients are asked for but the topology has {}: they must agree. Leave out --clients, or name another "
        "topology.",
        asked.value_or(0), clients);
  check(asked.has_value() || clients <= ranks,
        "{} clients on {} ranks: a rank would host several, which must be asked for. Start {} ranks, or add --clients "
        "{}.",
        clients, ranks, clients, clients);
  sample_.emplace(*graph_);
}

std::string Doctor::words_for_graph() const {
  return fmt::format("{} of {} clients, {} numbers each", config_.topology.value_or("an exponential graph"),
                     graph_->clients(), message_length(config_.dimension, Mixing::push_sum));
}

/// Each model is stored at least twice: at its sender and at its receiver.
void Doctor::require_memory(const LaunchFacts& facts, const Layout& layout, std::size_t length) const {
  std::map<std::string, double> wanted;
  for (int r = 0; r < world_.size(); ++r) {
    const RankFacts& rank = facts.ranks[static_cast<std::size_t>(r)];
    const double models = static_cast<double>(layout.count(r)) * static_cast<double>(length);
    const double bytes = wanted[rank.host] += 2 * sizeof(double) * models;
    check(!rank.memory || bytes <= static_cast<double>(*rank.memory),
          "models of {} numbers take at least {:.3g} bytes on {}, which can give {:.3g}. Make --dimension smaller, or "
          "start ranks on more hosts.",
          length, bytes, rank.host, static_cast<double>(rank.memory.value_or(0)));
  }
}

/// **Collective.**
LaunchFacts Doctor::look() {
  const Layout layout(graph_->clients(), world_.size());
  const Client first = layout.first(world_.rank());
  // A phase stands for all of its rounds, however many these are.
  const Topology& topology = sample_->topology();
  const auto phases = static_cast<Round>(topology.phases());
  const OwnLinks links = [&](Round phase) {
    std::vector<Links> own;
    for (Client u = first; u < first + layout.count(world_.rank()); ++u) {
      own.push_back(topology.phase_links(static_cast<std::size_t>(phase), u));
    }
    return own;
  };
  const std::size_t length = message_length(config_.dimension, Mixing::push_sum);
  LaunchFacts facts;
  facts.directory = directory_of(config_.output);
  facts.ranks = gather_facts(agreement_, facts.directory);
  agreement_.together([&] { require_memory(facts, layout, length); });
  facts.graph = words_for_graph();
  facts.clients = graph_->clients();
  facts.ranks_with_clients = std::min(static_cast<int>(graph_->clients()), world_.size());
  facts.clocks = measure_clock_skews(world_);
  ProbeBudget pace{.seconds = config_.seconds};
  if (world_.rank() == 0) pace.progress = WaysPrinter();
  facts.ways = probe_routes(world_, layout, links, phases, length, pace);
  facts.exchange = probe_exchange(world_, layout, links, phases, length);
  return facts;
}

}  // namespace

Command doctor_command() {
  return {.name = "doctor",
          .purpose = "looks at ranks, hosts, disk and edges before a run",
          .on_all_ranks = true,
          .manual = doctor_manual,
          .options = declarations_from<DoctorConfig, doctor_options>,
          .configuration = [](const std::vector<std::string>& words) { return parse_doctor_config(words).text; },
          .run =
              [](const Call& call) {
                return run_on_all_ranks([&](World& world) { return Doctor(world).run(call.words); }, call.errors);
              }};
}

}  // namespace starling
