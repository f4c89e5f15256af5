#include "protocol/vertical/vertical_hindsight.hpp"

#include <algorithm>

#include "codec/quantiser.hpp"
#include "core/check.hpp"
#include "core/numerics/kernels.hpp"
#include "loss/target_loss.hpp"
#include "protocol/vertical/vertical_predictions.hpp"
#include "protocol/vertical/vertical_settings.hpp"

namespace starling {

namespace {

/// The records of a round.
struct PlayedRound {
  std::vector<Vector> columns;  ///< of each party
  Vector targets;
};

/// All rounds' records on rank 0; empty on other ranks.
std::vector<PlayedRound> bring_records(Root& evaluation, VerticalStream& stream, const MetricsPolicy& policy,
                                       const VerticalArchitecture& architecture, std::size_t targets, Round rounds) {
  const auto doubles = quantiser_table().make("double");
  std::vector<std::size_t> widths;
  for (const Architecture& party : architecture.features) widths.push_back(party.input.size());
  const std::size_t before = evaluation.first() == 0 ? 1 : 0;  // clients of this rank that are not parties
  Released<std::vector<std::byte>> messages = declare_public(std::vector<std::byte>());
  Released<Vector> own = declare_public(Vector());
  std::vector<PlayedRound> played;
  for (Round t = 0; t < rounds; ++t) {
    stream.load(t);
    std::vector<std::size_t> lengths{0};
    for (const std::size_t width : widths) lengths.push_back(stream.learning() * width);
    evaluation.collect(
        lengths,
        [&](std::size_t local) -> const Released<Vector>& {
          own = *policy.share(stream.inputs(local - before), SharedFigure::columns_of_parties);
          own.update(
              [&](Vector& numbers) { numbers.resize(lengths[static_cast<std::size_t>(evaluation.first()) + local]); });
          return own;
        },
        *doubles, messages);
    if (!evaluation.aggregates()) continue;
    PlayedRound round;
    decode_rows(messages.value(), *doubles, widths, stream.learning(), round.columns);
    round.targets = policy.share(stream.targets(), SharedFigure::labels)->value();
    round.targets.resize(stream.learning() * targets);
    played.push_back(std::move(round));
  }
  return played;
}

Score play(JointNetwork& network, const PlayedRound& round) {
  return network.play(std::vector<View>(round.columns.begin(), round.columns.end()), round.targets);
}

double total_loss(JointNetwork& network, const std::vector<PlayedRound>& rounds, double batch) {
  double total = 0;
  for (const PlayedRound& round : rounds) total += play(network, round).loss / batch;
  return total;
}

/// One pass; false if it was interrupted.
bool learn(JointNetwork& network, const std::vector<PlayedRound>& rounds, double step, double batch,
           const std::function<bool()>& go_on) {
  std::vector<Vector> gradients;
  for (const PlayedRound& round : rounds) {
    if (!go_on()) return false;
    static_cast<void>(play(network, round));
    network.gradients(gradients);
    for (std::size_t b = 0; b < gradients.size(); ++b) {
      scale(1 / batch, gradients[b]);
      network.blocks()[b].step(step, Released<Vector>(declare_public(gradients[b])));
    }
  }
  return true;
}

}  // namespace

Hindsight find_hindsight(Root& evaluation, VerticalStream& stream, const MetricsPolicy& policy,
                         VerticalArchitecture architecture, const TargetLoss& loss, const std::vector<Vector>& last,
                         const HindsightSettings& settings) {
  check(policy.shared(),
        "--regret while metrics are private: the comparator is fitted to all records without noise. Leave it out, or "
        "share metrics with --metrics shared.");
  const std::vector<PlayedRound> rounds =
      bring_records(evaluation, stream, policy, architecture, loss.targets(), settings.rounds);
  Released<Vector> more =
      declare_public(Vector{1});  // broadcast after each pass, so that no rank waits for longer than one pass
  if (!evaluation.aggregates()) {
    while (more.value()[0] != 0) evaluation.broadcast(more);
    return {};
  }
  architecture.optimiser = OptimiserKind::adam;
  const auto batch = static_cast<double>(settings.batch);
  const auto go_on = [&] {
    evaluation.still_here();
    return settings.go_on();
  };
  Hindsight best;
  bool found = false;
  bool goes_on = true;
  for (const bool from_last : {true, false}) {
    JointNetwork network(architecture, loss);
    for (std::size_t b = 0; from_last && b < last.size(); ++b) network.blocks()[b].set(declare_public(last[b]));
    for (std::int64_t pass = from_last ? 0 : 1; goes_on && pass <= settings.passes; ++pass) {
      if (pass > 0) {
        const double done =
            settings.passes > 1 ? static_cast<double>(pass - 1) / static_cast<double>(settings.passes - 1) : 0;
        goes_on = learn(network, rounds, settings.step * (1 - 0.9 * done), batch, go_on);
      }
      const double total = total_loss(network, rounds, batch);
      evaluation.broadcast(more);
      if (found && !(total < best.loss)) continue;
      found = true;
      best = {total, fmt::format("the best networks after {} of {} passes of Adam from {}", pass, settings.passes,
                                 from_last ? "the last ones" : "the start values")};
    }
  }
  more = declare_public(Vector{0});
  evaluation.broadcast(more);
  return best;
}

}  // namespace starling
