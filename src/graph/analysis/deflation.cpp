#include "deflation.hpp"

#include <algorithm>
#include <cmath>

#include "core/random.hpp"

namespace starling::spectral {

VectorXd generic_vector(Index n) {
  AddressedRandom random(1, Purpose::topology, 0, 0);
  VectorXd v(n);
  for (double& entry : v) entry = random.uniform() - 0.5;
  return v;
}

std::vector<double> normalised(VectorXd v) {
  v = v.cwiseAbs();
  const double sum = v.sum();
  if (!(sum > 0) || !std::isfinite(sum)) return {};
  v /= sum;
  return {v.begin(), v.end()};
}

Deflation deflation(const std::vector<double>& perron, PerronSide side) {
  const Eigen::Map<const VectorXd> p(perron.data(), static_cast<Index>(perron.size()));
  const VectorXd ones = VectorXd::Ones(p.size());
  if (side == PerronSide::left) return {p, ones};
  return {ones, p};  // for `both`, p is uniform and either way is right
}

std::optional<Round> vanishes_after(const Map& map, const Deflation& deflate, Round most, VectorXd& v) {
  deflate.apply(v);
  if (v.size() == 1) return 1;
  for (Round k = 1; k <= std::min<Round>(most, v.size()); ++k) {
    v.normalize();
    v = map(v);
    deflate.apply(v);
    const double fallen = v.norm();
    if (fallen < vanishing) return k;
  }
  return std::nullopt;
}

}  // namespace starling::spectral
