#include "histogram_counts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/batch.hpp"
#include "core/numerics/kernels.hpp"
#include "data/serving/dataset.hpp"
#include "privacy/histograms/score_sums.hpp"
#include "run/settings/tuned_config.hpp"

namespace starling {

namespace {

constexpr std::size_t records_at_once = 1024;  ///< persons one by one

/// Sums of the norms of these records, and of the magnitudes of their labels.
RowNorms sum_of_norms(const Batch& batch, const Batch::Range& records, double constant) {
  RowNorms sum;
  for (std::size_t i = records.first; i < records.first + records.count; ++i) {
    const View row = batch.row(i).values;
    sum.l2 += std::sqrt(dot(row, row) + constant);
    sum.l1 += norm1(row) + constant;
    sum.label += std::abs(batch.label(i));
  }
  return sum;
}

/// Takes means of these features over those of these records that have them, and of labels if there is one entry more.
/// NaN where none has one.
void take_means(const Batch& batch, const Batch::Range& records, const std::vector<std::size_t>& features,
                MutableView means) {
  for (std::size_t j = 0; j < means.size(); ++j) {
    double sum = 0;
    double count = 0;
    for (std::size_t i = records.first; i < records.first + records.count; ++i) {
      const double value = j < features.size() ? batch.row(i).values[features[j]] : batch.label(i);
      if (std::isnan(value)) continue;
      sum += value;
      count += 1;
    }
    means[j] = sum / count;
  }
}

/// The class that most of these records have, the first of these.
std::size_t class_of(const Batch& batch, const Batch::Range& records, std::size_t classes) {
  std::vector<std::size_t> own(classes);
  for (std::size_t i = records.first; i < records.first + records.count; ++i) {
    const double label = batch.label(i);  // a binary loss has -1 and 1
    const std::size_t k = label > 0 ? static_cast<std::size_t>(label) : 0;
    if (k < classes) ++own[k];
  }
  return static_cast<std::size_t>(std::ranges::max_element(own) - own.begin());
}

/// Reads a planned stream to its end. `count` gets each record, or all records of each person.
Secret<Counts> counted(Stream& stream, std::size_t length,
                       const std::function<void(const Batch&, const Batch::Range&, Counts&)>& count) {
  Secret<Counts> counts{Counts(length)};
  for (Round t = 0; !stream.ended(t); ++t) {
    counts.update(
        [&](Counts& all, const Batch& batch) {
          for (std::size_t k = 0; k < batch.units(); ++k) {
            const Batch::Range records = batch.by_person() ? batch.person(k) : Batch::Range{k, 1};
            if (records.count > 0) count(batch, records, all);
          }
        },
        stream.next(t));
  }
  return counts;
}

}  // namespace

Batching counting_batches(const DataSettings& data) {
  return {data.person.empty() ? records_at_once : 1, 1};
}

void plan_counting(const DataSettings& data, Dataset& dataset, std::int64_t most_records) {
  dataset.plan(counting_batches(data), most_records);
}

void complete_facts(HistogramFacts& facts, const TunedMethod& method, std::int64_t most_records, RunFacts of_run,
                    Dataset& dataset) {
  const DataSettings& data = method.config.data;
  const RuleFacts of_rule = method.facts(most_records, 1);
  method.check_before_release(learning_rule(of_rule).rounds_of_pass * data.epochs);
  facts.uses = data.epochs;
  facts.run = std::move(of_run);
  facts.rounds_of_pass = most_rounds_of_pass(of_rule);
  plan_counting(data, dataset, most_records);
  for (const auto& stream : dataset.streams) facts.records.push_back(stream->records().value_or(0));
}

Secret<Counts> count_norms(Stream& stream, const NormHistogram& histogram, bool intercept, bool person_mean) {
  const double constant = intercept ? 1 : 0;
  return counted(stream, histogram.length(), [&](const Batch& batch, const Batch::Range& records, Counts& counts) {
    const RowNorms sum = sum_of_norms(batch, records, constant);
    const double share = person_mean ? static_cast<double>(records.count) : 1;
    histogram.count({sum.l2 / share, sum.l1 / share, sum.label / share}, counts);
  });
}

Secret<Counts> count_gradients(Stream& stream, const NormHistogram& histogram, Model& model, View point,
                               bool person_mean) {
  Batch part;
  Vector gradient;
  return counted(stream, histogram.length(), [&](const Batch& batch, const Batch::Range& records, Counts& counts) {
    part.show(batch, records.first, records.count);
    const Score score = model.evaluate(point, part, {}, gradient);
    if (score.records == 0) return;
    const double share = person_mean ? static_cast<double>(records.count) : 1;
    const double label = sum_of_norms(batch, records, 0).label;
    histogram.count({norm2(gradient) / share, norm1(gradient) / share, label / share}, counts);
  });
}

Secret<Counts> count_features(Stream& stream, const FeatureHistograms& histograms,
                              const std::vector<std::size_t>& features, View origins, std::size_t classes) {
  Vector means(histograms.histograms());
  return counted(stream, histograms.length(), [&](const Batch& batch, const Batch::Range& records, Counts& counts) {
    take_means(batch, records, features, means);
    for (std::size_t j = 0; j < features.size(); ++j) means[j] -= origins[j];
    if (classes > 0) means.back() = std::ldexp(1.0, static_cast<int>(class_of(batch, records, classes)));
    histograms.count(means, counts);
  });
}

Secret<Counts> sum_features(Stream& stream, const FeatureMeans& means, const std::vector<std::size_t>& features) {
  const FeatureMeans::Parts& parts = means.parts();
  Vector values(features.size() + (parts.label ? 1 : 0));
  return counted(stream, means.length(), [&](const Batch& batch, const Batch::Range& records, Counts& counts) {
    take_means(batch, records, features, values);
    means.add(values, parts.classes > 0 ? class_of(batch, records, parts.classes) : 0, counts);
  });
}

Secret<Counts> sum_within(Stream& stream, const FeatureMeans& means, const std::vector<std::size_t>& features,
                          const std::vector<ValueRange>& ranges) {
  Vector values(ranges.size());
  return counted(stream, means.length(), [&](const Batch& batch, const Batch::Range& records, Counts& counts) {
    take_means(batch, records, features, values);
    const std::size_t bin = RangeHistograms::bin_of(values.back(), ranges.back());
    for (std::size_t j = 0; j < features.size(); ++j) values[j] = ranges[j].place_of(values[j]);
    means.add(View(values).first(features.size()), 1 + bin, counts);
  });
}

Secret<Counts> sum_scores(Stream& stream, const std::function<void(const Batch&, Vector&)>& scores) {
  Batch part;
  Vector own;
  return counted(stream, ScoreSums::form().length(),
                 [&](const Batch& batch, const Batch::Range& records, Counts& sums) {
                   part.show(batch, records.first, records.count);
                   scores(part, own);
                   ScoreSums::Parts means;
                   const auto count = static_cast<double>(records.count);
                   for (std::size_t i = 0; i < records.count; ++i) {
                     const ScoreSums::Parts parts = ScoreSums::parts_of(own[i], part.label(i));
                     means.excess += parts.excess / count;
                     means.slope += parts.slope / count;
                   }
                   ScoreSums::add(means, sums);
                 });
}

Secret<Counts> count_within(Stream& stream, const RangeHistograms& histograms,
                            const std::vector<std::size_t>& features) {
  Vector means(histograms.histograms());
  return counted(stream, histograms.length(), [&](const Batch& batch, const Batch::Range& records, Counts& counts) {
    take_means(batch, records, features, means);
    histograms.count(means, counts);
  });
}

}  // namespace starling
