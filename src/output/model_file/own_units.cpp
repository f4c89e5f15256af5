#include "output/model_file/own_units.hpp"

#include <cmath>

#include "core/numerics/kernels.hpp"

namespace starling {

namespace {

/// Whether a column is clipped so near to 0 that its sign alone counts, as histograms leave those that show zeros
/// alone.
bool tells_sign(const Standardisation& column) {
  constexpr double near = 0x1p-10;
  return column.mean == 0 && column.is_clipped() && !column.is_left_out() && column.deviation * column.limit <= near;
}

}  // namespace

OwnUnits::OwnUnits(const PublicConstants& constants, const std::optional<Standardisation>& label, std::size_t features,
                   bool intercept)
    : slopes_(features, 1.0), shares_(features, 0.0) {
  const Standardisation of_label = label.value_or(Standardisation());
  const bool standardised = !constants.standardisation.empty();
  const std::vector<ColumnFeature> made = standardised ? constants.made_features() : std::vector<ColumnFeature>();
  for (std::size_t j = 0; j < features; ++j) {
    const bool is_number = j < made.size() && made[j].kind == ColumnFeature::Kind::value;
    Standardisation own = is_number ? constants.standardisation[made[j].column] : Standardisation();
    if (tells_sign(own)) own.deviation = 1 / own.limit;
    slopes_[j] = of_label.deviation * constants.scale / own.deviation;
    shares_[j] = -of_label.deviation * constants.scale * own.mean / own.deviation;
  }
  if (!intercept) return;
  last_ = of_label.deviation;
  offset_ = of_label.mean;
}

Vector OwnUnits::coefficients(View prepared) const {
  Vector own;
  for (std::size_t j = 0; j < slopes_.size(); ++j) own.push_back(slopes_[j] * prepared[j]);
  if (intercept()) own.push_back(offset_ + last_ * prepared.back() + dot(shares_, prepared.first(shares_.size())));
  return own;
}

Vector OwnUnits::deviations(double deviation) const {
  Vector own;
  for (const double slope : slopes_) own.push_back(std::abs(slope) * deviation);
  if (intercept()) own.push_back(deviation * std::sqrt(last_ * last_ + dot(shares_, shares_)));
  return own;
}

AffineMap OwnUnits::map() const {
  const std::size_t p = slopes_.size();
  const std::size_t d = p + (intercept() ? 1 : 0);
  Columns rows(d, d);
  Vector offset(d);
  for (std::size_t j = 0; j < p; ++j) {
    rows[j][j] = slopes_[j];
    if (intercept()) rows[p][j] = shares_[j];
  }
  if (intercept()) {
    rows[p][p] = last_;
    offset[p] = offset_;
  }
  return {std::move(rows), std::move(offset)};
}

}  // namespace starling
