/// The release paths: the calls of mechanisms in protocols by which values computed from records leave a client.
///
/// Every release names its path in its address, so that a call without one does not compile. docs/privacy.md has a row
/// for each path, and tests/end_to_end/test_release_paths.py audits each in the program as it is installed; a path that
/// is missing in either fails that test.
#pragma once

#include <string>
#include <vector>

namespace starling {

enum class ReleasePath {
  by_itself,                    ///< no protocol: a mechanism alone, in audits, measurements and tests
  omd_gradient,                 ///< gradient of a batch, under `omd` and `infer --topology`
  omd_norm,                     ///< histogram of the norms of all records, once before the first round (--scale-share)
  omd_feature,                  ///< histograms, or means, of every feature of all records, likewise (--feature-share)
  omd_score,                    ///< sums of scores of all records, once after the last round (--score-share)
  omd_constraint,               ///< a constraint's data vectors, or its values under `composite`
  fedavg_gradient,              ///< gradient of a local step's batch
  fedavg_norm,                  ///< as omd_norm
  fedavg_feature,               ///< as omd_feature
  fedavg_score,                 ///< as omd_score
  infer_feature,                ///< as omd_feature, and of the label, before Newton rounds
  infer_range,                  ///< histograms of these within the ranges that they were found in (--scale-share)
  infer_moments,                ///< second moments of the first records, once: `--warmup-share`
  infer_direction,              ///< mean estimating function of a batch
  infer_curvature,              ///< curvature (and squared directions) of a batch: plug-in `local`, `--bias remove`
  infer_curvature_sum,          ///< the same over all records at once: plug-in `central`
  newton_moments,               ///< second moments of all records, in the first round of `--estimator newton`
  newton_direction,             ///< sum of the estimating function over all records, in each later round
  newton_curvature,             ///< curvatures and squared estimating functions over all records, beside it
  renewable_norm,               ///< as omd_norm; of the label within its range, where this is standardised
  renewable_feature,            ///< as omd_feature, before batches of `renewable --variant private`
  renewable_local_gradient,     ///< gradient of a client's batch
  renewable_local_curvature,    ///< curvature of a client's batch
  renewable_central_gradient,   ///< gradient over the batches of all clients
  renewable_central_curvature,  ///< curvature over the batches of all clients
  renewable_masked_gradient,    ///< a client's share of that gradient, under masks
  renewable_message,            ///< whole messages of the open variants, without noise
  renewable_paper,              ///< noise of the paper's Algorithm 2
  vertical_embedding,           ///< embeddings of a batch, or columns under `--baseline central`
  vertical_party_gradient,      ///< gradient of a party's network
  vertical_head_gradient,       ///< gradient of the head where rank 0 alone knows the labels
  vertical_derivatives,         ///< derivatives of the loss by embeddings where rank 0 alone knows the labels
  vertical_joint_gradient,      ///< gradients at rank 0 under `--baseline central`
  vertical_shared_columns,      ///< histograms of a party's columns, in the first round on shares
  vertical_shared_gradient,     ///< gradient of all records over a party's columns, from shares (`--protocol shares`)
  survival_times,  ///< histogram of the times of events, once (`data convert --intervals quantiles-released`)
};

/// A row for tables and tests.
struct ReleasePathRow {
  ReleasePath path;
  std::string name;   ///< "omd-gradient"
  bool noisy = true;  ///< false: made under mechanism `none` alone, or protected by no figure that can be proved
};

/// All paths, in the order of the enumeration.
[[nodiscard]] const std::vector<ReleasePathRow>& release_paths();

/// The name of a path.
[[nodiscard]] const std::string& name_of(ReleasePath path);

}  // namespace starling
