/// The weights of clients in a run's model (`--client-weights`).
#pragma once

namespace starling {

/// Whether every record counts alike, as if all were pooled, or every client, as the mean over its own records.
enum class ClientWeights { records, equal };

[[nodiscard]] inline const char* name_of(ClientWeights weights) {
  return weights == ClientWeights::records ? "records" : "equal";
}

/// The weights as a clause for people, of records or of persons.
[[nodiscard]] inline const char* in_words(ClientWeights weights, bool of_persons) {
  if (weights == ClientWeights::equal) {
    return of_persons ? "every client counts alike, whatever its number of persons"
                      : "every client counts alike, whatever its number of records";
  }
  return of_persons ? "persons count as if one client had all of them" : "every record counts alike, whoever has it";
}

}  // namespace starling
