#include "data/preparation/survival.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "core/record_error.hpp"
#include "data/forwarding_reader.hpp"

namespace starling {

namespace {

constexpr const char* persons_number = "person";  ///< the column that is written

/// The place of the column of times among the features. Throws UsageError.
std::size_t place_of_time(const RecordReader& reader, const std::string& time) {
  check(!reader.sparse(), "--survival with sparse records: times are a column of a table. Give a CSV or HDF5 file.");
  const std::vector<std::string> names = reader.names();
  const auto found = std::find(names.begin(), names.end(), time);
  check(found != names.end(), "--survival {}: no column has this name. Name the columns of time and event.", time);
  check(
      std::find(names.begin(), names.end(), persons_number) == names.end(),
      "--survival with a column '{0}': the number of each person gets this name. Leave the column out (--drop {0}), or "
      "rename it.",
      persons_number);
  return static_cast<std::size_t>(found - names.begin());
}

struct PersonsTime {
  double time;
  bool event;  ///< whether an event ended it
};

/// The time of the person that `reader` has read last. Throws RecordError.
PersonsTime time_of(const Record& person, std::size_t place, const RecordReader& reader) {
  const double time = person.values[place];
  if (!(time >= 0) || !std::isfinite(time)) {
    throw RecordError(fmt::format("{}: a time is below 0, or missing. Times count from 0, and --missing fills in "
                                  "features alone: correct or remove the row.",
                                  reader.where()),
                      fmt::format("{}: the time {} is below 0, or missing. Times count from 0, and --missing fills in "
                                  "features alone: correct or remove the row.",
                                  reader.where(), time));
  }
  const double label = person.label;
  if (label != 1 && label != 0 && label != -1) {
    throw RecordError(
        fmt::format("{}: an event is neither 0 nor 1. --positive names the labels that are events.", reader.where()),
        fmt::format("{}: the event {} is neither 0 nor 1. --positive names the labels that are events.", reader.where(),
                    label));
  }
  return {time, label == 1};
}

class SurvivalReader final : public ForwardingReader {
 public:
  SurvivalReader(std::unique_ptr<RecordReader> reader, const SurvivalSettings& settings, SurvivalCounts& counts)
      : ForwardingReader(std::move(reader)), settings_(settings), counts_(counts) {
    place_ = place_of_time(*reader_, settings.time);
    check(!settings_.ends.empty() && settings_.ends.front() > 0,
          "--intervals: the first interval must end after time 0. Give ascending ends above 0.");
    for (std::size_t j = 1; j < settings_.ends.size(); ++j) {
      check(settings_.ends[j - 1] < settings_.ends[j],
            "--intervals: {} after {}: ends of intervals must ascend. Sort them, and name each once.",
            settings_.ends[j], settings_.ends[j - 1]);
    }
  }

  bool next(Record& record) override {
    while (done_ == rows_) {
      if (!reader_->next(person_)) return false;
      begin_person();
    }
    const std::size_t intervals = settings_.ends.size();
    record.sparse = false;
    record.index.clear();
    record.key = person_.key;
    record.left_out = person_.left_out;
    record.values.assign(1, static_cast<double>(number_));
    for (std::size_t j = 0; j < person_.values.size(); ++j) {
      if (j != place_) record.values.push_back(std::isnan(person_.values[j]) ? 0 : person_.values[j]);
    }
    for (std::size_t j = 1; j < intervals; ++j) record.values.push_back(j == done_ ? 1 : 0);
    ++done_;
    record.label = done_ == rows_ && event_ ? 1 : 0;
    counts_.events += record.label > 0 ? 1 : 0;
    return true;
  }
  bool next_label(Record& record) override { return next(record); }
  [[nodiscard]] std::size_t features() const override {
    return reader_->features() + settings_.ends.size() - 1;  // the person's number takes the place of the time
  }
  [[nodiscard]] std::vector<std::string> names() const override {
    std::vector<std::string> all{persons_number};
    const std::vector<std::string> own = reader_->names();
    for (std::size_t j = 0; j < own.size(); ++j) {
      if (j != place_) all.push_back(own[j]);
    }
    for (std::size_t j = 1; j < settings_.ends.size(); ++j) {
      all.push_back(interval_name(settings_.time, settings_.ends[j - 1], settings_.ends[j]));
    }
    return all;
  }
  void seek(const Mark& mark) override {
    reader_->seek(mark);
    done_ = rows_ = 0;
    number_ = mark.row - 1;
  }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return std::nullopt; }

 private:
  /// Whether a person without an event was seen for half of the interval with this number, or longer.
  [[nodiscard]] bool was_seen_for_half(double time, std::size_t interval) const {
    if (interval == settings_.ends.size()) return false;
    const double begin = interval == 0 ? 0 : settings_.ends[interval - 1];
    return time >= begin + (settings_.ends[interval] - begin) / 2;
  }
  /// The intervals of the next person.
  void begin_person() {
    const auto [time, is_event] = time_of(person_, place_, *reader_);
    ++number_;
    ++counts_.persons;
    const Vector& ends = settings_.ends;
    done_ = 0;
    const auto whole = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), time) - ends.begin());
    const auto place = static_cast<std::size_t>(std::lower_bound(ends.begin(), ends.end(), time) - ends.begin());
    const bool is_later = place == ends.size();
    event_ = is_event && !is_later;
    rows_ = event_ ? place + 1 : whole + (was_seen_for_half(time, whole) ? 1 : 0);
    counts_.later += is_later ? 1 : 0;
    counts_.unseen += rows_ == 0 ? 1 : 0;
    counts_.most_records = std::max(counts_.most_records, static_cast<std::int64_t>(rows_));
  }

  SurvivalSettings settings_;
  SurvivalCounts& counts_;
  std::size_t place_ = 0;  ///< of the time among the source's features
  Record person_;
  std::int64_t number_ = -1;
  std::size_t rows_ = 0;  ///< records of the person
  std::size_t done_ = 0;  ///< of which have been given
  bool event_ = false;    ///< whether the last has the label 1
};

}  // namespace

std::string interval_name(const std::string& time, double from, double to) {
  return fmt::format("{}:{}..{}", time, from, to);
}

void for_each_time(RecordReader& reader, const std::string& time, const std::function<void(double, bool)>& use) {
  const std::size_t place = place_of_time(reader, time);
  for (Record person; reader.next(person);) {
    const PersonsTime found = time_of(person, place, reader);
    use(found.time, found.event);
  }
}

std::unique_ptr<RecordReader> make_survival(std::unique_ptr<RecordReader> reader, const SurvivalSettings& settings,
                                            SurvivalCounts& counts) {
  return std::make_unique<SurvivalReader>(std::move(reader), settings, counts);
}

}  // namespace starling
