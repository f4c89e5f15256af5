/// Counts of records, for the histograms that clients release before the first round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/boundary.hpp"
#include "data/stream.hpp"
#include "model/model.hpp"
#include "privacy/histograms/feature_histograms.hpp"
#include "privacy/histograms/feature_means.hpp"
#include "privacy/histograms/norm_histogram.hpp"
#include "privacy/histograms/range_histograms.hpp"
#include "run/privacy/histogram_release.hpp"
#include "tuned_method.hpp"

namespace starling {

struct Dataset;

/// Batches for a pass over all records, in which each is looked at once.
[[nodiscard]] Batching counting_batches(const DataSettings& data);
/// Has streams begin a pass over all records. The rounds are planned later.
void plan_counting(const DataSettings& data, Dataset& dataset, std::int64_t most_records);

/// Completes the facts that a command's releases of histograms share, and has streams begin a pass over all records.
/// `of_run` is a run of one round. Throws what would end the run later on. Rank-local.
void complete_facts(HistogramFacts& facts, const TunedMethod& method, std::int64_t most_records, RunFacts of_run,
                    Dataset& dataset);

/// Reads a planned stream to its end and counts its records. The intercept's 1 belongs to a record. A person counts
/// once, by the mean of its records' norms or, unless `person_mean`, their sum.
[[nodiscard]] Secret<Counts> count_norms(Stream& stream, const NormHistogram& histogram, bool intercept,
                                         bool person_mean);

/// Likewise of the norms of gradients at a point, unclipped. A person counts by the norm of the mean of its records'
/// gradients or, unless `person_mean`, of their sum. A record out of range is not counted.
[[nodiscard]] Secret<Counts> count_gradients(Stream& stream, const NormHistogram& histogram, Model& model, View point,
                                             bool person_mean);

/// Likewise of these features of dense records, each less its origin, and of their labels if there is one histogram
/// more: of so many `classes`, class k as the value 2^k, or of numbers where these are 0. A person counts once, by the
/// means of its records, and in the class that most of them have, the first of these.
[[nodiscard]] Secret<Counts> count_features(Stream& stream, const FeatureHistograms& histograms,
                                            const std::vector<std::size_t>& features, View origins,
                                            std::size_t classes);
/// Adds up these features of dense records, and what else `means` is of. A person counts once, as above.
[[nodiscard]] Secret<Counts> sum_features(Stream& stream, const FeatureMeans& means,
                                          const std::vector<std::size_t>& features);
/// Likewise of features within ranges, and of the label's bin in the last of these, as a class
/// after the first.
[[nodiscard]] Secret<Counts> sum_within(Stream& stream, const FeatureMeans& means,
                                        const std::vector<std::size_t>& features,
                                        const std::vector<ValueRange>& ranges);
/// Adds up scores and labels of records (ScoreSums). `scores` writes those of a batch. A person counts once, by the
/// means of what its records add.
[[nodiscard]] Secret<Counts> sum_scores(Stream& stream, const std::function<void(const Batch&, Vector&)>& scores);
/// Counts these features of records within ranges, and then labels if there is one range more. A person counts once, by
/// means.
[[nodiscard]] Secret<Counts> count_within(Stream& stream, const RangeHistograms& histograms,
                                          const std::vector<std::size_t>& features);

}  // namespace starling
