/// What run.h5 and config.ini say of a run, finished or not. Files are opened for reading only and without locks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "starling/core/columns.hpp"
#include "starling/net/traffic.hpp"

namespace starling {

/// What a run notes of itself when it starts. Older runs may lack any of it.
struct RunNotes {
  std::map<std::string, std::string> attributes;  ///< of run.h5, those that are texts
  Client clients = 0;
  std::size_t dimension = 0;
  bool shares_losses = false;  ///< whether progressive losses may be seen
  /// Throws DataError for text that is no number.
  [[nodiscard]] std::optional<double> number(const std::string& attribute) const;
  [[nodiscard]] std::string text(const std::string& attribute) const;
};

/// Throws DataError if run.h5 is missing or damaged.
[[nodiscard]] RunNotes read_notes(const std::string& run);

/// Recorded models: records that every rank has written, while a run goes on.
struct RecordedModels {
  std::vector<Round> rounds;
  std::vector<Client> clients;
  std::size_t dimension = 0;
  Vector values;  ///< records × clients × dimension
  [[nodiscard]] View at(std::size_t record, std::size_t client) const {
    return View(values).subspan((record * clients.size() + client) * dimension, dimension);
  }
};
/// Throws DataError.
[[nodiscard]] RecordedModels read_models(const std::string& run);

/// The last round that every rank has on record; 0 if there is none. Throws DataError.
[[nodiscard]] Round last_recorded_round(const std::string& run);

/// What run.h5 holds of clients at recorded rounds. Both figures depend on the graph alone.
struct NetworkRecords {
  std::vector<Round> rounds;
  std::size_t clients = 0;     ///< of the run
  std::vector<Client> listed;  ///< of these, whose figures are kept one by one: all, unless there are very many
  Vector masses;               ///< records × listed clients: push-sum mass
  Vector
      presences;  ///< likewise: share of the rounds since the record before that a client took part in; NaN: no round
};

/// Records that every rank has written, while a run goes on. Empty where an older run has none. Throws DataError.
[[nodiscard]] NetworkRecords read_network(const std::string& run);

/// The first rows of /traffic, at most `most`. Throws DataError.
[[nodiscard]] std::vector<EdgeTraffic> read_traffic(const std::string& run, std::size_t most);

/// The lines `key = value` of config.ini. Throws DataError if it cannot be read.
[[nodiscard]] std::map<std::string, std::string> read_configuration(const std::string& run);

}  // namespace starling
