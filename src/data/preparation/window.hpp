/// Means and standard deviations of a signal over sliding windows, as records.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/source.hpp"

namespace starling {

/// Length, step and labels of windows.
struct WindowSettings {
  std::size_t length = 0;                 ///< W, records of a window; at least 2
  std::size_t step = 0;                   ///< S, records between the starts of consecutive windows; 1 to W
  std::vector<double> ignore;             ///< labels of which one drops a window
  std::vector<double> positive;           ///< labels that become +1, all others −1; empty: labels stay as they are
  std::vector<double> class_labels = {};  ///< as of ReadSettings
};

/// Most windows that contain one record: W/S, rounded up.
[[nodiscard]] constexpr std::size_t windows_of_record(const WindowSettings& settings) {
  return (settings.length + settings.step - 1) / settings.step;
}

/// Number of windows kept and dropped in all passes.
struct WindowCounts {
  std::int64_t kept = 0;
  std::int64_t mixed = 0;       ///< dropped: several labels
  std::int64_t ignored = 0;     ///< dropped: one label is ignored
  std::int64_t incomplete = 0;  ///< dropped: the source ended within the window; at most one per pass
};

/// Reader of windows. Windows of W records start at records 0, S, 2S, … of `reader`; ignored records count. A window
/// whose records have one label, after the mapping to ±1, becomes a record of this label. Its features are, for each
/// feature of the source in turn, the mean NAME_mean and the standard deviation NAME_sd over the window (squares
/// divided by W). Features without names are x0, x1, …. Other windows are dropped and counted in `counts`, which must
/// outlive the reader.
///
/// `reader` must neither leave out ignored records nor map labels, or windows would close over gaps. A mark is the
/// place of a window's first record; after a seek, windows start there. W records are kept in memory. Throws UsageError
/// for sparse records and for a length or step out of range, DataError for results beyond double precision.
[[nodiscard]] std::unique_ptr<RecordReader> make_windows(std::unique_ptr<RecordReader> reader,
                                                         const WindowSettings& settings, WindowCounts& counts);

}  // namespace starling
