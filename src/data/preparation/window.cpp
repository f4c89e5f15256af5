#include "data/preparation/window.hpp"

#include <algorithm>
#include <cmath>
#include <list>
#include <utility>

#include "column_table.hpp"
#include "core/check.hpp"
#include "data/label_rules.hpp"

namespace starling {

namespace {

/// A record of the source and its place.
struct Item {
  Record record;
  Mark mark;
};

class WindowReader final : public RecordReader {
 public:
  WindowReader(std::unique_ptr<RecordReader> reader, const WindowSettings& settings, WindowCounts& counts)
      : reader_(std::move(reader)),
        length_(settings.length),
        step_(settings.step),
        labels_(settings.ignore, settings.positive, settings.class_labels),
        counts_(counts) {}

  bool next(Record& record) override {
    while (fill()) {
      const bool whole = has_one_label();
      if (whole) summarise(record);
      const auto end = std::next(window_.begin(), static_cast<std::ptrdiff_t>(step_));
      spare_.splice(spare_.end(), window_, window_.begin(), end);
      if (whole) return true;
    }
    return false;
  }

  [[nodiscard]] std::size_t features() const override { return 2 * reader_->features(); }
  [[nodiscard]] std::vector<std::string> names() const override {
    std::vector<std::string> sources = reader_->names();
    for (std::size_t j = sources.size(); j < reader_->features(); ++j) sources.push_back(fmt::format("x{}", j));
    std::vector<std::string> all;
    for (const std::string& name : sources) all.insert(all.end(), {name + "_mean", name + "_sd"});
    return all;
  }
  [[nodiscard]] std::string where() const override {
    return fmt::format("{}, the last of a window of {} records", reader_->where(), length_);
  }
  [[nodiscard]] Mark mark() const override { return window_.empty() ? reader_->mark() : window_.front().mark; }
  void seek(const Mark& mark) override {
    reader_->seek(mark);
    spare_.splice(spare_.end(), window_);
    unseen_ = false;
  }

 private:
  /// Reads on until the window is whole; false, with an incomplete one counted, at the end of the source.
  bool fill() {
    while (window_.size() < length_) {
      if (spare_.empty()) spare_.emplace_back();
      spare_.front().mark = reader_->mark();
      if (!reader_->next(spare_.front().record)) {
        counts_.incomplete += std::exchange(unseen_, false) ? 1 : 0;
        return false;
      }
      window_.splice(window_.end(), spare_, spare_.begin());
      unseen_ = true;
    }
    unseen_ = false;
    return true;
  }

  /// Whether the window is kept. Counts the window.
  bool has_one_label() {
    const auto ignored = [this](const Item& item) { return labels_.ignores(item.record.label); };
    if (std::any_of(window_.begin(), window_.end(), ignored)) {
      ++counts_.ignored;
      return false;
    }
    const double label = labels_.mapped(window_.front().record.label, *this);
    const bool same = std::all_of(window_.begin(), window_.end(),
                                  [&](const Item& item) { return labels_.mapped(item.record.label, *this) == label; });
    ++(same ? counts_.kept : counts_.mixed);
    return same;
  }

  void summarise(Record& record) const {
    const Record& first = window_.front().record;
    record.label = labels_.mapped(first.label, *this);
    record.key = first.key;
    record.sparse = false;
    record.index.clear();
    record.values.resize(2 * first.values.size());
    for (std::size_t j = 0; j < first.values.size(); ++j) {
      const auto [mean, deviation] = figures_of(j);
      if (!std::isfinite(mean) || !std::isfinite(deviation)) {
        fail<DataError>(
            "{}: mean or standard deviation of feature {} is beyond the range of double precision: the values are too "
            "large. Use --scale.",
            where(), shown_column(j, reader_->names()));
      }
      record.values[2 * j] = mean;
      record.values[2 * j + 1] = deviation;
    }
  }

  /// Mean and standard deviation of feature j. A constant has itself and exactly 0.
  [[nodiscard]] std::pair<double, double> figures_of(std::size_t j) const {
    const auto count = static_cast<double>(length_);
    const double first = window_.front().record.values[j];
    double total = 0;
    for (const Item& item : window_) total += item.record.values[j] - first;
    const double mean = first + total / count;
    double squares = 0;
    for (const Item& item : window_) {
      const double difference = item.record.values[j] - mean;
      squares += difference * difference;
    }
    return {mean, std::sqrt(squares / count)};
  }

  std::unique_ptr<RecordReader> reader_;
  std::size_t length_;
  std::size_t step_;
  LabelRules labels_;
  WindowCounts& counts_;
  std::list<Item> window_;
  std::list<Item> spare_;
  bool unseen_ = false;  ///< records have come since the last whole window
};

}  // namespace

std::unique_ptr<RecordReader> make_windows(std::unique_ptr<RecordReader> reader, const WindowSettings& settings,
                                           WindowCounts& counts) {
  check(settings.length >= 2, "--window {}: a standard deviation needs two records at least. Make it longer.",
        settings.length);
  check(settings.step >= 1 && settings.step <= settings.length,
        "--window-step {}: must be 1 to {}, the window: beyond it records would be passed over. Choose another.",
        settings.step, settings.length);
  check(!reader->sparse(),
        "--window with sparse records: their means are not sparse. Convert them to .h5 or .csv first.");
  return std::make_unique<WindowReader>(std::move(reader), settings, counts);
}

}  // namespace starling
