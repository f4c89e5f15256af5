#include "protocol/constraints/composite_model.hpp"

#include "constraint_data.hpp"

namespace starling {

Score CompositeModel::evaluate(View parameters, const Batch& batch, const Clip& clip, Vector& gradient) {
  gradient.assign(dimension(), 0.0);
  Score total;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    one_.clear();
    one_.add(batch.row(i), batch.label(i));
    const Score own = inner().evaluate(parameters, one_, Clip{}, of_record_);
    add_constraint_gradient(constraints_.set().data, batch.row(i), constraints_.record_weights(), of_record_);
    const bool in_range = own.out_of_range == 0 && add_clipped(of_record_, clip, gradient);
    total += in_range ? own : Score{0, 0, 0, 1};
  }
  return total;
}

}  // namespace starling
