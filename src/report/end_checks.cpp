#include "report/end_checks.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/numerics/kernels.hpp"
#include "output/figures/divergence.hpp"
#include "output/figures/effective_weights.hpp"
#include "output/figures/model_path.hpp"
#include "output/figures/test_metrics.hpp"
#include "output/intervals/interval.hpp"
#include "protocol/renewable/online_renewable.hpp"

namespace starling {

namespace {

/// Information on an intercept that a batch has at least.
constexpr double telling = 10;
constexpr double telling_of_look = 1.2;  ///< likewise, where a second look has moved little
/// Standard errors that the mean score of later batches is off by chance.
constexpr double usual_drift = 5;
constexpr double usual_move = 0.75;  ///< standard errors, of a second look
/// Share of messages of one level that costs little.
constexpr double rarely = 0.1;

/// Part of its way that a model has come where it is taken to have arrived: 1 - e^-2.
constexpr double arrived = 0.865;
/// Steadiness of the second half of a path (PathFigures), which noise exceeds in one of 2,000 runs of one parameter.
constexpr double steady = 0.6;

/// Area under the ROC curve of models that tell classes apart, however little accuracy shows it.
constexpr double telling_area = 0.55;

/// Share of the larger of two classes, from which on the other one is called rare.
constexpr double share_beside_rare = 0.75;

/// Size of a message over the largest before it, where embeddings only grow as networks learn.
constexpr double usual_jump = 10;

using Note = std::optional<std::string>;

/// Disagreement of clients that have averaged, as a share of that of their starts.
constexpr double averaged = 0.05;
/// Disagreement that a run's exchanges leave of what it began with.
constexpr double mixed = 0.05;
/// Distance of a client's model to the mean model, as a share of the norm of that.
constexpr double agreeing = 0.25;

Note divergence(const EndOfRun& run) {
  const Summary& summary = run.summary;
  if (!summary.learned) return std::nullopt;
  const RunScores& scores = summary.get<RunScores>();
  const double last_loss = scores.last_loss.value_or(NetworkFigures::unknown);
  const double test_loss = scores.test && scores.test->records > 0
                               ? scores.test->loss / static_cast<double>(scores.test->records)
                               : NetworkFigures::unknown;
  return note_of_divergence({run.history, last_loss, test_loss, summary.classifies, run.round_records, run.test_records,
                             summary.get<FinalModels>().mean, run.remedies});
}

Note constant_class(const EndOfRun& run) {
  const RunScores& scores = run.summary.get<RunScores>();
  if (!run.summary.learned || !scores.test || !scores.larger_class) return std::nullopt;
  const auto records = static_cast<double>(scores.test->records);
  const double constant = *scores.larger_class * records;
  const auto correct = static_cast<double>(scores.test->correct);
  if (correct > constant + 2 * std::sqrt(constant * (1 - *scores.larger_class))) return std::nullopt;
  const auto* const metrics = run.summary.find<TestMetrics>();
  if (metrics != nullptr && metrics->classification && metrics->classification->roc) {
    const RocArea& roc = *metrics->classification->roc;
    if (correct > constant && roc.area - 2 * roc.standard_error > telling_area) return std::nullopt;
    const bool ranks = roc.area - 2 * roc.standard_error > 0.5 && correct <= constant;
    const bool has_option = run.summary.command == "omd" || run.summary.command == "fedavg";
    if (correct == 0 && roc.area == 0.5 && has_option) {
      return fmt::format(
          "the scores of all records of --test are 0, which answers no class: their features are 0, or the model is. A "
          "constant answer has {:.2f} %. Add --intercept",
          100 * *scores.larger_class);
    }
    if (ranks && *scores.larger_class < share_beside_rare) {
      return fmt::format(
          "the models tell the classes apart (AUC {:.3f}), and their scores are 0 or on the wrong side of it: a "
          "constant answer ({:.2f} %) has no less accuracy on --test. Go by probabilities (starling predict){}",
          roc.area, 100 * *scores.larger_class, has_option ? ", or add --intercept" : "");
    }
    if (ranks) {
      return fmt::format(
          "one class is rare, so that a constant answer ({:.2f} %) has no less accuracy on --test; the models tell the "
          "classes apart all the same (AUC {:.3f}). Go by probabilities (starling predict), not by predicted classes",
          100 * *scores.larger_class, roc.area);
    }
  }
  return fmt::format(
      "the models are {} better on --test than a constant answer ({:.2f} %): {}take more records, more "
      "passes{} or fewer features",
      correct > constant ? "hardly" : "no", 100 * *scores.larger_class,
      run.scaled ? "" : "give features one scale (--standardise, --ranges), or ",
      run.protects ? ", a larger price" : "");
}

/// Likewise of a loss that predicts another part of labels than their middle.
Note constant_tail(const EndOfRun& run) {
  const RunScores& scores = run.summary.get<RunScores>();
  const double loss = scores.test->loss / static_cast<double>(scores.test->records);
  if (loss < *scores.constant_loss) return std::nullopt;
  return fmt::format(
      "the models are no better on --test than the best constant answer (a mean loss of {:.4g}, and of {:.4g}): {}take "
      "more records, more passes{} or fewer features",
      loss, *scores.constant_loss, run.scaled ? "" : "give features and label one scale (--standardise, --ranges), or ",
      run.protects ? ", a larger price" : "");
}

Note constant_number(const EndOfRun& run) {
  if (run.summary.learned && run.summary.get<RunScores>().constant_loss) return constant_tail(run);
  const auto* const metrics = run.summary.find<TestMetrics>();
  if (!run.summary.learned || metrics == nullptr || !metrics->regression || !(metrics->regression->r2 <= 0))
    return std::nullopt;
  return fmt::format(
      "the model is no better on --test than a constant answer, the mean of its labels (R2 = {:.3g} %): {}take more "
      "records, more passes{} or fewer features",
      100 * metrics->regression->r2,
      run.scaled ? "" : "give features and label one scale (--standardise, --ranges), or ",
      run.protects ? ", a larger price" : "");
}

/// The note on a regression whose losses are private. Features of a few large scales leave it far from the labels, and
/// nothing shows that.
Note unseen_number(const EndOfRun& run) {
  const Summary& summary = run.summary;
  const RunScores& scores = summary.get<RunScores>();
  const bool seen = scores.progressive || scores.test || summary.find<TestMetrics>() != nullptr;
  if (!summary.learned || summary.classifies || seen || !run.protects || run.scaled || !run.predicts)
    return std::nullopt;
  return "nothing shows whether the model is better than a constant answer: features and labels have units of their "
         "own, in which noise can hide everything, and losses are private. Give public constants (--standardise, "
         "--ranges), and --test to see how well it predicts";
}

Note out_of_range(const EndOfRun& run) {
  const std::optional<Score>& progressive = run.summary.get<RunScores>().progressive;
  if (!progressive || progressive->out_of_range == 0) return std::nullopt;
  return fmt::format(
      "{} times a record was out of range (its gradient not finite or too long to be clipped, so that it contributed "
      "nothing, or its loss not finite): scale the features, or take a smaller --step",
      progressive->out_of_range);
}

Note weights(const EndOfRun& run) {
  const auto* const weights = run.summary.find<EffectiveWeights>();
  return weights != nullptr && weights->named > 0 ? Note(note_on_weights(*weights)) : std::nullopt;
}

/// The note on slow mixing, which depends on the graph alone.
Note mixing(const EndOfRun& run) {
  const std::optional<double> left = run.summary.get<Consensus>().left;
  if (!left || *left <= mixed) return std::nullopt;
  return fmt::format(
      "the graph is slow for so few rounds: at its rate of mixing the run's exchanges leave {:.3g} % of a disagreement "
      "between clients. Play more --rounds, raise --gossip-steps, or give slow edges more weight (starling topology "
      "check)",
      100 * *left);
}

/// The note on clients that average numbers and have not finished.
Note averages(const EndOfRun& run) {
  const auto first = std::ranges::find(run.history, Round{0}, &NetworkFigures::done);
  if (run.summary.learned || first == run.history.end() || !(first->consensus_error > 0)) return std::nullopt;
  const double left = std::sqrt(run.summary.get<Consensus>().error / first->consensus_error);
  if (left <= averaged) return std::nullopt;
  return fmt::format(
      "not averaged: clients' numbers still lie {:.3g} % as far from their mean as at the start. Play more --rounds, "
      "raise --gossip-steps, or take a graph that mixes faster (starling topology check)",
      100 * left);
}

/// The note on clients that learn and do not agree.
Note agreement(const EndOfRun& run) {
  const Summary& summary = run.summary;
  if (!summary.learned || summary.aggregated || summary.clients == 1) return std::nullopt;
  const double error = summary.get<Consensus>().error;
  const double apart = std::sqrt(error) / norm2(summary.get<FinalModels>().mean);
  const bool rounding = error < 1e-12;
  if (rounding || !(apart > agreeing)) return std::nullopt;
  return fmt::format(
      "clients do not agree: the root mean square distance of their models to the mean model is {:.3g} times its norm. "
      "{}Raise --gossip-steps, play more --rounds with shorter steps (--step), or take a graph that mixes faster",
      apart, run.protects ? "Noise is part of that, and less of it is in the mean model (model.h5). " : "");
}

/// The note on messages as rank 0 receives them.
Note quantiser(const EndOfRun& run) {
  const auto* const bits = run.summary.find<MessageBits>();
  if (bits == nullptr || bits->one_level <= rarely) return std::nullopt;
  return fmt::format(
      "the quantiser hides the embeddings: in {:.3g} % of the parties' messages 15 of 16 numbers have one level, as if "
      "a few far out had widened the range. Scale the columns (--standardise, --ranges), or send more bits "
      "(--quantiser)",
      100 * bits->one_level);
}

/// The note on batches with an outlier: all its numbers come to rank 0 as if they were large.
Note outlier(const EndOfRun& run) {
  const auto* const bits = run.summary.find<MessageBits>();
  if (bits == nullptr || !(bits->jump > usual_jump)) return std::nullopt;
  return fmt::format(
      "a single batch may have spoilt the model: a party's quantised message was {:.3g} times as large as any before "
      "it, as if by an outlier. Scale the columns (--standardise, --ranges), leave the record out, or send more bits "
      "(--quantiser)",
      bits->jump);
}

/// The note on a rare class: steps of little information are off by more than intervals know. A second look at all
/// batches needs less.
Note information(const EndOfRun& run) {
  const auto* const batches = run.summary.find<BatchScores>();
  if (batches == nullptr || run.summary.get<RunIntervals>().intervals.empty()) return std::nullopt;
  const double wanted = batches->moved ? telling_of_look : telling;
  if (!(batches->information < wanted)) return std::nullopt;
  return fmt::format(
      "the intervals may be off: a class is rare, and a batch tells {:.2g} of its intercept (sum of p (1 - p) over its "
      "records) where {:g} are wanted. Take larger batches (--batch)",
      batches->information, wanted);
}

/// The note on first batches that were unlike the others, as of one class: a second look finds most of what they moved.
Note second_look(const EndOfRun& run) {
  const auto* const batches = run.summary.find<BatchScores>();
  if (batches == nullptr || run.summary.get<RunIntervals>().intervals.empty() ||
      !(batches->moved.value_or(0) > usual_move))
    return std::nullopt;
  return fmt::format(
      "the intervals may be off: a second look at the sums of all batches moved a coefficient by {:.2g} of its "
      "standard errors, as where the first batches hold one class, and may have left half of that. Give records in "
      "random order, or larger batches (--batch)",
      *batches->moved);
}

/// Scores of later batches at the models before them have mean zero, unless records are in some order.
Note scores(const EndOfRun& run) {
  const auto* const batches = run.summary.find<BatchScores>();
  if (batches == nullptr || !(batches->drift > usual_drift)) return std::nullopt;
  return fmt::format(
      "the estimate has not settled: over the second half of the batches the scores of an intercept add up to {:.3g} "
      "standard errors of 0, and not {:g} at most. Give records in random order, or larger batches (--batch)",
      batches->drift, usual_drift);
}

/// A path that still goes one way, more than noise explains, where it has come less far than most of the way.
Note arrival(const EndOfRun& run, const char* advice) {
  const auto* const path = run.summary.find<PathFigures>();
  if (path == nullptr || !(path->covered < arrived) || !(path->steadiness > steady)) return std::nullopt;
  return fmt::format(
      "the model has not arrived: it still moves steadily in one direction, and has come {:.2g} % of the way that its "
      "path leads. Unless the records drift, {}",
      100 * path->covered, advice);
}

Note arrival_by_steps(const EndOfRun& run) {
  return arrival(run, "raise --step or play more rounds (--epochs, --rounds)");
}

/// The note on a model that has not arrived by the stated curvature, which is that of the largest features.
Note arrival_by_curvature(const EndOfRun& run) {
  return arrival(run,
                 "give features the scale of the clip (--standardise, --scale), let curvatures be released "
                 "(--curvature-model), or take more batches");
}

Note settling(const EndOfRun& run) {
  return note_of_settling(run.summary.get<RunIntervals>().settling, run.scaled);
}

}  // namespace

const std::vector<EndCheck>& end_checks() {
  static const std::vector<std::string> all{"omd", "fedavg", "renewable", "infer", "vertical"};
  static const std::vector<std::string> over_graphs{"omd", "infer"};
  static const std::vector<EndCheck> checks{{"divergence", all, divergence},
                                            {"constant class", all, constant_class},
                                            {"constant number", all, constant_number},
                                            {"unseen number", {"omd", "fedavg"}, unseen_number},
                                            {"records out of range", all, out_of_range},
                                            {"weights", over_graphs, weights},
                                            {"mixing time", over_graphs, mixing},
                                            {"averages", {"omd"}, averages},
                                            {"agreement", {"omd"}, agreement},
                                            {"arrival", {"omd", "fedavg"}, arrival_by_steps},
                                            {"arrival by curvature", {"renewable"}, arrival_by_curvature},
                                            {"settling", {"infer"}, settling},
                                            {"quantiser", {"vertical"}, quantiser},
                                            {"outlier", {"vertical"}, outlier},
                                            {"information", {"renewable"}, information},
                                            {"second look", {"renewable"}, second_look},
                                            {"scores", {"renewable"}, scores}};
  return checks;
}

std::vector<std::string> notes_at_end(const EndOfRun& run) {
  std::vector<std::string> notes;
  for (const EndCheck& check : end_checks()) {
    if (std::ranges::find(check.commands, run.summary.command) == check.commands.end()) continue;
    if (auto note = check.note(run)) notes.push_back(std::move(*note));
  }
  return notes;
}

}  // namespace starling
