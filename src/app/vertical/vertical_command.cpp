// The rounds of `starling vertical`, and what they come to.
#include "app/commands.hpp"
#include "app/run/launch.hpp"
#include "vertical_run.hpp"

#include "starling/protocol/vertical/vertical_hindsight.hpp"
#include "starling/report/pictures/scene_picture.hpp"

namespace starling {

namespace {

constexpr std::int64_t default_passes = 20;

}  // namespace

ExitCode VerticalRun::play() {
  root_.emplace(world_, *layout_);
  evaluation_.emplace(world_, *layout_);
  Vertical protocol(*root_, *evaluation_, *data_.stream, privacy_->accounts(), *privacy_->multipart(), privacy_->keys(),
                    architecture_, *loss_of_outputs_, wire(), config_.plan);
  const Round planned = config_.plan.rounds;
  find_checkpoint(planned);
  open_vertical_records(protocol);
  std::vector<Observer*> observers = recorders();
  std::optional<RoundsRecorder> rounds;
  agreement_.together([&] {
    if (!first_rank()) return;
    rounds.emplace(protocol, *directory_, metrics_policy(), loss_of_outputs_->classifies());
    observers.push_back(&*rounds);
  });
  KeptParts parts;
  parts.add("rounds", protocol);
  if (rounds) parts.add("table of rounds", *rounds);
  start_checkpoints(std::move(parts));
  observers.push_back(last_observer());
  const double wall = time_rounds([&] { protocol.run(observers); });

  const bool stopped = protocol.done() < planned;
  checkpoint_the_end(protocol.done(), stopped);
  finish_records(protocol, protocol.done(), protocol.models());
  if (stopped) note_stop(protocol.done(), planned, "round", is_resumable());
  agreement_.together([&] {
    if (rounds) rounds->flush();
    write_networks(*directory_, world_.rank(), protocol.blocks());
    write_out_of_range(*directory_, world_.rank(), protocol.out_of_range());
  });
  Summary summary = begin_summary(planned, wall);
  gather(protocol, summary);
  if (config_.static_regret && !stopped) add_regret(protocol, summary);
  count_evaluation(summary);
  finish_summary(summary, stopped);
  name_own_metrics(summary);
  agreement_.together([&] {
    if (first_rank()) write_results(summary, stopped, "the final head", scene_results(protocol.done()));
  });
  if (!stopped) drop_checkpoints(protocol.done());
  return stopped ? ExitCode::stopped_safely : ExitCode::done;
}

/// Of the head, which stands for the run's model; the last round's test records take the place of a --test source.
void VerticalRun::open_vertical_records(const Vertical& protocol) {
  TestScore test;
  if (data_.testing > 0) {
    test = [this, &protocol](View) {
      const auto score = metrics_policy().share(protocol.tested(), SharedFigure::scores_of_vertical);
      return score ? score->value() : Score();
    };
  }
  open_records({config_.plan.rounds,
                who_is_recorded(1, {}, dimension_),
                loss_of_outputs_->classifies() ? Scores::losses_and_accuracies : Scores::losses,
                test,
                Models::one_for_all,
                {{"aggregated", "yes"}, {"parties", std::to_string(layout_->clients() - 1)}}});
}

void VerticalRun::gather(const Vertical& protocol, Summary& summary) {
  summary.clients = layout_->clients() - 1;
  summary.rounds = protocol.done();
  summary.learned = true;
  summary.classifies = loss_of_outputs_->classifies();
  const MetricsPolicy policy = metrics_policy();
  LocalResults local{protocol.models(),
                     Vector(protocol.masses().begin(), protocol.masses().end()),
                     Vector(protocol.masses().size(), 0.0),
                     protocol.tallies(),
                     root_->edge_traffic(),
                     root_->wire_traffic(),
                     protocol.time_shares(),
                     std::nullopt,
                     0,
                     first_rank() ? std::optional(protocol.done()) : std::nullopt};
  const auto tested = policy.share(protocol.tested(), SharedFigure::scores_of_vertical);
  if (data_.testing > 0 && tested) local.test.emplace(first_rank() ? 1 : 0, tested->value());
  gather_results(agreement_, local, policy, false, summary);
  if (!first_rank()) return;
  set_one_model(summary, protocol.models().value()[0]);
  summary.vertical = figures_of(protocol);
}

/// What scores of test records and the search in hindsight have needed. **Collective.**
void VerticalRun::count_evaluation(Summary& summary) {
  std::int64_t own = 0;
  for (const EdgeTraffic& edge : evaluation_->edge_traffic()) own += edge.bytes;
  summary.evaluation_bytes += agreement_.sum(declare_public(own));
}

VerticalFigures VerticalRun::figures_of(const Vertical& protocol) const {
  VerticalFigures figures;
  figures.rounds = static_cast<double>(protocol.done());
  figures.bits = protocol.total_bits();
  figures.broadcast = config_.plan.labels == LabelHolders::all;
  const MetricsPolicy policy = metrics_policy();
  if (const auto score = policy.share(protocol.tallies()[0], SharedFigure::scores_of_vertical);
      score && config_.loss == "mse") {
    figures.mse = score->value().loss / static_cast<double>(score->value().records);
  }
  if (config_.plan.keeps_predictions) {
    const auto predictions = policy.share(protocol.predictions(), SharedFigure::predictions);
    if (predictions) figures.auc = area_under_roc(predictions->value());
  }
  return figures;
}

void VerticalRun::add_regret(const Vertical& protocol, Summary& summary) {
  Vector own;
  for (const auto& [client, parameters] : protocol.blocks()) {
    own.insert(own.end(), parameters.value().begin(), parameters.value().end());
  }
  Vector all;
  for (const Vector& of_rank : agreement_.gather(declare_public(own))) {
    all.insert(all.end(), of_rank.begin(), of_rank.end());
  }
  VerticalDataset again;
  agreement_.together([&] { again = open_source(); });
  align(*again.stream);
  const Hindsight found =
      find_hindsight(*evaluation_, *again.stream, metrics_policy(), architecture_, *loss_of_outputs_, blocks_of(all),
                     {summary.rounds, config_.plan.batch, config_.regret_passes.value_or(default_passes),
                      [this] { return world_.go_on_waiting(); }});
  if (!first_rank()) return;
  summary.vertical->hindsight = found.loss;
  summary.vertical->hindsight_method = found.method;
  summary.vertical->played = metrics_policy().share(protocol.played()[0], SharedFigure::scores_of_vertical)->value();
}

/// All networks' parameters, one after the other from the head on.
std::vector<Vector> VerticalRun::blocks_of(View all) const {
  std::vector<Vector> blocks;
  for (std::size_t k = 0; k <= architecture_.parties() && !all.empty(); ++k) {
    const std::size_t dimension = LearningBlock(architecture_, k).network().dimension();
    blocks.emplace_back(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(dimension));
    all = all.subspan(dimension);
  }
  return blocks;
}

/// Of a spectrum: where its receivers went.
LearningRun::OwnResults VerticalRun::scene_results(Round rounds) const {
  if (!config_.is_spectrum() || rounds == 0) return {};
  constexpr std::size_t cells = 50;
  const auto scene = std::make_shared<SpectrumScene>(spectrum_scene(
      config_.data.source, config_.data.seed, static_cast<std::size_t>(layout_->clients() - 1), rounds, cells));
  const std::string folder = directory_->path();
  return {[=] { write_scene(folder, *scene); }, [=] { return std::vector<std::string>{draw_scene(folder, *scene)}; }};
}

/// Beside what all runs withhold.
void VerticalRun::name_own_metrics(Summary& summary) const {
  if (metrics_policy().shared()) return;
  if (config_.loss == "mse") summary.withheld.emplace_back("metrics.mse");
  if (config_.plan.keeps_predictions) summary.withheld.emplace_back("metrics.auc");
}

int run_vertical(const std::vector<std::string>& words, const std::string& command_line, bool speaks) {
  return run_command(
      words, speaks, vertical_help, [&] { return parse_vertical_config(words).text; },
      [&](World& world) { return VerticalRun(world, command_line).run(words); });
}

}  // namespace starling
