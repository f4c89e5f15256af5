/// One party of learning on shares: what it computes from its own columns, and the words that it sends
/// (docs/methods/shares.md, "A round").
///
/// Every message is `Masked`: words that are uniform for whoever receives them, or, in the last step, shares of a sum
/// with noise.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/boundary.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/shares/dealing.hpp"
#include "privacy/shares/shared_gaussian.hpp"
#include "privacy/shares/shared_rows.hpp"
#include "privacy/shares/slope_polynomial.hpp"

namespace starling {

/// The public terms of a run on shares.
struct SharesTerms {
  SharesShape shape;
  /// Records, or under unit person persons: each moves the sums by as much as one record, and they are divided by this
  /// number.
  std::size_t contributors = 0;
  int fraction_bits = 20;          ///< f: fractional bits of columns, and of slopes
  std::vector<double> row_bounds;  ///< R_k, of each party's rows in L2
  std::vector<double> balls;       ///< B_k, of each party's part of each output's model in L2
  /// Whether labels enter the argument of the slope, P((Σ z_k − y)/T); else they are subtracted, P(Σ z_k/T) − y. With
  /// several outputs a label is a class, and 1 is subtracted from the slope of its output.
  bool residual = false;
  double label_bound = 1;     ///< Y: labels are clipped to [−Y, Y]
  std::size_t labels_at = 0;  ///< the party with the labels, from 0
  std::shared_ptr<const SlopePolynomial> slope;

  /// Columns that may be standardised: those of all parties but that of ones, and labels that are numbers.
  [[nodiscard]] std::size_t scaled_columns() const { return shape.all_columns() - (residual ? 0 : 1); }
  /// Σ R_k B_k, and Y where labels enter: the scale T of the argument.
  [[nodiscard]] double argument_scale() const;
  /// The largest argument that party k adds, as an integer: the sum over all parties is at most SlopePolynomial::one.
  [[nodiscard]] std::int64_t most_argument(std::size_t k) const;
  /// The bound on all rows of party k's part of the model together: of rows whose sum is 0 it bounds each by B_k.
  [[nodiscard]] double ball_of_all(std::size_t k) const;
  /// S: the largest slope of a record as an integer, with the last place that truncation may add; of several outputs
  /// the largest L2 norm of its slopes, one of which has a label of 1.
  [[nodiscard]] std::int64_t most_slope() const;
  /// The terms of the sums.
  [[nodiscard]] SharedSumTerms sum_terms(bool noisy) const;
};

class ShareHolder : private Release {
 public:
  /// Party k, from 0, with the key that it shares with the dealer. Keeps a reference to `terms`.
  ShareHolder(const SharesTerms& terms, std::size_t k, const NoiseKey& key);

  /// Takes the party's columns, n × d_k, row after row, and its labels if it has them (else an empty vector). Labels
  /// are 0 or 1 where they are subtracted, or with several outputs classes 0, …, C − 1. `records_of_person` is as
  /// `shared_rows` has it.
  void hold(const Secret<Vector>& rows, const Secret<Vector>& labels,
            std::span<const std::size_t> records_of_person = {});
  /// Number of rows and labels that were out of bounds.
  [[nodiscard]] const Secret<std::int64_t>& clipped() const { return clipped_; }

  /// X_k − A_k, for all other parties, once.
  [[nodiscard]] Masked masked_rows() const;
  /// Takes another party's.
  void take_rows(std::size_t of, std::vector<Word> masked);

  /// Begins a round, with the dealer's correction if this is the last party.
  void begin(Round t, std::span<const Word> correction);
  /// This party's share of u − a, for w its part of the model: a row of weights for each output.
  [[nodiscard]] Masked masked_arguments(View w);
  /// The share of y + r, from the shares of u − a of all other parties.
  [[nodiscard]] Masked masked_slopes(std::span<const std::vector<Word>> of_others);
  /// The share of s − b, from those of y + r.
  [[nodiscard]] Masked masked_factors(std::span<const std::vector<Word>> of_others);
  /// Takes the shares of s − b of all others.
  void take_factors(std::span<const std::vector<Word>> of_others);
  /// This party's share of Σ_i s_i x_i over party `of`'s columns, with its noise, for that party.
  [[nodiscard]] Masked gradient_share(std::size_t of, SharedGaussian& noise, const ReleaseAddress& address,
                                      double price, const NoiseKey& key) const;

 private:
  [[nodiscard]] bool is_first() const { return k_ == 0; }
  void subtract_labels();

  const SharesTerms& terms_;
  std::size_t k_;
  DealtStream stream_;
  Secret<SharedRows> rows_;
  Secret<Vector> labels_;
  Secret<std::int64_t> clipped_;
  std::vector<std::vector<Word>> masked_rows_;  ///< X_q − A_q of all parties
  DealtWords dealt_;
  std::vector<WideWord> arguments_;  ///< own share of u − a
  std::vector<WideWord> slopes_;     ///< own share of y + r
  std::vector<Word> factors_;        ///< own share of s − b, then s − b
};

/// The dealer's message to the last party: the correction of a round, with the dealer's noise on the shares of the sum.
/// The noise of each party's columns is a release of its own: `address.index` counts them.
class NoisyDealer : private Release {
 public:
  NoisyDealer(const SharesTerms& terms, const std::vector<NoiseKey>& keys)
      : terms_(terms), dealer_(keys, terms.shape, terms.slope->truncation()) {}
  [[nodiscard]] Masked deal(Round t, SharedGaussian& noise, const ReleaseAddress& address, double price,
                            const NoiseKey& key) const;

 private:
  const SharesTerms& terms_;
  Dealer dealer_;
};

}  // namespace starling
