// The rounds and results of `starling vertical`.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "methods/methods.hpp"
#include "net/root/root.hpp"
#include "output/figures/vertical_record.hpp"
#include "party_records.hpp"
#include "protocol/vertical/vertical_hindsight.hpp"
#include "report/pictures/pictures.hpp"
#include "run/life_cycle.hpp"
#include "run/results/run_results.hpp"
#include "vertical_method.hpp"

namespace starling {

namespace {

constexpr std::int64_t default_passes = 20;

class VerticalPlay final : public Play {
 public:
  VerticalPlay(const BegunRun& begun, const Method& method, VerticalSetting& setting);

  [[nodiscard]] Recording recording() override;
  void add_observers(std::vector<Observer*>& observers, KeptParts& parts) override;
  void run(const std::vector<Observer*>& observers) override { protocol_.run(observers); }
  [[nodiscard]] RoundsEnd end() override { return RoundsEnd::in_step(protocol_.done(), config_.plan.rounds); }
  [[nodiscard]] const RoundView& view() const override { return protocol_; }
  [[nodiscard]] TimeShares time_shares() const override { return protocol_.time_shares(); }
  [[nodiscard]] Released<Columns> final_models() override { return protocol_.models(); }
  void summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) override;
  void complete_summary(Summary& summary) override;
  [[nodiscard]] OwnResults own_results(const Summary& summary) override;

 private:
  [[nodiscard]] VerticalWire wire() const;
  /// Adds the metrics of the parties' predictions of --test. Returns their score. **Collective.**
  [[nodiscard]] Score score_held_out(Summary& summary);
  /// Writes the files of this rank's parties. **Collective.**
  void write_files_of_parties();
  /// Counts the bytes of test scores and of the search in hindsight. **Collective.**
  void count_evaluation(Summary& summary);
  /// Regret against the best fixed networks in hindsight. **Collective.**
  void add_regret(Summary& summary);
  [[nodiscard]] std::vector<Vector> blocks_of(View all) const;
  /// Adds scores and counted bits. Rank 0's.
  void add_figures(Summary& summary) const;
  /// Whether all may have the parties' networks.
  [[nodiscard]] bool shares_networks() const;
  /// Whether the run ends with a model that can be applied to new records.
  [[nodiscard]] bool keeps_model() const;
  [[nodiscard]] SavedModel part_of_run(Client client, View parameters) const;
  /// Writes model.h5, or the parts of this rank. **Collective.**
  void save_networks(const Summary& summary);

  const BegunRun begun_;
  RunContext& run_ = begun_.context;
  const Method& method_;
  VerticalSetting& setting_;
  const VerticalConfig& config_ = setting_.config;
  Root root_;
  Root evaluation_;
  Vertical protocol_;
  std::optional<RoundsRecorder> rounds_;  ///< rank 0's
};

/// Makes the model file of a run directory out of the parts of so many clients, which are then removed.
void join_parts(const std::string& folder, Client clients) {
  std::vector<SavedModel> parties;
  for (Client client = 1; client < clients; ++client) {
    parties.push_back(read_model(fmt::format("{}/{}", folder, part_file_name(client))));
  }
  write_model(fmt::format("{}/{}", folder, model_file_name),
              joined_model(read_model(fmt::format("{}/{}", folder, part_file_name(0))), std::move(parties)));
  for (Client client = 0; client < clients; ++client) {
    std::filesystem::remove(fmt::format("{}/{}", folder, part_file_name(client)));
  }
}

VerticalPlay::VerticalPlay(const BegunRun& begun, const Method& method, VerticalSetting& setting)
    : begun_(begun),
      method_(method),
      setting_(setting),
      root_(run_.world, *run_.inputs.layout),
      evaluation_(run_.world, *run_.inputs.layout),
      protocol_(root_, evaluation_, *setting.data.stream, begun.privacy->accounts(), *begun.privacy->multipart(),
                begun.privacy->keys(), setting.architecture, *setting.loss, wire(), setting.config.plan) {}

/// The head stands for the run's model. The last round's test records take the place of a --test source.
Recording VerticalPlay::recording() {
  TestScore test;
  if (setting_.data.testing > 0) {
    test = [this](View) {
      const auto score = run_.metrics_policy().share(protocol_.tested(), SharedFigure::scores_of_vertical);
      return score ? score->value() : Score();
    };
  }
  Recording recording{config_.plan.rounds,
                      who_is_recorded(1, {}, method_.dimension()),
                      scores_of(setting_.loss->classifies()),
                      test,
                      Models::one_for_all,
                      {{"aggregated", "yes"}, {"parties", std::to_string(run_.inputs.layout->clients() - 1)}}};
  recording.evaluates = config_.static_regret;
  return recording;
}

void VerticalPlay::add_observers(std::vector<Observer*>& observers, KeptParts& parts) {
  run_.on_first_rank([&] {
    rounds_.emplace(protocol_, begun_.directory, run_.metrics_policy(), setting_.loss->classifies());
    observers.push_back(&*rounds_);
  });
  parts.add("rounds", protocol_);
  if (rounds_) parts.add("table of rounds", *rounds_);
}

void VerticalPlay::write_files_of_parties() {
  run_.agreement.together([&] {
    if (rounds_) rounds_->flush();
    write_out_of_range(begun_.directory, run_.world.rank(), protocol_.out_of_range());
  });
}

void VerticalPlay::summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) {
  write_files_of_parties();
  summary.clients = run_.inputs.layout->clients() - 1;
  summary.learned = true;
  summary.classifies = setting_.loss->classifies();
  const MetricsPolicy policy = run_.metrics_policy();
  LocalResults local = local_results(run_, method_, *this, std::move(models), nullptr);
  local.edges = root_.edge_traffic();
  local.wire = root_.wire_traffic();
  const auto tested = policy.share(protocol_.tested(), SharedFigure::scores_of_vertical);
  if (setting_.data.testing > 0 && tested) local.test.emplace(run_.first_rank() ? 1 : 0, tested->value());
  if (setting_.held_out && end.stopped)
    run_.notes.emplace_back("metrics on --test: left out, since the run was stopped");
  if (setting_.held_out && !end.stopped) local.test.emplace(run_.first_rank() ? 1 : 0, score_held_out(summary));
  gather_results(run_.agreement, local, policy, false, summary);
  if (run_.first_rank()) {
    set_one_model(summary, local.models.value()[0]);
    add_figures(summary);
  }
  if (config_.static_regret && !end.stopped) add_regret(summary);
  count_evaluation(summary);
}

Score VerticalPlay::score_held_out(Summary& summary) {
  PredictionTally tally({setting_.loss->outputs(), setting_.loss->classifies(), setting_.loss->link()});
  const std::optional<Standardisation>& units = setting_.data.label_constants.label_standardisation;
  const bool standardised = units && setting_.loss->link() == Link::identity;
  const auto own_units = [&](double value) { return value * units->deviation + units->mean; };
  const Score score = protocol_.predict(*setting_.held_out->stream, [&](View outputs, View targets) {
    if (!standardised) return tally.add(outputs, targets[0]);
    tally.add(Vector{own_units(outputs[0])}, own_units(targets[0]));
  });
  if (!run_.first_rank()) return score;
  if (const auto& classes = summary.add(tally.metrics()).classification) {
    const auto most = std::ranges::max(classes->classes, {}, &ClassMetrics::records).records;
    summary.part<RunScores>().larger_class = static_cast<double>(most) / static_cast<double>(tally.records());
  }
  return score.of_all();
}

void VerticalPlay::count_evaluation(Summary& summary) {
  std::int64_t own = 0;
  for (const EdgeTraffic& edge : evaluation_.edge_traffic()) own += edge.bytes;
  summary.part<RunTraffic>().evaluation_bytes += run_.agreement.sum(declare_public(own));
}

void VerticalPlay::add_figures(Summary& summary) const {
  const RoundBits bits = protocol_.total_bits();
  summary.add(MessageBits{bits.up, bits.down, config_.plan.labels == LabelHolders::all, protocol_.share_of_one_level(),
                          protocol_.largest_jump()});
  RunScores& scores = summary.part<RunScores>();
  const MetricsPolicy policy = run_.metrics_policy();
  if (const auto score = policy.share(protocol_.tallies()[0], SharedFigure::scores_of_vertical);
      score && setting_.loss->is_mean_squared_error()) {
    scores.mse = score->value().loss / static_cast<double>(score->value().records);
  }
  if (config_.plan.keeps_predictions) {
    const auto predictions = policy.share(protocol_.predictions(), SharedFigure::predictions);
    if (predictions) scores.auc = area_under_roc(predictions->value()).area;
  }
}

void VerticalPlay::add_regret(Summary& summary) {
  Vector own;
  for (const auto& [client, parameters] : protocol_.blocks()) {
    own.insert(own.end(), parameters.value().begin(), parameters.value().end());
  }
  const Vector all = joined(run_.agreement.gather(declare_public(own)));
  VerticalDataset again;
  run_.agreement.together([&] { again = setting_.open_source(run_.first_rank()); });
  again.shape = setting_.data.shape;
  again.ids = setting_.data.ids;
  align_records(run_.agreement, *setting_.rank_key, again);
  VerticalArchitecture drawn = setting_.architecture;
  drawn.start.clear();
  const Hindsight found =
      find_hindsight(evaluation_, *again.stream, run_.metrics_policy(), drawn, *setting_.loss, blocks_of(all),
                     {summary.rounds, config_.plan.batch, config_.regret_passes.value_or(default_passes),
                      [this] { return run_.world.go_on_waiting(); }});
  if (!run_.first_rank()) return;
  const auto played = run_.metrics_policy().share(protocol_.played()[0], SharedFigure::scores_of_vertical);
  summary.add(HindsightRegret{found.loss, played->value(), found.method});
}

/// Splits all networks' parameters, one after the other from the head on, into one block for each network.
std::vector<Vector> VerticalPlay::blocks_of(View all) const {
  std::vector<Vector> blocks;
  for (std::size_t k = 0; k <= setting_.architecture.parties() && !all.empty(); ++k) {
    const std::size_t dimension = LearningBlock(setting_.architecture, k).network().dimension();
    blocks.emplace_back(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(dimension));
    all = all.subspan(dimension);
  }
  return blocks;
}

/// A spectrum's own results are the places of its receivers.
OwnResults VerticalPlay::own_results(const Summary& summary) {
  OwnResults own;
  own.model = "the final head";
  if (!config_.is_spectrum() || summary.rounds == 0) return own;
  constexpr std::size_t cells = 50;
  const auto scene = std::make_shared<SpectrumScene>(
      spectrum_scene(config_.data.source, config_.data.seed,
                     static_cast<std::size_t>(run_.inputs.layout->clients() - 1), summary.rounds, cells));
  const std::string folder = begun_.directory.path();
  own.write = [=] { write_scene(folder, *scene); };
  own.draw = [=](const auto& /*history*/) { return std::vector<std::string>{draw_scene(folder, *scene)}; };
  return own;
}

/// Saves the networks, and names metrics that are withheld, beside those of all runs.
void VerticalPlay::complete_summary(Summary& summary) {
  save_networks(summary);
  if (run_.metrics_policy().shared()) return;
  if (setting_.loss->is_mean_squared_error()) summary.withheld.emplace_back("metrics.mse");
  if (config_.plan.keeps_predictions) summary.withheld.emplace_back("metrics.auc");
}

bool VerticalPlay::keeps_model() const {
  return !config_.is_spectrum() && !config_.plan.central && setting_.data.columns_are_features;
}

bool VerticalPlay::shares_networks() const {
  if (config_.networks != NetworksChoice::automatic) return config_.networks == NetworksChoice::shared;
  return (config_.privacy.protects() || setting_.data.is_public) && !setting_.starts_from_parts;
}

SavedModel VerticalPlay::part_of_run(Client client, View parameters) const {
  SavedModel part;
  const auto network = [&](const Architecture& own) {
    return PartForm{{own, config_.precision}, setting_.architecture.parties()};
  };
  part.parameters.assign(parameters.begin(), parameters.end());
  if (client == 0) {
    part.form = HeadForm{network(setting_.architecture.head)};
    part.loss = setting_.loss->loss_of_scores();
    part.scores = setting_.loss->outputs();
    part.features = setting_.architecture.head.input.size();
    part.constants = setting_.data.label_constants;
    return part;
  }
  const std::size_t hosted = static_cast<std::size_t>(client - 1) - setting_.first_party();
  const Clip clip = protocol_.embedding_clip();
  const auto party = static_cast<std::size_t>(client);
  EmbeddingForm form{network(setting_.architecture.features[party - 1]), party};
  part.features = form.architecture.input.size();
  part.scores = setting_.architecture.head.input.size() / setting_.architecture.parties();
  part.constants = setting_.data.constants[hosted];
  if (clip.kind != ClipKind::none) form.bound = clip.bound;
  if (!setting_.data.places.empty()) {
    form.places = setting_.data.places[hosted];
    form.table_features = setting_.data.table_features;
  }
  part.form = std::move(form);
  return part;
}

void VerticalPlay::save_networks(const Summary& summary) {
  const bool shared = shares_networks();
  run_.agreement.together([&] {
    if (shared || !keeps_model()) write_networks(begun_.directory, run_.world.rank(), protocol_.blocks());
  });
  if (!keeps_model()) return;
  auto origin = origin_of_model(begun_, summary);
  for (auto& [key, value] : origin) value = run_.agreement.broadcast(declare_public(value));  // rank 0 has all figures
  run_.agreement.together([&] {
    for (const auto& [client, parameters] : protocol_.blocks()) {
      SavedModel part = part_of_run(client, parameters.value());
      part.origin = origin;
      const std::string name = part_file_name(client);
      const std::string path = shared ? begun_.directory.file(name, run_.world.rank())
                                      : fmt::format("{}/{}", begun_.directory.private_folder(run_.world.rank()), name);
      make_folder_of(path);
      write_model(path, part, shared ? ModelReaders::all : ModelReaders::owner);
    }
  });
  if (!shared) return;
  begun_.directory.bring_in(run_.agreement);
  run_.on_first_rank([&] { join_parts(begun_.directory.path(), run_.inputs.layout->clients()); });
}

VerticalWire VerticalPlay::wire() const {
  VerticalWire wire;
  wire.embeddings = [this](Round t) -> const Quantiser& {
    return setting_.bits.empty()
               ? *setting_.quantiser
               : *setting_.by_bits[static_cast<std::size_t>(setting_.bits[static_cast<std::size_t>(t)])];
  };
  wire.head = quantiser_table().make(config_.head_quantiser);
  wire.exact = quantiser_table().make(config_.precision == Precision::full ? "float64" : "float32");
  return wire;
}

}  // namespace

std::unique_ptr<Play> VerticalMethod::make(const BegunRun& begun) {
  return std::make_unique<VerticalPlay>(begun, *this, setting_);
}

Command vertical_command() {
  return learning_command<VerticalMethod, VerticalConfig, vertical_options, complete_vertical_config>(
      "vertical", "online vertical federated learning: parties have columns, rank 0 the head", vertical_manual);
}

}  // namespace starling
