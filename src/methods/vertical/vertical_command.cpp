// The rounds and results of `starling vertical`.
#include <algorithm>

#include "methods/methods.hpp"
#include "party_records.hpp"
#include "protocol/vertical/vertical_hindsight.hpp"
#include "report/pictures/pictures.hpp"
#include "vertical_run.hpp"

namespace starling {

namespace {

constexpr std::int64_t default_passes = 20;

}  // namespace

void VerticalRun::build_protocol() {
  root_.emplace(world_, *inputs_.layout);
  evaluation_.emplace(world_, *inputs_.layout);
  protocol_.emplace(*root_, *evaluation_, *data_.stream, privacy_->accounts(), *privacy_->multipart(), privacy_->keys(),
                    architecture_, *loss_of_outputs_, wire(), config_.plan);
}

/// The head stands for the run's model. The last round's test records take the place of a --test source.
Recording VerticalRun::recording() {
  TestScore test;
  if (data_.testing > 0) {
    test = [this](View) {
      const auto score = metrics_policy().share(protocol_->tested(), SharedFigure::scores_of_vertical);
      return score ? score->value() : Score();
    };
  }
  return {config_.plan.rounds,
          who_is_recorded(1, {}, dimension_),
          scores_of(loss_of_outputs_->classifies()),
          test,
          Models::one_for_all,
          {{"aggregated", "yes"}, {"parties", std::to_string(inputs_.layout->clients() - 1)}}};
}

void VerticalRun::add_observers(std::vector<Observer*>& observers, KeptParts& parts) {
  on_first_rank([&] {
    rounds_.emplace(*protocol_, *directory_, metrics_policy(), loss_of_outputs_->classifies());
    observers.push_back(&*rounds_);
  });
  parts.add("rounds", *protocol_);
  if (rounds_) parts.add("table of rounds", *rounds_);
}

void VerticalRun::write_files_of_parties() {
  agreement_.together([&] {
    if (rounds_) rounds_->flush();
    write_out_of_range(*directory_, world_.rank(), protocol_->out_of_range());
  });
}

void VerticalRun::summarise(Summary& summary, Released<Columns> models, const RoundsEnd& end) {
  write_files_of_parties();
  summary.clients = inputs_.layout->clients() - 1;
  summary.learned = true;
  summary.classifies = loss_of_outputs_->classifies();
  const MetricsPolicy policy = metrics_policy();
  LocalResults local = local_results(std::move(models), nullptr);
  local.edges = root_->edge_traffic();
  local.wire = root_->wire_traffic();
  const auto tested = policy.share(protocol_->tested(), SharedFigure::scores_of_vertical);
  if (data_.testing > 0 && tested) local.test.emplace(first_rank() ? 1 : 0, tested->value());
  if (held_out_ && end.stopped) notes_.emplace_back("metrics on --test: left out, since the run was stopped");
  if (held_out_ && !end.stopped) local.test.emplace(first_rank() ? 1 : 0, score_held_out(summary));
  gather_results(agreement_, local, policy, false, summary);
  if (first_rank()) {
    set_one_model(summary, local.models.value()[0]);
    add_figures(summary);
  }
  if (config_.static_regret && !end.stopped) add_regret(summary);
  count_evaluation(summary);
}

Score VerticalRun::score_held_out(Summary& summary) {
  PredictionTally tally({loss_of_outputs_->outputs(), loss_of_outputs_->classifies(), loss_of_outputs_->link()});
  const std::optional<Standardisation>& units = data_.label_constants.label_standardisation;
  const bool standardised = units && loss_of_outputs_->link() == Link::identity;
  const auto own_units = [&](double value) { return value * units->deviation + units->mean; };
  const Score score = protocol_->predict(*held_out_->stream, [&](View outputs, View targets) {
    if (!standardised) return tally.add(outputs, targets[0]);
    tally.add(Vector{own_units(outputs[0])}, own_units(targets[0]));
  });
  if (!first_rank()) return score;
  if (const auto& classes = summary.add(tally.metrics()).classification) {
    const auto most = std::ranges::max(classes->classes, {}, &ClassMetrics::records).records;
    summary.part<RunScores>().larger_class = static_cast<double>(most) / static_cast<double>(tally.records());
  }
  return score.of_all();
}

void VerticalRun::count_evaluation(Summary& summary) {
  std::int64_t own = 0;
  for (const EdgeTraffic& edge : evaluation_->edge_traffic()) own += edge.bytes;
  summary.part<RunTraffic>().evaluation_bytes += agreement_.sum(declare_public(own));
}

void VerticalRun::add_figures(Summary& summary) const {
  const RoundBits bits = protocol_->total_bits();
  summary.add(MessageBits{bits.up, bits.down, config_.plan.labels == LabelHolders::all, protocol_->share_of_one_level(),
                          protocol_->largest_jump()});
  RunScores& scores = summary.part<RunScores>();
  const MetricsPolicy policy = metrics_policy();
  if (const auto score = policy.share(protocol_->tallies()[0], SharedFigure::scores_of_vertical);
      score && loss_of_outputs_->is_mean_squared_error()) {
    scores.mse = score->value().loss / static_cast<double>(score->value().records);
  }
  if (config_.plan.keeps_predictions) {
    const auto predictions = policy.share(protocol_->predictions(), SharedFigure::predictions);
    if (predictions) scores.auc = area_under_roc(predictions->value()).area;
  }
}

void VerticalRun::add_regret(Summary& summary) {
  Vector own;
  for (const auto& [client, parameters] : protocol_->blocks()) {
    own.insert(own.end(), parameters.value().begin(), parameters.value().end());
  }
  const Vector all = joined(agreement_.gather(declare_public(own)));
  VerticalDataset again;
  agreement_.together([&] { again = open_source(); });
  again.shape = data_.shape;
  again.ids = data_.ids;
  align_records(agreement_, *rank_key_, again);
  VerticalArchitecture drawn = architecture_;
  drawn.start.clear();
  const Hindsight found =
      find_hindsight(*evaluation_, *again.stream, metrics_policy(), drawn, *loss_of_outputs_, blocks_of(all),
                     {summary.rounds, config_.plan.batch, config_.regret_passes.value_or(default_passes),
                      [this] { return world_.go_on_waiting(); }});
  if (!first_rank()) return;
  const auto played = metrics_policy().share(protocol_->played()[0], SharedFigure::scores_of_vertical);
  summary.add(HindsightRegret{found.loss, played->value(), found.method});
}

/// Splits all networks' parameters, one after the other from the head on, into one block for each network.
std::vector<Vector> VerticalRun::blocks_of(View all) const {
  std::vector<Vector> blocks;
  for (std::size_t k = 0; k <= architecture_.parties() && !all.empty(); ++k) {
    const std::size_t dimension = LearningBlock(architecture_, k).network().dimension();
    blocks.emplace_back(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(dimension));
    all = all.subspan(dimension);
  }
  return blocks;
}

/// A spectrum's own results are the places of its receivers.
OwnResults VerticalRun::own_results(const Summary& summary) {
  OwnResults own;
  own.model = "the final head";
  if (!config_.is_spectrum() || summary.rounds == 0) return own;
  constexpr std::size_t cells = 50;
  const auto scene = std::make_shared<SpectrumScene>(
      spectrum_scene(config_.data.source, config_.data.seed, static_cast<std::size_t>(inputs_.layout->clients() - 1),
                     summary.rounds, cells));
  const std::string folder = directory_->path();
  own.write = [=] { write_scene(folder, *scene); };
  own.draw = [=] { return std::vector<std::string>{draw_scene(folder, *scene)}; };
  return own;
}

/// Saves the networks, and names metrics that are withheld, beside those of all runs.
void VerticalRun::complete_summary(Summary& summary) {
  save_networks(summary);
  if (metrics_policy().shared()) return;
  if (loss_of_outputs_->is_mean_squared_error()) summary.withheld.emplace_back("metrics.mse");
  if (config_.plan.keeps_predictions) summary.withheld.emplace_back("metrics.auc");
}

Command vertical_command() {
  return learning_command<VerticalRun, VerticalConfig, vertical_options, complete_vertical_config>(
      "vertical", "online vertical federated learning: parties have columns, rank 0 the head", vertical_manual);
}

}  // namespace starling
