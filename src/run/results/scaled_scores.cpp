#include "scaled_scores.hpp"

#include <vector>

#include "core/numerics/kernels.hpp"
#include "output/directory/run_directory.hpp"
#include "output/model_file/scorer.hpp"
#include "privacy/histograms/score_sums.hpp"
#include "privacy/ledger/accounts.hpp"
#include "protocol/observer.hpp"
#include "run/privacy/run_privacy.hpp"
#include "run/resumption/kept_notes.hpp"
#include "run/stages/run_context.hpp"
#include "run/tuning/releases/histogram_counts.hpp"
#include "run_results.hpp"

namespace starling {

namespace {

/// The mean of the models of clients that are there, by their masses, as model.h5 has it. **Collective.**
Vector mean_model(Agreement& agreement, const RoundView& view, const Released<Columns>& models) {
  const View masses = view.masses();
  const auto weighted = post_process(
      [&](const Columns& all) {
        Columns rows(all.rows() + 1, all.size());
        for (std::size_t k = 0; k < all.size(); ++k) {
          const double weight = !view.is_there(k) ? 0 : masses[k];
          axpy(weight, all[k], rows[k].first(all.rows()));
          rows[k].back() = weight;
        }
        return rows;
      },
      models);
  Vector mean = agreement.ordered_sum(weighted);
  const double mass = mean.back();
  mean.pop_back();
  scale(1 / mass, mean);
  return mean;
}

/// Marks the release, before it is made. A release of other models must not follow: no ledger has it. **Collective.**
bool may_release(const BegunRun& begun) {
  RunContext& run = begun.context;
  if (run.scores_released && run.inputs.members.has_changed()) {
    run.notes.emplace_back(
        "probabilities: sums of scores may have been released before clients left or joined, and are not released "
        "again. The scores stay as they are");
    return false;
  }
  run.on_first_rank([&] {
    if (!run.is_resumable()) return;
    KeptNotes kept = KeptNotes::parse(begun.directory.notes(), begun.directory.notes_file());
    kept.scores_released = true;
    begun.directory.keep_notes(kept.text());
  });
  return true;
}

/// The sums of this rank's clients over all their records. **Collective.**
std::vector<Secret<Counts>> sums_of_clients(const BegunRun& begun, const ScoreSource& records,
                                            const SavedModel& model) {
  RunContext& run = begun.context;
  std::vector<Secret<Counts>> sums;
  run.agreement.together([&] {
    Scorer scorer(model);
    for (std::size_t k = 0; k < records.streams.size(); ++k) {
      Secret<Counts> own(Counts(ScoreSums::form().length()));
      if (begun.privacy->scores(k)) {
        records.streams[k]->plan(counting_batches(run.common().data));
        own = sum_scores(*records.streams[k], [&](const Batch& batch, Vector& scores) { scorer.score(batch, scores); });
      }
      sums.push_back(std::move(own));
    }
  });
  return sums;
}

/// The note on probabilities that a factor within the bounds does not make right.
std::string note_on_cut(double factor) {
  return fmt::format(
      "probabilities: the sums show a factor further from 1 than {:.3g}, which one look cannot tell, so that the "
      "model's probabilities are {}. Classes and ranks of records are not touched",
      factor,
      factor > 1 ? "still too near one half: it has learned too little. Play more passes (--epochs), or take longer "
                   "steps (--step)"
                 : "still too near 0 and 1: its scores are mostly noise. Take more records or a larger price, or give "
                   "shorter steps (--step)");
}

}  // namespace

std::optional<ScaledScores> scale_scores(const BegunRun& begun, const Play& play, const Outcome& outcome,
                                         Released<Columns>& models) {
  RunContext& run = begun.context;
  const bool has_share = begun.privacy != nullptr && run.common().privacy.score_share.value_or(0) > 0;
  const std::optional<ScoreSource>& records = outcome.recording.scored;
  if (!has_share || !records || outcome.end.stopped || !may_release(begun)) return std::nullopt;
  std::optional<SavedModel> model = play.saved_model();
  model->parameters = mean_model(run.agreement, play.view(), models);
  const SumsOfScores sums = begun.privacy->release_scores(records->path, sums_of_clients(begun, *records, *model));
  if (sums.records == 0) {
    run.notes.emplace_back("probabilities: the scores stay as they are, since no budget allows sums of them");
    return std::nullopt;
  }
  const ScoreFactor found = score_factor(sums.sums, sums.deviation, sums.records);
  const ScaledScores scaled{run.agreement.broadcast(declare_public(found.factor)), found.error};
  models.update([&](Columns& all) { scale(scaled.factor, all.flat()); });
  run.notes.push_back(fmt::format(
      "probabilities: the scores of the final model are multiplied by {:.3g}, as sums over all records show after the "
      "last round, with a standard error of {:.2g} in the logarithm. --score-share 0 leaves them as they are",
      scaled.factor, scaled.error));
  if (found.cut) run.notes.push_back(note_on_cut(scaled.factor));
  return scaled;
}

}  // namespace starling
