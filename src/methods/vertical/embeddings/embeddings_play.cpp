#include "embeddings_play.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include "methods/vertical/records/party_records.hpp"
#include "methods/vertical/setting/saved_parts.hpp"
#include "net/root/root.hpp"
#include "output/checkpoints/kept_parts.hpp"
#include "output/directory/run_directory.hpp"
#include "output/figures/roc.hpp"
#include "output/figures/vertical_record.hpp"
#include "privacy/mechanism/multipart_mechanism.hpp"
#include "protocol/vertical/vertical.hpp"
#include "protocol/vertical/vertical_hindsight.hpp"
#include "report/pictures/pictures.hpp"
#include "report/summary.hpp"
#include "run/privacy/run_privacy.hpp"
#include "run/results/run_results.hpp"
#include "run/stages/run_context.hpp"

namespace starling {

namespace {

constexpr std::int64_t default_passes = 20;

/// What will come of noisy embeddings of so many numbers, at the price μ of a round; empty where nothing can be said.
/// Noise of deviation 2 C √(1 + E)/μ in each number is √(numbers) times as long, an embedding C at most. On 4,000 and
/// 24,000 records of a real table the predictions of the rounds had an AUC of .48 to .52 where noise was 5 to 11 times
/// as long, and of .57 to .63 where it was 2.3 times as long (docs/vertical.md, "What is protected, and what is not").
std::string outlook_of_embeddings(double mu, Round local_steps, double numbers, bool classifies) {
  const double times = 2 * std::sqrt(static_cast<double>(1 + local_steps) * numbers) / mu;
  if (times < 1) return "";
  return fmt::format(
      "outlook: the noise in what a party sends of a record is {:.2g} times as long as an embedding can be: expect {} "
      "in the rounds. Embeddings hide each record alone; --protocol shares hides it in the sum over all",
      times,
      times >= 4 && classifies ? "an AUC near .5 of the predictions"
                               : "predictions that are much worse than without noise");
}

class EmbeddingsPlay final : public Play {
 public:
  EmbeddingsPlay(const BegunRun& begun, const Method& method, VerticalSetting& setting, EmbeddingQuantisers quantisers);

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
  /// Writes the files of this rank's parties. **Collective.**
  void write_files_of_parties();
  /// Counts the bytes of test scores and of the search in hindsight. **Collective.**
  void count_evaluation(Summary& summary);
  /// Regret against the best fixed networks in hindsight. **Collective.**
  void add_regret(Summary& summary);
  [[nodiscard]] std::vector<Vector> blocks_of(View all) const;
  /// Adds scores and counted bits. Rank 0's.
  void add_figures(Summary& summary) const;
  void note_absences(Round rounds);

  const BegunRun begun_;
  RunContext& run_ = begun_.context;
  const Method& method_;
  VerticalSetting& setting_;
  const VerticalConfig& config_ = setting_.config;
  EmbeddingQuantisers quantisers_;
  Root root_;
  Root evaluation_;
  Vertical protocol_;
  std::optional<RoundsRecorder> rounds_;  ///< rank 0's
};

EmbeddingsPlay::EmbeddingsPlay(const BegunRun& begun, const Method& method, VerticalSetting& setting,
                               EmbeddingQuantisers quantisers)
    : begun_(begun),
      method_(method),
      setting_(setting),
      quantisers_(std::move(quantisers)),
      root_(run_.world, *run_.inputs.layout),
      evaluation_(run_.world, *run_.inputs.layout),
      protocol_(root_, evaluation_, *setting.data.stream, begun.privacy->accounts(), *begun.privacy->multipart(),
                begun.privacy->keys(), setting.architecture, *setting.loss, wire(), setting.config.plan) {
  if (!config_.privacy.protects() || setting.data.is_public) return;
  const auto numbers = static_cast<double>(setting.architecture.head.input.size() / setting.architecture.parties());
  std::string outlook = outlook_of_embeddings(begun.privacy->prices().range().most, config_.plan.local_steps, numbers,
                                              setting.loss->classifies());
  if (!outlook.empty()) run_.notes.push_back(std::move(outlook));
}

/// The head stands for the run's model. The last round's test records take the place of a --test source.
Recording EmbeddingsPlay::recording() {
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

void EmbeddingsPlay::add_observers(std::vector<Observer*>& observers, KeptParts& parts) {
  run_.on_first_rank([&] {
    rounds_.emplace(protocol_, begun_.directory, run_.metrics_policy(), setting_.loss->classifies());
    observers.push_back(&*rounds_);
  });
  parts.add("rounds", protocol_);
  if (rounds_) parts.add("table of rounds", *rounds_);
}

void EmbeddingsPlay::write_files_of_parties() {
  run_.agreement.together([&] {
    if (rounds_) rounds_->flush();
    write_out_of_range(begun_.directory, run_.world.rank(),
                       "embeddings and gradients of records that were out of range, and so 0",
                       protocol_.out_of_range());
  });
}

void EmbeddingsPlay::summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) {
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
  if (setting_.held_out && !end.stopped) {
    const auto predict = [this](const auto& look) { return protocol_.predict(*setting_.held_out->stream, look); };
    local.test.emplace(run_.first_rank() ? 1 : 0, score_held_out(run_, setting_, predict, summary));
  }
  gather_results(run_.agreement, local, policy, false, summary);
  if (run_.first_rank()) {
    set_one_model(summary, local.models.value()[0]);
    add_figures(summary);
    note_absences(summary.rounds);
  }
  if (config_.static_regret && !end.stopped) add_regret(summary);
  count_evaluation(summary);
}

void EmbeddingsPlay::note_absences(Round rounds) {
  if (!config_.plan.absences) return;
  const Client parties = run_.inputs.layout->clients() - 1;
  std::int64_t absent = 0;
  for (Round t = 0; t < rounds; ++t) {
    for (Client u = 1; u <= parties; ++u) absent += config_.plan.is_absent(u, t) ? 1 : 0;
  }
  run_.notes.push_back(fmt::format("in {} of {} rounds of a party it was absent, and counted with embeddings of zeros",
                                   absent, rounds * parties));
}

void EmbeddingsPlay::count_evaluation(Summary& summary) {
  std::int64_t own = 0;
  for (const EdgeTraffic& edge : evaluation_.edge_traffic()) own += edge.bytes;
  summary.part<RunTraffic>().evaluation_bytes += run_.agreement.sum(declare_public(own));
}

void EmbeddingsPlay::add_figures(Summary& summary) const {
  const RoundBits bits = protocol_.total_bits();
  summary.add(MessageBits{bits.up, bits.down, config_.plan.labels == LabelHolders::all, protocol_.share_of_one_level(),
                          protocol_.largest_jump()});
  RunScores& scores = summary.part<RunScores>();
  const MetricsPolicy policy = run_.metrics_policy();
  if (const auto score = policy.share(protocol_.played().tallies[0], SharedFigure::scores_of_vertical);
      score && setting_.loss->is_mean_squared_error()) {
    scores.mse = score->value().loss / static_cast<double>(score->value().records);
  }
  if (config_.plan.keeps_predictions) {
    const auto predictions = policy.share(protocol_.predictions(), SharedFigure::predictions);
    if (predictions) scores.auc = area_under_roc(predictions->value()).area;
  }
}

void EmbeddingsPlay::add_regret(Summary& summary) {
  Vector own;
  for (const auto& [client, parameters] : protocol_.blocks()) {
    own.insert(own.end(), parameters.value().begin(), parameters.value().end());
  }
  const Vector all = joined(run_.agreement.gather(declare_public(own)));
  VerticalDataset again;
  run_.agreement.together([&] { again = setting_.open_source(run_.first_rank()); });
  again.shape = setting_.data.shape;
  again.ids = setting_.data.ids;
  if (config_.matches_in_private()) {
    run_.agreement.together([&] { setting_.take_matched(again); });
  } else {
    align_records(run_.agreement, *setting_.rank_key, again);
  }
  VerticalArchitecture drawn = setting_.architecture;
  drawn.start.clear();
  const Hindsight found =
      find_hindsight(evaluation_, *again.stream, run_.metrics_policy(), drawn, *setting_.loss, blocks_of(all),
                     {summary.rounds, config_.plan.batch, config_.regret_passes.value_or(default_passes),
                      [this] { return run_.world.go_on_waiting(); }});
  if (!run_.first_rank()) return;
  const auto played = run_.metrics_policy().share(protocol_.played().objectives[0], SharedFigure::scores_of_vertical);
  summary.add(HindsightRegret{found.loss, played->value(), found.method});
}

/// Splits all networks' parameters, one after the other from the head on, into one block for each network.
std::vector<Vector> EmbeddingsPlay::blocks_of(View all) const {
  std::vector<Vector> blocks;
  for (std::size_t k = 0; k <= setting_.architecture.parties() && !all.empty(); ++k) {
    const std::size_t dimension = LearningBlock(setting_.architecture, k).network().dimension();
    blocks.emplace_back(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(dimension));
    all = all.subspan(dimension);
  }
  return blocks;
}

/// A spectrum's own results are the places of its receivers.
OwnResults EmbeddingsPlay::own_results(const Summary& summary) {
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
void EmbeddingsPlay::complete_summary(Summary& summary) {
  SavedParts(begun_, setting_, protocol_.embedding_clip()).save(summary, protocol_.blocks());
  if (run_.metrics_policy().shared()) return;
  if (setting_.loss->is_mean_squared_error()) summary.withheld.emplace_back("metrics.mse");
  if (config_.plan.keeps_predictions) summary.withheld.emplace_back("metrics.auc");
}

VerticalWire EmbeddingsPlay::wire() const {
  VerticalWire wire;
  wire.embeddings = [this](Round t) -> const Quantiser& {
    return quantisers_.bits.empty()
               ? *quantisers_.quantiser
               : *quantisers_.by_bits[static_cast<std::size_t>(quantisers_.bits[static_cast<std::size_t>(t)])];
  };
  wire.head = quantiser_table().make(config_.head_quantiser);
  wire.exact = quantiser_table().make(config_.precision == Precision::full ? "double" : "float32");
  return wire;
}

}  // namespace

std::unique_ptr<Play> make_embeddings_play(const BegunRun& begun, const Method& method, VerticalSetting& setting,
                                           EmbeddingQuantisers quantisers) {
  return std::make_unique<EmbeddingsPlay>(begun, method, setting, std::move(quantisers));
}

}  // namespace starling
