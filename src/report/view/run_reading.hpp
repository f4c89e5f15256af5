/// Readers of run.h5 and config.ini, for finished and unfinished runs. Files are opened read-only and without locks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/columns.hpp"
#include "core/links.hpp"

namespace starling {

/// The properties of a run that run.h5 holds from the start. Older runs may lack any of them.
struct RunNotes {
  std::map<std::string, std::string> attributes;  ///< text attributes of run.h5
  Client clients = 0;
  std::size_t dimension = 0;
  bool shares_losses = false;  ///< whether progressive losses are shared
  /// The number in a text attribute; none if missing. Throws DataError for other text.
  [[nodiscard]] std::optional<double> number(const std::string& attribute) const;
  /// Empty if missing.
  [[nodiscard]] std::string text(const std::string& attribute) const;
};

/// Reads the properties of a run. Throws DataError if run.h5 is missing or damaged.
[[nodiscard]] RunNotes read_notes(const std::string& run);

/// Recorded models. During a run only the records that every rank has written.
struct RecordedModels {
  std::vector<Round> rounds;
  std::vector<Client> clients;
  std::size_t dimension = 0;
  Vector values;  ///< records × clients × dimension
  [[nodiscard]] View at(std::size_t record, std::size_t client) const {
    return View(values).subspan((record * clients.size() + client) * dimension, dimension);
  }
};
/// Reads the recorded models. Throws DataError.
[[nodiscard]] RecordedModels read_models(const std::string& run);

/// The last round that every rank has on record; 0 if there is none. Throws DataError.
[[nodiscard]] Round last_recorded_round(const std::string& run);

/// Masses and presence of clients at recorded rounds. Both depend on the graph alone.
struct NetworkRecords {
  std::vector<Round> rounds;
  std::size_t clients = 0;     ///< number of clients of the run
  std::vector<Client> listed;  ///< clients whose figures are kept individually: all, unless there are many
  Vector masses;               ///< records × listed clients: push-sum mass
  /// Records × listed clients: share of the rounds since the record before in which a client took part; NaN for no
  /// round.
  Vector presences;
};

/// Reads the masses and presences that every rank has written. Empty for an older run without them. Throws DataError.
[[nodiscard]] NetworkRecords read_network(const std::string& run);

/// The lines `key = value` of config.ini. Throws DataError if it cannot be read.
[[nodiscard]] std::map<std::string, std::string> read_configuration(const std::string& run);

}  // namespace starling
