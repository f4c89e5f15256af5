#include "data/source.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/ranges.h>

#include "core/check.hpp"
#include "core/text/names.hpp"
#include "data/cells/number.hpp"
#include "data/column_names.hpp"
#include "data/column_roles.hpp"
#include "data/memory_records.hpp"
#include "files/text.hpp"
#include "first_reading.hpp"
#include "gz_file.hpp"
#include "readers.hpp"

namespace starling {

namespace {

using namespace std::string_view_literals;

struct Format {
  std::string_view name;
  std::array<std::string_view, 6> endings;  // of file names, before an optional .gz; none where empty
  bool (*is_it)(std::string_view head);     // told from the first bytes, decompressed; the formats are asked in turn
  std::unique_ptr<RecordReader> (*open)(const std::string&, const ReadSettings&, Part);
};

bool is_hdf5(std::string_view head) {
  constexpr std::string_view signature = "\x89HDF\r\n\x1A\n"sv;
  for (const std::size_t user_block : {0U, 512U, 1024U, 2048U}) {
    if (head.size() >= user_block + signature.size() && head.substr(user_block).starts_with(signature)) return true;
  }
  return false;
}

bool is_idx(std::string_view head) {
  constexpr std::string_view types = "\x08\x09\x0B\x0C\x0D\x0E"sv;
  return head.size() >= 4 && head.starts_with("\0\0"sv) && types.find(head[2]) != std::string_view::npos;
}

bool is_npy(std::string_view head) {
  return head.starts_with("\x93NUMPY"sv);
}

bool is_npz(std::string_view head) {
  return head.starts_with("PK\x03\x04"sv);
}

/// UTF-16 counts as text too: the reader of text reports UTF-16.
bool is_text(std::string_view head) {
  return begins_as_utf16(head) || std::none_of(head.begin(), head.end(), [](unsigned char c) {
           return c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\v';
         });
}

/// Whether a text begins with digits and a colon.
bool is_indexed(std::string_view token) {
  const std::size_t colon = token.find_first_not_of("0123456789");
  return colon != 0 && colon != std::string_view::npos && token[colon] == ':';
}

/// Whether the first line with two words is a label, or several with commas, and values behind their indices. Only the
/// second word need be whole: `head` may end within the line.
bool is_svmlight(std::string_view head) {
  constexpr std::string_view blanks = " \t\r";
  if (!is_text(head)) return false;
  while (!head.empty()) {
    std::string_view line = head.substr(0, head.find('\n'));
    head.remove_prefix(std::min(line.size() + 1, head.size()));
    std::vector<std::string_view> words;
    for (line = trimmed(line.substr(0, line.find('#')), blanks); !line.empty(); line = trimmed(line, blanks)) {
      words.push_back(line.substr(0, line.find_first_of(blanks)));
      line.remove_prefix(words.back().size());
    }
    if (words.size() < 2) continue;
    const std::string_view label = words[0];
    const bool is_label =
        !label.ends_with(',') && read_number(label.substr(0, label.find(','))).fault == NumberFault::none;
    const auto last = words.end() - (words.size() > 2 ? 1 : 0);
    return is_label && std::all_of(words.begin() + 1, last,
                                   [](std::string_view word) { return word.starts_with("qid:") || is_indexed(word); });
  }
  return false;
}

constexpr std::array formats{
    Format{"hdf5", {".h5", ".hdf5"}, is_hdf5, open_hdf5},
    Format{"idx", {"-ubyte", ".idx", ".idx1", ".idx2", ".idx3", ".idx4"}, is_idx, open_idx},
    Format{"npy", {".npy"}, is_npy, open_npy},
    Format{"npz", {".npz"}, is_npz, open_npz},
    Format{"svmlight", {".svm", ".libsvm", ".svmlight"}, is_svmlight, open_svmlight},
    Format{"csv", {".csv", ".tsv", ".tab", ".dat", ".txt", ".data"}, is_text, open_csv},
};

bool has_ending(const Format& format, std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  return std::any_of(format.endings.begin(), format.endings.end(),
                     [path](std::string_view ending) { return !ending.empty() && path.ends_with(ending); });
}

std::string known_formats() {
  std::string known;
  for (const Format& format : formats) {
    const auto* const end = std::find(format.endings.begin(), format.endings.end(), "");
    known +=
        fmt::format("{}{}: {}", known.empty() ? "" : "; ", format.name, fmt::join(format.endings.begin(), end, " "));
  }
  return known;
}

const Format& named_format(const std::string& name) {
  for (const Format& format : formats) {
    if (name == format.name) return format;
  }
  std::vector<std::string> known{"auto"};
  for (const Format& format : formats) known.emplace_back(format.name);
  throw UsageError(fmt::format("unknown format '{}': known are auto; {}. {}", name, known_formats(),
                               did_you_mean(name, known, "", "Give --format one of them.")));
}

void refuse_folder(const std::string& path) {
  std::error_code ignored;
  check(!std::filesystem::is_directory(path, ignored),
        "'{}' is a folder. Name a file of records in it, or one for each client, as in site-{{client}}.csv.", path);
}

/// A file's first bytes, decompressed.
std::string head_of(const std::string& path) {
  std::string bytes(4096, '\0');
  bytes.resize(GzFile(path).read(bytes.data(), bytes.size()));
  return bytes;
}

/// Inspects a file whose name does not tell its format. A pipe cannot be inspected: the inspection would consume data.
const Format& format_by_content(const std::string& path) {
  refuse_folder(path);
  std::error_code ignored;
  check(!std::filesystem::exists(path, ignored) || std::filesystem::is_regular_file(path, ignored),
        "{}: neither a regular file nor a name that tells the format: known are {}. Give --format.", path,
        known_formats());
  const std::string head = head_of(path);
  for (const Format& format : formats) {
    if (format.is_it(head)) return format;
  }
  throw DataError(fmt::format(
      "{}: neither its name nor its content tells the format: known are {}; text also gzipped. Give --format.", path,
      known_formats()));
}

/// Tables of other programs, which are not read.
struct ForeignTable {
  std::string_view ending;  // of file names
  std::string_view reader;  // the function of pandas that reads it
};

constexpr std::array foreign_tables{
    ForeignTable{".parquet", "read_parquet"}, ForeignTable{".feather", "read_feather"},
    ForeignTable{".xlsx", "read_excel"},      ForeignTable{".xls", "read_excel"},
    ForeignTable{".ods", "read_excel"},       ForeignTable{".dta", "read_stata"},
    ForeignTable{".sav", "read_spss"},        ForeignTable{".sas7bdat", "read_sas"},
    ForeignTable{".xpt", "read_sas"},         ForeignTable{".pkl", "read_pickle"},
};

void refuse_foreign_tables(const std::string& path) {
  for (const auto& [ending, reader] : foreign_tables) {
    check<DataError>(!path.ends_with(ending),
                     "{}: tables of the format {} are not read. Make a CSV file of it: python3 -c \"import pandas; "
                     "pandas.{}('{}').to_csv('{}.csv', index=False)\"",
                     path, ending.substr(1), reader, path, path.substr(0, path.size() - ending.size()));
  }
}

const Format& find_format(const std::string& path, const std::string& name) {
  if (name != "auto") return named_format(name);
  refuse_foreign_tables(path);
  for (const Format& format : formats) {
    if (!has_ending(format, path)) continue;
    std::error_code ignored;
    const bool is_table =
        format.open != open_csv || !std::filesystem::is_regular_file(path, ignored) || !is_svmlight(head_of(path));
    return is_table ? format : named_format("svmlight");
  }
  return format_by_content(path);
}

std::unique_ptr<RecordReader> open_file(const std::string& path, const ReadSettings& settings, Part part) {
  return find_format(path, settings.format).open(path, settings, part);
}

/// Numbers, or a table of text whose layout is known.
std::unique_ptr<RecordReader> open_offered(const std::string& source, const ReadSettings& settings) {
  if (records_in_memory(source).table.empty()) return open_memory(source, settings);
  ReadSettings table = settings;
  table.encode.clear();
  refuse_text_options(source, table);
  table.encode = settings.encode;
  table.delimiter = "comma";
  table.header = ReadSettings::Header::yes;
  return open_csv(source, table, Part::records);
}

std::unique_ptr<RecordReader> open_pair(const std::string& source, const std::string& features,
                                        const std::string& labels, const ReadSettings& settings) {
  check(settings.label.empty(), "{}: --label {}: the labels of a pair are its second file. Leave it out.", source,
        settings.label);
  const Format& features_format = find_format(features, settings.format);
  const Format& labels_format = find_format(labels, settings.format);
  if (features_format.open != open_csv && labels_format.open != open_csv) refuse_text_options(source, settings);
  const auto labels_reader = labels_format.open(labels, settings, Part::labels);
  return join_pair(source, features_format.open(features, settings, Part::features), *labels_reader);
}

}  // namespace

Row Record::row() const {
  if (sparse) return {values, index};
  return {values, {}};
}

PublicConstants RecordReader::constants() const {
  PublicConstants constants;
  constants.columns = names();
  constants.features = features();
  constants.label = label_name();
  return constants;
}

std::unique_ptr<RecordReader> open_live_reader(const std::string& path, const ReadSettings& settings) {
  const auto named =
      std::find_if(formats.begin(), formats.end(), [&path](const Format& format) { return has_ending(format, path); });
  const Format& format = settings.format != "auto" ? named_format(settings.format)
                         : named != formats.end()  ? *named
                                                   : named_format("csv");
  check(format.open == open_csv || format.open == open_svmlight,
        "'{}' is a pipe: what is read as it arrives is text: csv or svmlight. Write {} into a file.", path,
        format.name);
  return prepare(format.open(path, settings, Part::records), settings);
}

std::vector<std::string> files_of(const std::string& source) {
  if (is_in_memory(source)) return {};
  const std::size_t comma = source.find(',');
  std::error_code ignored;
  if (comma == std::string::npos || std::filesystem::exists(source, ignored)) return {source};
  std::string features = source.substr(0, comma);
  std::string labels = source.substr(comma + 1);
  check(!features.empty() && !labels.empty() && labels.find(',') == std::string::npos,
        "'{}' is not a pair of files: a pair is FEATURES,LABELS. Give two names with one comma between. Files of "
        "several clients are one name with {{client}} in it, such as site-{{client}}.csv.",
        source);
  return {std::move(features), std::move(labels)};
}

void require_regular(const std::string& source) {
  for (const std::string& file : files_of(source)) {
    refuse_folder(file);
    std::error_code ignored;  // a file that is not there is the reader's to look at
    check<DataError>(
        file != "-" && (!std::filesystem::exists(file, ignored) || std::filesystem::is_regular_file(file, ignored)),
        "'{}' is not a regular file: starling reads it more than once. Copy it into a file.", file);
  }
}

void require_same_names(const std::vector<std::string>& names, const std::vector<std::string>& others,
                        const std::string& whose, const std::string& whose_others) {
  if (names.empty() || others.empty()) return;
  const auto [name, other] = std::mismatch(names.begin(), names.end(), others.begin(), others.end());
  check<DataError>(name == names.end() || other == others.end(),
                   "feature {} (from 0) of {} is called '{}', and '{}' in {}: features are told by their place. Give "
                   "both the same columns in one order.",
                   name - names.begin(), whose, name == names.end() ? "" : *name, other == others.end() ? "" : *other,
                   whose_others);
}

bool is_table_of_text(const std::string& source, const ReadSettings& settings) {
  const std::vector<std::string> files = files_of(source);
  return files.size() == 1 && find_format(files.front(), settings.format).open == open_csv;
}

std::vector<std::string> notes_on_layout(const std::string& source, const ReadSettings& settings) {
  const std::vector<std::string> files = files_of(source);
  std::vector<std::string> notes;
  for (std::size_t k = 0; k < files.size(); ++k) {
    std::error_code ignored;
    const bool is_file = std::filesystem::is_regular_file(files[k], ignored);
    if (!is_file || find_format(files[k], settings.format).open != open_csv) continue;
    const Part part = files.size() == 1 ? Part::records : k == 0 ? Part::features : Part::labels;
    for (const std::string& note : notes_on_csv(files[k], settings, part)) {
      notes.push_back(fmt::format("{}: {}", files[k], note));
    }
  }
  return notes;
}

namespace {

/// Records as they stand in a source.
std::unique_ptr<RecordReader> open_unprepared(const std::string& source, const ReadSettings& settings) {
  if (is_in_memory(source)) return open_offered(source, settings);
  const std::vector<std::string> files = files_of(source);
  return files.size() == 2 ? open_pair(source, files[0], files[1], settings)
                           : open_file(source, settings, Part::records);
}

}  // namespace

std::vector<std::string> feature_columns(const std::string& source, const ReadSettings& settings) {
  return open_unprepared(source, settings)->names();
}

std::unique_ptr<RecordReader> open_reader(const std::string& source, const ReadSettings& settings) {
  const auto open = [&] { return open_unprepared(source, settings); };
  const bool keeps = settings.first_reading != nullptr && !is_in_memory(source);
  return prepare(keeps ? settings.first_reading->open(source, settings, open) : open(), settings);
}

}  // namespace starling
