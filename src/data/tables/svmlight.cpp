#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

#include "core/check.hpp"
#include "core/record_error.hpp"
#include "data/cells/number.hpp"
#include "data/column_roles.hpp"
#include "data/formats/readers.hpp"
#include "line_reader.hpp"

namespace starling {

namespace {

/// Takes the next token off the front of `line`; empty at its end.
std::string_view next_token(std::string_view& line) {
  const auto from = std::min(line.find_first_not_of(" \t"), line.size());
  const auto end = std::min(line.find_first_of(" \t", from), line.size());
  const std::string_view token = line.substr(from, end - from);
  line.remove_prefix(end);
  return token;
}

class SvmlightReader final : public RecordReader {
 public:
  SvmlightReader(const std::string& path, const ReadSettings& settings)
      : lines_(path, settings), dimension_(settings.dimension), of_model_(settings.constants != nullptr) {}

  bool next(Record& record) override {
    std::string_view line;
    std::string_view label;
    while (label.empty()) {
      if (!lines_.next(line)) return false;
      line = line.substr(0, line.find('#'));
      label = next_token(line);
    }
    record.sparse = true;
    record.values.clear();
    record.index.clear();
    record.label = read_label(label);
    for (auto token = next_token(line); !token.empty(); token = next_token(line)) {
      if (!token.starts_with("qid:")) add(token, record);
    }
    return true;
  }

  [[nodiscard]] std::size_t features() const override { return dimension_.value_or(largest_); }
  [[nodiscard]] bool sparse() const override { return true; }
  [[nodiscard]] std::string where() const override { return lines_.where(); }
  [[nodiscard]] Mark mark() const override { return lines_.mark(); }
  void seek(const Mark& mark) override { lines_.seek(mark); }

 private:
  [[nodiscard]] double read_label(std::string_view text) const {
    const ParsedNumber parsed = read_number(text);
    if (parsed.fault == NumberFault::text && text.find(',') != std::string_view::npos)
      refuse(fmt::format("the label '{}'", excerpt(text)), "a label",
             " has a comma: a record has one label. Keep one.");
    if (parsed.fault != NumberFault::none) throw_number_fault(where(), "the label", text, parsed.fault, Remedies());
    return parsed.value;
  }

  void add(std::string_view token, Record& record) {
    const auto colon = token.find(':');
    const std::int32_t index = parse_index(token, colon);
    check_index(index, record.index.empty() ? 0 : record.index.back() + 1);
    const std::string_view text = token.substr(colon + 1);
    const ParsedNumber parsed = read_number(text);
    if (parsed.fault != NumberFault::none) {
      // Others are not told the feature: the set of a record's features is as private as the values.
      throw_number_fault(where(), fmt::format("the value at index {}", index), text, parsed.fault, Remedies(),
                         "a value");
    }
    record.index.push_back(index - 1);
    record.values.push_back(parsed.value);
    largest_ = std::max(largest_, static_cast<std::size_t>(index));
  }

  [[nodiscard]] std::int32_t parse_index(std::string_view token, std::size_t colon) const {
    std::int32_t index = 0;
    const char* end = token.data() + std::min(colon, token.size());
    const auto [stop, error] = std::from_chars(token.data(), end, index);
    if (colon == std::string_view::npos || stop != end || error != std::errc()) throw_index_fault(token, error);
    return index;
  }

  /// `fault` is said of what stands there, which the owner alone is shown.
  [[noreturn]] void refuse(const std::string& shown, std::string_view what, const std::string& fault) const {
    throw RecordError(fmt::format("{}: {}{}", where(), what, fault), fmt::format("{}: {}{}", where(), shown, fault));
  }

  [[noreturn]] void throw_index_fault(std::string_view token, std::errc error) const {
    const std::string shown = fmt::format("'{}'", excerpt(token));
    if (error == std::errc::result_out_of_range) {
      refuse(shown, "a token",
             fmt::format(" has an index beyond {}: the largest that can be held. Renumber the features.",
                         std::numeric_limits<std::int32_t>::max()));
    }
    refuse(shown, "a token", " is not index:value: a row reads label index:value …. Correct the row.");
  }

  void check_index(std::int32_t index, std::int32_t previous) const {
    if (index > previous && (!dimension_ || static_cast<std::size_t>(index) <= *dimension_)) return;
    const std::string shown = fmt::format("index {}", index);
    if (index <= 0) refuse(shown, "an index below 1", ": indices count from 1. Add one to every index.");
    if (index == previous) refuse(shown, "an index", " stands twice: a feature has one value. Remove one.");
    if (index < previous) {
      refuse(fmt::format("{} comes after {}", shown, previous), "an index comes after a larger one",
             ": indices must ascend. Sort the row.");
    }
    refuse(shown, "an index is too large",
           fmt::format(fmt::runtime(of_model_ ? ": the model has {} features. Leave the feature out."
                                              : ": --dimension is {}. Raise it, or correct the row."),
                       *dimension_));
  }

  LineReader lines_;
  std::optional<std::size_t> dimension_;
  bool of_model_;  ///< a model says the dimension
  std::size_t largest_ = 0;
};

}  // namespace

std::unique_ptr<RecordReader> open_svmlight(const std::string& path, const ReadSettings& settings, Part part) {
  check<DataError>(part == Part::records,
                   "{}: svmlight in a pair: its rows hold both labels and features. Give the file alone.", path);
  refuse_column_options(path, settings, "svmlight has no columns: the label stands first");
  refuse_text_options(path, settings);
  return std::make_unique<SvmlightReader>(path, settings);
}

}  // namespace starling
