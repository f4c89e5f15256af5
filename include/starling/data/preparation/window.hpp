/// Records of a signal, window by window.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "starling/data/source.hpp"

namespace starling {

struct WindowSettings {
  std::size_t length = 0;        ///< W, records of a window; at least 2
  std::size_t step = 0;          ///< S, records from the begin of one window to that of the next; 1 to W
  std::vector<double> ignore;    ///< a window with one of these labels is dropped
  std::vector<double> positive;  ///< labels that become +1, all others −1; empty: labels stay as they are
};

/// The most windows that a record is in: W/S, rounded up.
[[nodiscard]] constexpr std::size_t windows_of_record(const WindowSettings& settings) {
  return (settings.length + settings.step - 1) / settings.step;
}

/// What has become of the windows of all passes.
struct WindowCounts {
  std::int64_t kept = 0;
  std::int64_t mixed = 0;       ///< dropped: of several labels
  std::int64_t ignored = 0;     ///< dropped: an ignored label is among them
  std::int64_t incomplete = 0;  ///< dropped: the source has ended before their last record; one a pass at most
};

/// Windows start at records 0, S, 2S, … of `reader`, ignored ones counted, and hold W each. One whose records all have
/// one label, after the mapping to ±1, becomes a record of that label whose features are, for each feature of the
/// source in turn, its mean and its standard deviation over the window (of the population: the squares are divided by
/// W); they are called NAME_mean and NAME_sd, where features without names are x0, x1, …. The other windows are dropped
/// and counted in `counts`, which must outlive the reader.
///
/// `reader` must not have left out ignored records, nor mapped labels: windows would close over the gaps. A mark is
/// that of a window's first record; after a seek, windows start there. W records are kept in memory. Throws UsageError
/// for sparse records and for a length or step out of range, DataError for figures beyond double precision.
[[nodiscard]] std::unique_ptr<RecordReader> make_windows(std::unique_ptr<RecordReader> reader,
                                                         const WindowSettings& settings, WindowCounts& counts);

}  // namespace starling
