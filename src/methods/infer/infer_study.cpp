// Coverage of the intervals of `starling infer`, by independent runs on a generator.
#include <bit>
#include <chrono>
#include <cmath>

#include "core/text/spec.hpp"
#include "data/generators/synthetic.hpp"
#include "data/serving/dataset.hpp"
#include "engine/infer_engine.hpp"
#include "files/tell_user.hpp"
#include "infer_method.hpp"
#include "interval_results.hpp"
#include "loss/loss.hpp"
#include "output/directory/run_directory.hpp"
#include "output/intervals/study.hpp"
#include "privacy/ledger/accounts.hpp"
#include "privacy/pairs/pair_noise.hpp"
#include "privacy/statement/statement.hpp"
#include "report/summary.hpp"
#include "run/privacy/run_privacy.hpp"
#include "run/results/result_files.hpp"
#include "run/results/run_results.hpp"
#include "run/stages/run_context.hpp"

namespace starling {

namespace {

Vector truth_of(const std::string& source, std::size_t dimension) {
  const std::vector<double> coefficients = make_generator(source, {})->coefficients();
  check(coefficients.empty() || coefficients.size() == dimension,
        "--replications with --intercept no: the generator '{}' has an intercept, so the other coefficients would have "
        "no known values. Leave --intercept out.",
        source);
  check(!coefficients.empty(),
        "--replications with '{}': it has no true coefficients to compare with. Use synthetic:linear, logistic, "
        "expectile, insurance or rides.",
        source);
  return Vector(coefficients.begin(), coefficients.end());
}

template <class Family>
Spec bound_spec(const Family& family, std::string_view text) {
  Spec spec = Spec::parse(text);
  for (const auto& row : family.rows()) {
    if (row.name == spec.name()) spec.bind(row.parameters);
  }
  return spec;
}

/// The losses that estimate the coefficients of a generator, for a message; empty if this one does.
std::string losses_of_truth(const std::string& source, const std::string& loss_text, const CurvedLoss& loss) {
  const Spec generator = bound_spec(generator_table(), std::string_view(source).substr(source.find(':') + 1));
  const Spec of_loss = bound_spec(loss_table(), loss_text);
  if (generator.name() == "counts") return of_loss.name() == "poisson" ? "" : "poisson";
  if (generator.name() == "logistic") return of_loss.name() == "logistic" ? "" : "logistic";
  const double tau = generator.name() == "expectile" ? generator.number("tau", 0.7) : 0.5;
  if (tau == 0.5) return loss.is_symmetric() ? "" : "squared or huber";
  const double c = generator.number("c", 1.345);
  const bool agrees =
      of_loss.name() == "expectile" && of_loss.number("tau", 0.5) == tau && of_loss.number("c", 1.345) == c;
  return agrees ? "" : fmt::format("expectile:{},{}", tau, c);
}

/// Intervals of one run on records and noise of its own; nothing if a signal has stopped the run. **Collective.**
std::optional<std::vector<IntervalsAt>> replicate(const BegunRun& begun, InferParts& parts, std::int64_t r) {
  RunContext& run = begun.context;
  const InferConfig& config = parts.config;
  DataSettings data = config.data;
  data.seed += static_cast<std::uint64_t>(r);
  Dataset dataset;
  run.agreement.together([&] { dataset = run.inputs.opened_again(data); });
  std::vector<ServedRounds> served;
  for (const auto& stream : dataset.streams) {
    served.push_back({stream->records(), stream->rounds_of_pass(), stream->rounds()});
  }
  // Noise differs from run to run, since its streams follow from what it is added to.
  Accounts accounts(begun.privacy->protection(), begun.privacy->prices(), config.sgd.steps, run.inputs.first_client(),
                    served);
  if (const auto& pairs = begun.privacy->protection().settings().pairs) pairs->begin_replication(r);
  const std::unique_ptr<InferEngine> engine = make_engine(begun, parts, std::move(dataset.streams), accounts);
  const std::unique_ptr<IntervalResults> intervals = make_interval_results(*parts.interval_facts, *engine);
  engine->run(intervals->observers());
  if (rounds_done(run.agreement, *engine) < config.sgd.steps) return std::nullopt;
  return intervals->all_along();
}

/// There is neither one model nor one loss: the cells are the results.
void write_study_results(const BegunRun& begun, const InferParts& parts, std::size_t dimension, const Study& study,
                         std::int64_t replications, double wall) {
  RunContext& run = begun.context;
  const InferConfig& config = parts.config;
  Summary summary = begin_summary(begun, dimension, config.sgd.steps, wall);
  summary.rounds = config.sgd.steps;
  summary.aggregated = !parts.schedule;
  const auto& cells = summary.add(study.cells());
  // Each of Newton's rounds is a release of every record.
  const double releases = config.newton() ? static_cast<double>(config.sgd.steps) : 1;
  const double price = begun.privacy->prices().range().most * std::sqrt(releases);
  if (replications > 0)
    run.notes.push_back(
        fmt::format("{} replications of {} steps, with seeds {} to {}, {}", replications, config.sgd.steps,
                    config.data.seed, config.data.seed + static_cast<std::uint64_t>(replications) - 1,
                    !config.privacy.protects() ? std::string("without noise")
                                               : fmt::format("at mu = {:.6g} for a record in all", price)));
  parts.note_hidden(run);
  summary.notes = run.notes;
  write_summary(begun.directory, summary);
  write_study(begun.directory.path(), cells);
  print_summary(summary, config);
}

}  // namespace

void InferMethod::check_truth() const {
  static_cast<void>(truth_of(config_.data.source, dimension_));
  const std::string others = losses_of_truth(config_.data.source, config_.loss, *parts_.loss);
  check(others.empty(),
        "--replications with '{}' and --loss {}: the loss estimates other coefficients than those of the generator, so "
        "that its intervals need not cover them. Use --loss {}.",
        config_.data.source, config_.loss, others);
}

std::optional<ExitCode> InferMethod::study(const BegunRun& begun) {
  if (config_.replications == 0) return std::nullopt;
  const Vector truth = truth_of(config_.data.source, dimension_);
  const bool speaks = run_.first_rank() && config_.progress != ProgressChoice::off;
  Study study;
  run_.world.watch_signals();
  const auto began = std::chrono::steady_clock::now();
  std::int64_t done = 0;
  for (; done < config_.replications; ++done) {
    const auto path = replicate(begun, parts_, done);
    if (!path) break;
    if (run_.first_rank()) {
      for (const IntervalsAt& at : *path) study.add(at, truth);
    }
    if (speaks && std::has_single_bit(static_cast<std::uint64_t>(done + 1))) {
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      tell_user("replication {} of {}: {:.3g} s each\n", done + 1, config_.replications,
                seconds / static_cast<double>(done + 1));
    }
  }
  const bool stopped = done < config_.replications;
  if (stopped)
    run_.notes.push_back(fmt::format("stopped by a signal after {} of {} replications", done, config_.replications));
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  static_cast<void>(begun.privacy->finish(stopped));
  run_.on_first_rank([&] { write_study_results(begun, parts_, dimension_, study, done, wall); });
  return stopped ? ExitCode::stopped_safely : ExitCode::done;
}

}  // namespace starling
