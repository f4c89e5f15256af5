/// `starling init`: questions on a terminal, a look at the records, and the files of a run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/links.hpp"
#include "data/settings.hpp"

namespace starling {

/// Whether standard input and output are a terminal, so that a question would be seen and answered.
[[nodiscard]] bool can_ask();

/// Prints a question with its default (empty: none) and hands each answer to `take` until it throws no UsageError,
/// whose text is printed. Throws UsageError where the input ends, and as throw_stopped does at a signal.
void ask(const std::string& question, const std::string& initial, const std::function<void(const std::string&)>& take);

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
  std::string class_labels;  ///< of classes, as --class-labels names them; else empty
  std::vector<Decision> decisions;
  std::vector<std::string> notes;  ///< points that are worth a look, as of `starling data describe`
};

/// The number of clients that a source names: 1 for one source; else the number of consecutive files from client 0 on.
/// Throws UsageError where there is no file, and for generators and pipes.
[[nodiscard]] Client count_files(const std::string& source);

/// Reads the files of the clients below `clients` that exist, once or twice. `loss` is what the owner has chosen;
/// empty: the labels say. Throws DataError for faulty records, and UsageError for missing columns.
[[nodiscard]] DataLook look_at_data(ReadSettings settings, Client clients, const std::string& loss);

/// The place where a run is started.
enum class LaunchPlace { here, slurm };

/// A run as its owner has described it.
struct PlannedRun {
  std::string source;         ///< as the configuration file shall name it
  bool has_own_files = true;  ///< of each client; else one source is dealt to them
  Client clients = 1;
  std::string person;             ///< column; empty: records stand for themselves
  std::optional<double> epsilon;  ///< of a unit in all; none: nothing is protected
  std::string topology;           ///< file, as the configuration file shall name it; empty with one client
  std::string graph;              ///< in words, for the comment
  std::string reading;            ///< lines of reading options that were given
  DataLook look;
  LaunchPlace place = LaunchPlace::here;
  int ranks = 1;
};

/// δ for a number of units: 1e-5, and less where a tenth of one over their number is less, as a power of ten.
[[nodiscard]] double delta_for(std::int64_t units);

/// The text of run.ini, for `starling omd --config`.
[[nodiscard]] std::string configuration_text(const PlannedRun& run);

/// The text of run.sbatch. `program` is the path of starling, `folder` that of the files, both absolute.
[[nodiscard]] std::string batch_script(const PlannedRun& run, const std::string& program, const std::string& folder);

}  // namespace starling
