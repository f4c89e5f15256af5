/// Records of persons' times, as records of whether the event happens in each interval of time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "data/source.hpp"

namespace starling {

/// Discrete time: the intervals (0, e₁], (e₁, e₂], … of the column `time`.
struct SurvivalSettings {
  std::string time;  ///< name of the column of times, which is no feature then
  Vector ends;       ///< e_j: ascending, above 0; at least one
};

/// Number of persons, and of what became of them, in all passes.
struct SurvivalCounts {
  std::int64_t persons = 0;
  std::int64_t events = 0;        ///< written
  std::int64_t unseen = 0;        ///< persons censored in the first half of the first interval: they have no records
  std::int64_t later = 0;         ///< persons whose time is beyond the last interval: censored at its end
  std::int64_t most_records = 0;  ///< of a person
};

/// Name of the feature that says that a record is of the interval from `from` to `to`.
[[nodiscard]] std::string interval_name(const std::string& time, double from, double to);

/// Reads all persons of `reader`, and gives each one's time and whether an event ended it. Throws as make_survival and
/// its reader do.
void for_each_time(RecordReader& reader, const std::string& time, const std::function<void(double, bool)>& use);

/// Reader of one record for each interval in which a person is at risk (docs/methods/counts-and-times.md). A record of
/// `reader` is a person with a time and, as its label, whether an event ended it (1) or not (0 or −1). A person with an
/// event in interval j has records of the intervals 1 to j, of which the last has the label 1. A person without one has
/// records of the intervals of which it was seen for half or longer. Features are the person's number in the source
/// from 0 (`person`), the source's own without the time, and an indicator of each interval but the first
/// (interval_name).
///
/// `counts` must outlive the reader. It goes back to begins of persons. Throws UsageError for sparse records, for
/// a source without names or without that column, and for ends that do not ascend; next() throws RecordError for a time
/// below 0 or missing (NaN: ReadSettings::shows_missing) and for other labels. Other values that are missing become 0.
[[nodiscard]] std::unique_ptr<RecordReader> make_survival(std::unique_ptr<RecordReader> reader,
                                                          const SurvivalSettings& settings, SurvivalCounts& counts);

}  // namespace starling
