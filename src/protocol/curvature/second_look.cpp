#include "protocol/curvature/second_look.hpp"

#include "core/numerics/kernels.hpp"

namespace starling {

SecondLook::SecondLook(std::size_t blocks, std::size_t order)
    : blocks_(blocks),
      order_(order),
      curvature_(blocks, order),
      weighted_(blocks, order),
      turned_(blocks * order),
      theta_(blocks * order),
      gradient_(blocks * order) {}

void SecondLook::add(View gradient, View theta, View triangles, double records) {
  BlockCurvature of_batch(blocks_, order_);
  of_batch.add(triangles);
  axpy(1, of_batch.times(theta), turned_);
  axpy(records, theta, theta_);
  axpy(1, gradient, gradient_);
  curvature_.add(triangles);
  records_ += records;
  batches_ += 1;
  const double weight = batches_ * batches_;
  weighted_.add(triangles, weight);
  weight_ += weight * records;
}

std::optional<SecondLook::Estimate> SecondLook::estimate(const BlockCurvature& known) const {
  if (!(weight_ > 0)) return std::nullopt;
  BlockCurvature both = known;
  both.add(curvature_, 0.5);
  both.add(weighted_, records_ / weight_ / 2);
  Vector right = gradient_;
  scale(-1, right);
  axpy(0.5, turned_, right);
  axpy(0.5 / weight_, weighted_.times(theta_), right);
  std::optional<Vector> theta = both.try_solve(right);
  Estimate found{theta.value_or(Vector()), known};
  found.curvature.add(weighted_, records_ / weight_);
  if (!theta || !found.curvature.try_solve(right)) return std::nullopt;
  return found;
}

}  // namespace starling
