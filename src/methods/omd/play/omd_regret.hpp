/// Regret of a run of mirror descent.
#pragma once

namespace starling {

class DecentralizedOmd;
class PlayedRecorder;
class RunContext;
class Summary;
struct OmdParts;

/// Adds the regret of what clients have played, by a pass over streams that are opened anew, or a note on why there is
/// none. `recorder` has the sums of losses at its marks. **Collective.** Throws DataError if records have changed.
void add_regret(Summary& summary, RunContext& run, const OmdParts& parts, const DecentralizedOmd& omd,
                const PlayedRecorder& recorder, bool stopped);

}  // namespace starling
