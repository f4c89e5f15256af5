#include "shares_rule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/ranges.h>

#include "core/check.hpp"
#include "loss/target_loss.hpp"

namespace starling {

namespace {

constexpr double ball_of_models = 3;  // B
constexpr int slope_degree = 7;
constexpr double momentum_of_steps = 0.8;
constexpr double largest_label = 3;  // Y, in deviations of a standardised label
constexpr int most_fraction_bits = 20;
constexpr double bits_of_sums = 60;
constexpr Round most_rounds_in_one = 8;  // of so many rounds one may have histograms
constexpr double least_share_of_noise =
    1.0 / 27;  // deviation on a count, of all records: a bin with a sixth of them shows

double norm(const std::vector<double>& numbers) {
  double squares = 0;
  for (const double each : numbers) squares += each * each;
  return std::sqrt(squares);
}

double slope_of(const TargetLoss& loss, double score, double label) {
  const Vector scores{score};
  const Vector labels{label};
  Vector derivative(1);
  loss.derivative(scores, labels, derivative);
  return derivative[0];
}

/// (C − 1)/C of C outputs; 1 of one.
double spread_of_classes(const TargetLoss& loss) {
  const auto outputs = static_cast<double>(loss.outputs());
  return loss.outputs() > 1 ? (outputs - 1) / outputs : 1;
}

/// The probability of a class by softmax, of its score and others that are all alike and with it add up to 0.
double slope_of_class(const TargetLoss& loss, double score) {
  const double others = static_cast<double>(loss.outputs() - 1);
  return 1 / (1 + others * std::exp(-score / spread_of_classes(loss)));
}

/// Whether the slope is linear in the score.
bool is_linear(const TargetLoss& loss, double scale) {
  return std::abs(slope_of(loss, scale, 0) - scale * slope_of(loss, 1, 0)) < 1e-9 * scale;
}

}  // namespace

SharesRule::SharesRule(const TargetLoss& loss, std::vector<std::size_t> columns, std::size_t rows,
                       std::size_t contributors, std::size_t labels_at, Round rounds) {
  terms_.shape = {rows, std::move(columns), slope_degree, loss.outputs()};
  terms_.contributors = contributors;
  terms_.labels_at = labels_at;
  terms_.residual = !loss.classifies();
  terms_.label_bound = terms_.residual ? largest_label : std::max(1.0, static_cast<double>(loss.outputs()) - 1);
  for (std::size_t k = 0; k < terms_.shape.columns.size(); ++k) {
    // Half of the mean square of the norm of (x, 1), for standardised columns.
    const double squares = static_cast<double>(terms_.shape.columns[k] + (k == labels_at ? 0 : 1));
    terms_.row_bounds.push_back(std::sqrt(squares / 2));
  }
  const double of_output = ball_of_models * spread_of_classes(loss);
  // A party of few columns may have one that says all: no party has less of the ball than K equal ones would have.
  const double least = 1 / std::sqrt(static_cast<double>(terms_.shape.parties()));
  for (const double bound : terms_.row_bounds) terms_.balls.push_back(of_output * std::max(bound / row_bound(), least));
  const double scale = terms_.argument_scale();
  if (terms_.residual && is_linear(loss, scale)) terms_.shape.degree = 1;
  const auto slope = [&loss, scale, residual = terms_.residual](double u) {
    if (residual) return slope_of(loss, u * scale, 0);
    if (loss.outputs() > 1) return slope_of_class(loss, u * scale);
    return slope_of(loss, u * scale, -1);  // σ(z) less the label: of label 0, which is −1 of the loss
  };
  const auto fit = [&](int bits) {
    terms_.fraction_bits = bits;
    terms_.slope = std::make_shared<SlopePolynomial>(slope, terms_.shape.degree, bits);
  };
  fit(most_fraction_bits);
  const double most = std::ldexp(static_cast<double>(terms_.most_slope()), -most_fraction_bits);
  const double used = std::log2(static_cast<double>(contributors) * most * row_bound());
  const int bits = static_cast<int>(std::floor((bits_of_sums - used) / 2));
  check(bits >= 12, "{} records of {} columns: their sums do not fit into 64 bits. Take fewer records.", rows,
        terms_.shape.all_columns());
  if (bits < most_fraction_bits) fit(bits);
  steps_.rounds = rounds;
  steps_.momentum = momentum_of_steps;
  steps_.step = scale / (terms_.slope->steepest() * row_bound() * row_bound());  // 1 / (the largest curvature)
  unit_ = terms_.residual ? std::abs(slope_of(loss, 1, 0)) : terms_.shape.outputs > 1 ? std::numbers::sqrt2 : 1;
}

/// R.
double SharesRule::row_bound() const {
  return norm(terms_.row_bounds);
}

std::unique_ptr<Protection> SharesRule::protection(ReleaseSettings settings, bool noisy) const {
  const SharedSumTerms sums = terms_.sum_terms(noisy);
  settings.clip = static_cast<double>(sums.most_slope) * sums.row_bound * sums.step;
  return std::make_unique<SharedGaussian>(settings, sums);
}

Round SharesRule::scale_rounds(double price) const {
  const double noise = std::sqrt(2 * static_cast<double>(terms_.scaled_columns())) / price;
  const double wanted = std::pow(noise / least_share_of_noise / static_cast<double>(terms_.contributors), 2);
  const auto most = std::max<Round>(steps_.rounds / most_rounds_in_one, steps_.rounds >= 2 ? 1 : 0);
  return wanted <= static_cast<double>(most) ? std::clamp<Round>(static_cast<Round>(std::ceil(wanted)), 1, most) : 0;
}

Round SharesRule::within_rounds(Round octaves) const {
  const Round left = std::max<Round>(steps_.rounds / most_rounds_in_one - octaves, 0);
  return 2 * left >= octaves ? std::min(octaves, left) : 0;
}

std::string SharesRule::in_words(const std::string& columns) const {
  std::vector<std::string> bounds;
  for (const double bound : terms_.row_bounds) bounds.push_back(fmt::format("{:.3g}", bound));
  const std::string labels =
      terms_.residual ? fmt::format(", labels, standardised like columns, to +-{:g}", terms_.label_bound) : "";
  const bool persons = terms_.contributors != terms_.shape.records;
  const std::string of_all = persons ? fmt::format("{} persons ({} rows)", terms_.contributors, terms_.shape.records)
                                     : fmt::format("{} records", terms_.shape.records);
  return fmt::format(
      "{} over all {}; rows of the parties are clipped to {} ({}){}, "
      "their models to |w| <= {:.3g} together; the slope is a polynomial of degree {} with an error of {:.2g}, which "
      "counts in the sensitivity; steps of {:.3g} with momentum {:g}, and the mean of the models of the second half",
      steps_.rounds == 1 ? "1 round" : fmt::format("{} rounds", steps_.rounds), of_all, fmt::join(bounds, ", "),
      columns, labels, norm(terms_.balls), terms_.slope->degree(), terms_.slope->error(), steps_.step, steps_.momentum);
}

// docs/methods/shares.md, "The outlook": measured on subsets of a real table.
std::string SharesRule::outlook(double deviation, bool standardised) const {
  if (deviation == 0) return "";
  // Of several outputs the mean over them is taken off, which leaves C − 1 of C parts of the noise.
  const std::size_t free = std::max<std::size_t>(terms_.shape.outputs - 1, 1);
  const double columns = std::sqrt(static_cast<double>(terms_.shape.all_columns() * free));
  const double rounds = std::sqrt(static_cast<double>(std::max<Round>(steps_.rounds, 1)));
  const double noise = deviation * columns / (rounds * unit_);
  const bool has_area = !terms_.residual && terms_.shape.outputs <= 2;  // under the ROC curve
  const auto text = [&](const char* classes, const char* numbers) {
    return fmt::format("outlook: the noise left after all rounds is {:.2g} of a typical slope: {}{}", noise,
                       has_area ? classes : numbers,
                       standardised ? ""
                                    : ". All this of standardised columns, and nothing shows that they are: say how "
                                      "large they are by --standardise or --ranges");
  };
  if (noise < 0.02) {
    return text("expect nearly the AUC of a run without noise",
                terms_.residual ? "expect nearly the fit without noise"
                                : "expect an accuracy up to 4 points below that without noise");
  }
  if (noise < 0.08) return text("expect an AUC up to 4 points below that without noise", "expect a little less fit");
  if (noise < 0.3) {
    return text(
        "where columns say little (an AUC of .75 without noise) expect one 4 to 10 points lower, else less of a loss",
        "expect less fit than without noise. More records or a larger price help");
  }
  if (noise < 1) {
    return text(
        "where columns say little (an AUC of .75 without noise) expect one near .6; it is hardly worth it. Take more "
        "records or a larger price",
        "expect hardly any fit; it is hardly worth it. Take more records or a larger price");
  }
  return text(
      "where columns say little (an AUC of .75 without noise) expect one near .5; it is not worth it. Take more "
      "records or a larger price",
      "expect no fit; it is not worth it. Take more records or a larger price");
}

}  // namespace starling
