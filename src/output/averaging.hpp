/// `--average`.
#pragma once

namespace starling {

/// The rounds that an average covers (`--average`).
enum class Averaging {
  none,  ///< the models of the last round
  tail,  ///< the mean over the second half of the planned rounds (Rakhlin, Shamir and Sridharan 2012)
  all,   ///< over all rounds
};
[[nodiscard]] const char* name_of(Averaging averaging);

}  // namespace starling
