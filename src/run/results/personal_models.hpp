/// Personal models of a run's clients (--personal), for their owners.
#pragma once

namespace starling {

class Play;
class Summary;
struct BegunRun;
struct Recording;

/// Fits a model to each of this rank's clients' records, around the run's model: private/<rank>/personal/<client>.h5,
/// and a row of private/<rank>/personal.csv. Ranks get the run's model first, and communicate nothing after. A run that
/// was `stopped` has none. `summary` is rank 0's. **Collective.** Throws DataError if the records have changed,
/// FailureError.
void make_personal_models(const BegunRun& begun, const Play& play, const Recording& recording, const Summary& summary,
                          bool stopped);

}  // namespace starling
