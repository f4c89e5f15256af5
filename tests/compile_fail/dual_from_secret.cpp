// A dual follows what has been released of a constraint, never its value on records.
// Expected: no matching (member )?function for call to .*update
#include "starling/protocol/constraints/long_term_constraints.hpp"

#ifdef STARLING_MUST_FAIL
using Value = starling::Secret<double>;
#else
using Value = starling::Released<double>;
#endif

void raise(starling::Released<starling::Columns>& duals, const Value& c, const starling::DualSettings& settings) {
  duals.update(
      [&](starling::Columns& all, double value) { all[0][0] = next_multiplier(all[0][0], 1, value, settings); }, c);
}
