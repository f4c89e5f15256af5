#include "privacy/keys/release_path.hpp"

#include "core/check.hpp"

namespace starling {

const std::vector<ReleasePathRow>& release_paths() {
  using enum ReleasePath;
  static const std::vector<ReleasePathRow> rows{
      {by_itself, "by-itself"},
      {omd_gradient, "omd-gradient"},
      {omd_norm, "omd-norm"},
      {omd_feature, "omd-feature"},
      {omd_score, "omd-score"},
      {omd_constraint, "omd-constraint"},
      {fedavg_gradient, "fedavg-gradient"},
      {fedavg_norm, "fedavg-norm"},
      {fedavg_feature, "fedavg-feature"},
      {fedavg_score, "fedavg-score"},
      {infer_feature, "infer-feature"},
      {infer_range, "infer-range"},
      {infer_moments, "infer-moments"},
      {infer_direction, "infer-direction"},
      {infer_curvature, "infer-curvature"},
      {infer_curvature_sum, "infer-curvature-sum"},
      {newton_moments, "newton-moments"},
      {newton_direction, "newton-direction"},
      {newton_curvature, "newton-curvature"},
      {renewable_norm, "renewable-norm"},
      {renewable_feature, "renewable-feature"},
      {renewable_local_gradient, "renewable-local-gradient"},
      {renewable_local_curvature, "renewable-local-curvature"},
      {renewable_central_gradient, "renewable-central-gradient"},
      {renewable_central_curvature, "renewable-central-curvature"},
      {renewable_masked_gradient, "renewable-masked-gradient"},
      {renewable_message, "renewable-message", false},
      {renewable_paper, "renewable-paper", false},
      {vertical_embedding, "vertical-embedding"},
      {vertical_party_gradient, "vertical-party-gradient"},
      {vertical_head_gradient, "vertical-head-gradient"},
      {vertical_derivatives, "vertical-derivatives"},
      {vertical_joint_gradient, "vertical-joint-gradient", false},
      {vertical_shared_columns, "vertical-shared-columns"},
      {vertical_shared_gradient, "vertical-shared-gradient"},
      {survival_times, "survival-times"},
  };
  return rows;
}

const std::string& name_of(ReleasePath path) {
  for (const ReleasePathRow& row : release_paths()) {
    if (row.path == path) return row.name;
  }
  throw FailureError("a release by a path that has no row in release_paths()");
}

}  // namespace starling
