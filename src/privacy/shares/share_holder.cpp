#include "privacy/shares/share_holder.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"

namespace starling {

namespace {

/// The sum of own words and those of all others.
std::vector<WideWord> opened(std::vector<WideWord> own, std::span<const std::vector<Word>> of_others) {
  for (const std::vector<Word>& words : of_others) {
    check<FailureError>(words.size() == 2 * own.size(), "{} words of a party: there should be {}.", words.size(),
                        2 * own.size());
    add_words(from_halves(words), std::span<WideWord>(own));
  }
  return own;
}

}  // namespace

double SharesTerms::argument_scale() const {
  double scale = residual ? label_bound : 0;
  for (std::size_t k = 0; k < row_bounds.size(); ++k) scale += row_bounds[k] * balls[k];
  return scale;
}

// ‖w_c‖² = ‖Σ_(e ≠ c) w_e‖² <= (C − 1) Σ_(e ≠ c) ‖w_e‖², so C ‖w_c‖² <= (C − 1) Σ_e ‖w_e‖².
double SharesTerms::ball_of_all(std::size_t k) const {
  if (shape.outputs == 1) return balls[k];
  const auto outputs = static_cast<double>(shape.outputs);
  return balls[k] * std::sqrt(outputs / (outputs - 1));
}

std::int64_t SharesTerms::most_argument(std::size_t k) const {
  const double own = row_bounds[k] * balls[k] + (residual && k == labels_at ? label_bound : 0);
  return static_cast<std::int64_t>(std::floor(own / argument_scale() * static_cast<double>(SlopePolynomial::one)));
}

std::int64_t SharesTerms::most_slope() const {
  const std::int64_t least = slope->least();
  const std::int64_t most = slope->most() + 1;
  std::int64_t largest = std::max(std::abs(least), std::abs(most));
  if (residual) return largest;
  const std::int64_t one = std::int64_t{1} << fraction_bits;
  const std::int64_t own = std::max(std::abs(least - one), std::abs(most - one));
  if (shape.outputs == 1) return std::max(largest, own);
  const auto others = static_cast<double>(shape.outputs - 1);
  const double squares = others * static_cast<double>(largest) * static_cast<double>(largest) +
                         static_cast<double>(own) * static_cast<double>(own);
  return static_cast<std::int64_t>(std::ceil(std::sqrt(squares) * (1 + 0x1p-48)));
}

SharedSumTerms SharesTerms::sum_terms(bool noisy) const {
  double squares = 0;
  for (const double bound : row_bounds) {
    const auto integers = static_cast<double>(integer_bound(bound, fraction_bits));
    squares += integers * integers;
  }
  SharedSumTerms terms;
  terms.most_slope = most_slope();
  terms.row_bound = std::sqrt(squares) * (1 + 0x1p-48);
  terms.step = std::ldexp(1.0, -2 * fraction_bits);
  terms.records = static_cast<std::int64_t>(contributors);
  terms.parties = static_cast<std::int64_t>(shape.parties());
  terms.noisy = noisy;
  return terms;
}

ShareHolder::ShareHolder(const SharesTerms& terms, std::size_t k, const NoiseKey& key)
    : terms_(terms),
      k_(k),
      stream_(key, terms.shape, k + 1 == terms.shape.parties()),
      masked_rows_(terms.shape.parties()) {}

void ShareHolder::hold(const Secret<Vector>& rows, const Secret<Vector>& labels,
                       std::span<const std::size_t> records_of_person) {
  const std::size_t columns = terms_.shape.columns[k_];
  check<FailureError>(open(rows).size() == terms_.shape.records * columns, "{} numbers for {} rows of {} columns.",
                      open(rows).size(), terms_.shape.records, columns);
  rows_ = rows.map([&](const Vector& all) {
    return shared_rows(all, columns, k_ == terms_.labels_at, terms_.row_bounds[k_], terms_.fraction_bits,
                       records_of_person);
  });
  clipped_ = rows_.map([](const SharedRows& all) { return all.clipped; });
  labels_ = labels;
  apply(
      [&, bound = terms_.label_bound](Vector& all, std::int64_t& clipped) {
        for (std::size_t i = 0; i < all.size(); ++i) {
          const bool empty = !records_of_person.empty() && records_of_person[i] == 0;
          if (!empty && !(std::abs(all[i]) <= bound)) ++clipped;
          all[i] = std::isnan(all[i]) ? 0 : std::clamp(all[i], -bound, bound);
        }
      },
      labels_, clipped_);
  masked_rows_[k_] = masked_rows().words();
}

Masked ShareHolder::masked_rows() const {
  std::vector<Word> words = open(rows_).words;
  const std::vector<Word> masks = stream_.row_masks(terms_.shape.columns[k_]);
  subtract_words(masks, words);
  return make_share(std::move(words));
}

void ShareHolder::take_rows(std::size_t of, std::vector<Word> masked) {
  check<FailureError>(masked.size() == terms_.shape.records * terms_.shape.columns[of],
                      "{} masked words of party {}'s columns: there should be {}.", masked.size(), of + 1,
                      terms_.shape.records * terms_.shape.columns[of]);
  masked_rows_[of] = std::move(masked);
}

void ShareHolder::begin(Round t, std::span<const Word> correction) {
  dealt_ = stream_.round(t);
  if (k_ + 1 == terms_.shape.parties()) correct(correction, terms_.shape, dealt_);
}

// u_k = x_k·w_k / T (less y / T at the party with the labels, where they enter), rounded to multiples of 2^-15.
Masked ShareHolder::masked_arguments(View w) {
  const Vector& numbers = open(rows_).numbers;
  const Vector& labels = open(labels_);
  const bool subtracts = terms_.residual && k_ == terms_.labels_at;
  const double units = static_cast<double>(SlopePolynomial::one) / terms_.argument_scale();
  const auto limit = static_cast<double>(terms_.most_argument(k_));
  const std::size_t n = terms_.shape.records;
  const std::size_t columns = terms_.shape.columns[k_];
  arguments_.resize(terms_.shape.slopes());
  for (std::size_t at = 0; at < arguments_.size(); ++at) {
    const std::size_t i = at % n;
    const View of_output = w.subspan(at / n * columns, columns);
    double score = 0;
    for (std::size_t j = 0; j < columns; ++j) score += numbers[i * columns + j] * of_output[j];
    if (subtracts) score -= labels[i];
    const double argument = std::clamp(std::nearbyint(score * units), -limit, limit);
    arguments_[at] = static_cast<WideWord>(SignedWide{static_cast<std::int64_t>(argument)});
  }
  subtract_words(dealt_.arguments, std::span<WideWord>(arguments_));
  return make_share(halves_of(arguments_));
}

Masked ShareHolder::masked_slopes(std::span<const std::vector<Word>> of_others) {
  const std::vector<WideWord> e = opened(arguments_, of_others);
  const std::size_t powers = dealt_.powers.size();
  std::vector<WideWord> of_record(powers + 1);
  slopes_.resize(e.size());
  for (std::size_t i = 0; i < e.size(); ++i) {
    of_record[0] = dealt_.arguments[i];
    for (std::size_t k = 0; k < powers; ++k) of_record[k + 1] = dealt_.powers[k][i];
    slopes_[i] = terms_.slope->share(e[i], of_record, is_first()) + dealt_.truncation[i];
    if (is_first()) slopes_[i] += Truncation::offset();
  }
  return make_share(halves_of(slopes_));
}

Masked ShareHolder::masked_factors(std::span<const std::vector<Word>> of_others) {
  const std::vector<WideWord> c = opened(slopes_, of_others);
  const Truncation truncation = terms_.slope->truncation();
  factors_.resize(c.size());
  for (std::size_t i = 0; i < c.size(); ++i) {
    factors_[i] = truncation.share(c[i], dealt_.high[i], dealt_.top[i], is_first());
  }
  if (!terms_.residual && k_ == terms_.labels_at) subtract_labels();
  subtract_words(dealt_.factors, std::span<Word>(factors_));
  return make_share(factors_);
}

void ShareHolder::subtract_labels() {
  const Vector& labels = open(labels_);
  const Word one = Word{1} << terms_.fraction_bits;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (terms_.shape.outputs > 1) {
      factors_[static_cast<std::size_t>(labels[i]) * labels.size() + i] -= one;
    } else if (labels[i] > 0) {
      factors_[i] -= one;
    }
  }
}

void ShareHolder::take_factors(std::span<const std::vector<Word>> of_others) {
  for (const std::vector<Word>& words : of_others) {
    check<FailureError>(words.size() == factors_.size(), "{} words of a party: there should be {}.", words.size(),
                        factors_.size());
    add_words(words, std::span<Word>(factors_));
  }
}

// X'(s) = X'(f + b) = X'f + (E + A)'b, with f = s − b and E = X − A open: X'f is known to the owner of the columns, the
// others have shares of E'b and A'b.
Masked ShareHolder::gradient_share(std::size_t of, SharedGaussian& noise, const ReleaseAddress& address, double price,
                                   const NoiseKey& key) const {
  const SharesShape& shape = terms_.shape;
  const auto products = std::span<const Word>(dealt_.products).subspan(shape.first_component(of), shape.components(of));
  std::vector<Word> share(products.begin(), products.end());
  add_products_of_outputs(masked_rows_[of], dealt_.factors, shape.outputs, share);
  if (of == k_) add_products_of_outputs(open(rows_).words, factors_, shape.outputs, share);
  noise.add_noise(address, price, key, share);
  return make_share(std::move(share));
}

Masked NoisyDealer::deal(Round t, SharedGaussian& noise, const ReleaseAddress& address, double price,
                         const NoiseKey& key) const {
  std::vector<Word> words = dealer_.correction(t);
  const SharesShape& shape = terms_.shape;
  const std::span<Word> products = std::span<Word>(words).last(shape.all_components());
  for (std::size_t k = 0; k < shape.parties(); ++k) {
    ReleaseAddress own = address;
    own.index = static_cast<std::uint32_t>(k);
    noise.add_noise(own, price, key, products.subspan(shape.first_component(k), shape.components(k)));
  }
  return make_share(std::move(words));
}

}  // namespace starling
