#include "core/numerics/distributions.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>

namespace starling {
namespace {

// Boost computes tables of long double before main. Where a long double has 64 bits, as under valgrind, a value of
// these tables overflows. Without this policy an exception would end the program.
using NoException =
    boost::math::policies::policy<boost::math::policies::overflow_error<boost::math::policies::ignore_error>>;

}  // namespace

double normal_cdf(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

double normal_quantile(double probability) {
  if (probability <= 0) return -std::numeric_limits<double>::infinity();
  if (probability >= 1) return std::numeric_limits<double>::infinity();
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * probability, NoException());
}

double chi_squared_quantile(double degrees, double probability) {
  return 2 * boost::math::gamma_p_inv(degrees / 2, probability, NoException());
}

double two_sided_normal_quantile(double level) {
  return std::numbers::sqrt2 * boost::math::erf_inv(level, NoException());
}

double two_sided_t_quantile(double degrees, double level) {
  const double share = beta_quantile(0.5, degrees / 2, level);  // of t²/(t² + degrees)
  return std::sqrt(degrees * share / (1 - share));
}

double beta_quantile(double a, double b, double probability) {
  return boost::math::ibeta_inv(a, b, probability, NoException());
}

double upper_beta_quantile(double a, double b, double probability) {
  return boost::math::ibetac_inv(a, b, probability, NoException());
}

}  // namespace starling
