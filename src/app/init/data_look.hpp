/// A look at an owner's records before a run. What it finds comes from private records, and is for their owner alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/links.hpp"
#include "data/settings.hpp"

namespace starling {

/// A matter that the owner of the records must decide before a run.
struct Decision {
  std::string matter;                ///< what is there, and the choices
  std::vector<std::string> choices;  ///< lines of a configuration file, of which the owner takes one
  std::string about = {};            ///< column and kind of the matter: files of several clients share a decision
  std::size_t more_files = 0;        ///< of which the same is true
};

struct DataLook {
  Client files = 0;  ///< of the clients' files, those that are here
  std::int64_t records = 0;
  std::int64_t persons = 0;  ///< by the column `key`; one in several files counts in each
  std::size_t features = 0;  ///< 0 where a decision is needed before they can be read
  std::string label;         ///< how the label was found
  std::string loss;          ///< that fits the labels; empty where it is not known
  std::vector<Decision> decisions;
  std::vector<std::string> notes;  ///< points that are worth a look, as of `starling data describe`
};

/// The number of clients that a source names: 1 for one source; else the number of consecutive files from client 0 on.
/// Throws UsageError where there is no file, and for generators and pipes.
[[nodiscard]] Client count_files(const std::string& source);

/// Reads the files of the clients below `clients` that exist, once or twice. Throws DataError for faulty records, and
/// UsageError for missing columns.
[[nodiscard]] DataLook look_at_data(const ReadSettings& settings, Client clients);

}  // namespace starling
