/// The rule of `starling vertical --protocol shares`: all settings of a run from public numbers
/// (docs/methods/shares.md, "The rule").
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "privacy/shares/share_holder.hpp"
#include "protocol/vertical/vertical_settings.hpp"

namespace starling {

class TargetLoss;

class SharesRule {
 public:
  /// `columns` of each party count the column of ones at the party `labels_at`. `contributors` are the `rows` of
  /// records, or persons with a public number of rows each. Throws UsageError where sums do not fit into 64 bits.
  SharesRule(const TargetLoss& loss, std::vector<std::size_t> columns, std::size_t rows, std::size_t contributors,
             std::size_t labels_at, Round rounds);

  [[nodiscard]] const SharesTerms& terms() const { return terms_; }
  [[nodiscard]] const SharedSteps& steps() const { return steps_; }
  /// The protection of the run's releases; `settings` have the prices.
  [[nodiscard]] std::unique_ptr<Protection> protection(ReleaseSettings settings, bool noisy) const;
  /// The number of rounds whose histograms of the columns, each at this price, together show how large values are; 0
  /// where those would be too many of the rounds.
  [[nodiscard]] Round scale_rounds(double price) const;
  /// The number of further rounds that look within the ranges which `octaves` rounds have shown; 0 where they would
  /// have twice the noise, or were too many of the rounds.
  [[nodiscard]] Round within_rounds(Round octaves) const;
  /// What the rule has set, in a sentence without a full stop. `columns` says what columns are, in brackets.
  [[nodiscard]] std::string in_words(const std::string& columns) const;
  /// What will come of a run whose opened means have this noise, in a sentence without a full stop; empty without
  /// noise. `standardised`: columns are known to be.
  [[nodiscard]] std::string outlook(double deviation, bool standardised) const;

 private:
  [[nodiscard]] double row_bound() const;

  SharesTerms terms_;
  SharedSteps steps_;
  double unit_ = 1;  ///< size of a slope that matters
};

}  // namespace starling
