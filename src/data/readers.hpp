/// The file formats. Internal to the data room: others call open_reader.
#pragma once

#include <memory>
#include <string>

#include "starling/data/source.hpp"

namespace starling {

/// Delimited text. The delimiter is told from the first line that is not blank: the most frequent of , ; and tab
/// outside quotes, else runs of spaces. That line is a header if one of its fields is text. The label is
/// `settings.label` (a name, or a number from 0), else the first column called y or label in any case, else the last.
/// Throws DataError, and UsageError for a label column that is not there.
[[nodiscard]] std::unique_ptr<RecordReader> open_csv(const std::string& path, const ReadSettings& settings);

/// `label index:value …` with ascending indices from 1; `qid:…` is skipped and # starts a comment.
[[nodiscard]] std::unique_ptr<RecordReader> open_svmlight(const std::string& path, const ReadSettings& settings);

/// Text that arrives through a pipe or, as "-", on standard input: CSV, or SVMlight where the name or `settings.format`
/// says so. Waits for its first line. Marks do not work. Throws as open_reader does.
[[nodiscard]] std::unique_ptr<RecordReader> open_live_reader(const std::string& path, const ReadSettings& settings);

}  // namespace starling
