#include "source_options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <string_view>
#include <utility>

#include "catalogue.hpp"
#include "core/check.hpp"
#include "data/cells/number.hpp"
#include "data/generators/synthetic.hpp"
#include "loss/loss.hpp"

namespace starling {

namespace {

void add_format_option(Options& options, ReadSettings& settings) {
  options.add(option("format", "NAME",
                     "csv, svmlight, hdf5, idx, npy or npz, where neither the file's name nor its content tells",
                     {.initial = "auto"}),
              settings.format);
}

void add_naming_options(Options& options, ReadSettings& settings) {
  options.add(
      option("label", "COLUMN", "name or number (from 0) of the label's column; default: y or label, else the last",
             {.example = "y", .common = true}),
      settings.label);
  options.add(option("id", "COLUMN", "column that only identifies records: not a feature", {.example = "patient"}),
              settings.id);
  options.add(option("drop", "COLUMNS",
                     "columns that are left out, separated by commas; a name with a comma stands in quotes, as in "
                     "'\"town, state\",date'",
                     {.example = "name,date"}),
              settings.drop);
}

void read_encoding(const std::string& text, ReadSettings& settings) {
  using Encoding = ReadSettings::Encoding;
  constexpr std::array<std::pair<std::string_view, Encoding>, 2> kinds{
      {{"onehot:", Encoding::one_hot}, {"reference:", Encoding::reference}}};
  const auto* const kind = std::ranges::find_if(kinds, [&](const auto& each) { return text.starts_with(each.first); });
  settings.encoding = kind == kinds.end() ? Encoding::numbers : kind->second;
  settings.encode = kind == kinds.end() ? text : text.substr(kind->first.size());
  check(kind == kinds.end() || !settings.encode.empty(), "'{}' names no file. Give {}FILE.", text,
        kind == kinds.end() ? "" : kind->first);
}

void read_missing(const std::string& text, ReadSettings& settings) {
  using Missing = ReadSettings::Missing;
  constexpr std::string_view constant = "constant:";
  constexpr std::array<std::pair<std::string_view, Missing>, 3> words{
      {{"refuse", Missing::refuse}, {"zero", Missing::zero}, {"indicator", Missing::indicator}}};
  const auto* const word = std::ranges::find(words, text, [](const auto& each) { return each.first; });
  const bool is_constant = text.starts_with(constant) && text.size() > constant.size();
  check(word != words.end() || is_constant,
        "'{}' does not say what a missing value becomes. Give refuse, zero, indicator or constant:FILE.", text);
  settings.missing = is_constant ? Missing::constant : word->second;
  settings.missing_constants = is_constant ? text.substr(constant.size()) : "";
}

/// Texts and missing values.
void add_gap_options(Options& options, ReadSettings& settings) {
  options.add(
      option("encode", "[onehot:|reference:]FILE",
             "public constants: CSV with a line `column,category,value`, then one for every category of a column of "
             "text (its name, or its number from 0); what stands nowhere there is an error. With onehot: a category "
             "is a feature COLUMN=CATEGORY of 0 and 1, and the category * takes all other texts. With reference: the "
             "first category of each column is the reference, which has no feature",
             {.example = "encode.csv", .files = named::encoding}),
      [&settings](const std::string& text) { read_encoding(text, settings); });
  options.add(
      option("missing", "RULE",
             "what a missing feature becomes (empty, NA, NaN): refuse (an error), zero (0 after --standardise or "
             "--ranges), indicator (zero, and each column COLUMN gets a further feature COLUMN.missing of 0 and 1) or "
             "constant:FILE (public constants: CSV with a line `feature,value`, then one for every feature)",
             {.initial = "refuse", .example = "zero", .files = named::missing}),
      [&settings](const std::string& text) { read_missing(text, settings); });
}

void add_scaling_options(Options& options, ReadSettings& settings) {
  options.add(
      option("standardise", "FILE",
             "public constants: CSV with a line `feature,mean,sd`, then one for every feature (its name, or its "
             "number from 0 among the features); x becomes (x - mean)/sd. A regression's label is standardised too "
             "if it has a line (its column's name, or `label` where it has none). Or values:MEAN/SD,MEAN/SD,... with "
             "a pair for every feature column, in their order",
             {.example = "standardise.csv", .files = named::standardisation}),
      settings.standardise);
  options.add(
      option("ranges", "FILE",
             "public constants: CSV with a line `feature,low,high`, then lines as of --standardise; x is "
             "clipped to its range, which is mapped to -1 ... 1. Under --tuning auto, omd and fedavg go on from there: "
             "clients release means within the ranges, or histograms",
             {.example = "ranges.csv",
              .files = named::file,
              .relations = {excludes("standardise", "either says how columns are scaled", "Give one of them.")}}),
      settings.ranges);
}

void add_text_options(Options& options, ReadSettings& settings) {
  using Decimal = ReadSettings::Decimal;
  using Header = ReadSettings::Header;
  options.add(
      option("delimiter", "WHAT", "between the columns of text: auto, comma, semicolon, tab, space, or one character"),
      settings.delimiter);
  options.add(
      option(
          "decimal", "WHAT",
          "before the decimals of text: point, comma (but in files that have commas between their columns), or auto: "
          "in each file what its first 50 rows have. A file with commas needs semicolons or tabs between columns",
          {.initial = "point"}),
      settings.decimal, {{"point", Decimal::point}, {"comma", Decimal::comma}, {"auto", Decimal::automatic}});
  options.add(option("dates", "DAY",
                     "dates in text (2024-03-01 or 1.3.2024, a time after it does not count) are the number of days "
                     "since this public day",
                     {.example = "2020-01-01"}),
              [&settings](const std::string& text) {
                settings.first_day = read_date(text);
                check(settings.first_day.has_value(), "'{}' is no day. Give one such as 2020-01-01.", text);
              });
  options.add(
      option("missing-values", "TEXTS",
             "texts or numbers that say that a value is missing, separated by commas, beside an empty field, NA, "
             "N/A, ?, null and NaN",
             {.example = "unbekannt,k.A.,-999"}),
      [&settings](const std::string& text) {
        // The empty field, as in `,unknown`, is one of the usual marks.
        settings.missing_values = split_list(text.starts_with(',') ? text.substr(1) : text);
      });
  options.add(
      option("header", "WHETHER", "whether text starts with a line of names: auto, yes or no", {.initial = "auto"}),
      settings.header, {{"auto", Header::automatic}, {"yes", Header::yes}, {"no", Header::no}});
}

}  // namespace

void read_labels_of(const Loss& loss, DataSettings& data) {
  data.label_map = [&loss](double raw) { return loss.label(raw); };
  if (loss.classifies()) data.labels_stay = "labels are classes";
  if (loss.link() == Link::log)
    data.labels_stay = "labels are counts or amounts, whose means are exponentials of scores";
}

void check_class_labels(const ReadSettings& settings, std::size_t scores, const std::string& loss) {
  const std::size_t labels = settings.class_labels.size();
  if (labels == 0) return;
  check(scores == 1 || scores > 2,
        "--class-labels with {}: it does not tell two classes -1 and 1 apart, nor three or more classes. Leave "
        "--class-labels out, or give --loss logistic.",
        loss);
  check(labels == std::max<std::size_t>(scores, 2),
        "--class-labels names {} labels, and {} tells {} classes apart. Name one label for each class.", labels, loss,
        std::max<std::size_t>(scores, 2));
}

void check_class_labels(const ReadSettings& settings, const Loss& loss, const std::string& spec, bool own) {
  check_class_labels(settings, loss.classifies() && !own ? loss.scores() : 0, "--loss " + spec);
}

void add_reading_options(Options& options, ReadSettings& settings) {
  using Features = ReadSettings::Features;
  options.group("Reading");
  add_format_option(options, settings);
  add_naming_options(options, settings);
  add_gap_options(options, settings);
  options.add(option("positive", "LABELS", "labels that count as +1, all others as -1, separated by commas",
                     {.example = "4,5,6"}),
              [&settings](const std::string& text) {
                settings.positive.clear();
                for (const std::string& label : split_list(text)) {
                  check(std::isalpha(static_cast<unsigned char>(label.front())) == 0,
                        "'{}' is not a number, as labels are. Give texts numbers by --encode onehot:FILE, of which "
                        "starling data profile writes a draft.",
                        label);
                  settings.positive.push_back(
                      number_between(label, std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()));
                }
              });
  options.add(option("class-labels", "LABELS",
                     "the labels of the classes as the records have them. Of a loss of two classes the first counts as "
                     "-1, the second as 1; of softmax:K they are the classes 0 to K - 1. Any other is refused. Public: "
                     "model.h5 has them, and predictions are given by them. Without it predictions are -1 and 1, even "
                     "where labels are 0 and 1, or 0 to K - 1",
                     {.example = "0,1",
                      .relations = {excludes("positive", "both say which label counts as 1", "Give one of them.")}}),
              settings.class_labels);
  options.add(option("ignore", "LABELS", "records with these labels are left out", {.example = "0"}), settings.ignore);
  options.add(declared("scale", {.initial = "1"}), settings.scale);
  add_scaling_options(options, settings);
  options.add(
      option("features", "WHAT",
             "raw, or hog: each record is a square picture, its features are pixels row by row, and models see its "
             "histogram of gradients and a constant (129 features of bounded norm; leave --intercept out)",
             {.initial = "raw"}),
      settings.features, {{"raw", Features::raw}, {"hog", Features::hog}});
  add_text_options(options, settings);
  options.add(declared("dimension"), settings.dimension);
}

void add_missing_person_option(Options& options, ReadSettings::MissingKey& rule) {
  using MissingKey = ReadSettings::MissingKey;
  options.add(option("missing-person", "RULE",
                     "a record without a person (empty, NA, NaN): refuse (an error), or drop: it is not used, and its "
                     "place stays, as that of one more person who adds nothing",
                     {.relations = {needs("unit=person", "records stand for themselves without it")}}),
              rule, {{"refuse", MissingKey::refuse}, {"drop", MissingKey::drop}});
}

void add_column_options(Options& options, ReadSettings& settings) {
  add_format_option(options, settings);
  add_naming_options(options, settings);
  add_gap_options(options, settings);
  add_scaling_options(options, settings);
  add_text_options(options, settings);
}

void add_table_options(Options& options, ReadSettings& settings) {
  options.group("Reading");
  add_naming_options(options, settings);
  add_text_options(options, settings);
}

OptionValues source_values() {
  std::vector<std::string> names;
  std::string text =
      "  FILE.csv[.gz]                text: numbers in columns, one of them the label\n"
      "  FILE.svm[.gz]                sparse rows `label index:value ...`; also .libsvm, .svmlight\n"
      "  FILE.h5                      HDF5 with /x (records x features) and /y (labels)\n"
      "  FILE.npy, FILE.npz           NumPy: an array of records x columns; arrays X, y and, if there, features\n"
      "  FEATURES,LABELS              a pair of files, text or IDX (as MNIST's), gzipped or not\n"
      "  part-{client:1}.csv          one file per client; 1 is the number of client 0\n"
      "  - or a named pipe            text, read as it arrives; needs --rounds\n";
  for (const auto& row : generator_table().rows()) {
    names.push_back("synthetic:" + row.name);
    text += fmt::format("  synthetic:{:<18} {}\n", row.name, row.help);
    for (const Parameter& parameter : row.parameters)
      text += fmt::format("{:31}  {}: {}\n", "", parameter.key, parameter.help);
  }
  return {"Sources", std::move(text), std::move(names)};
}

}  // namespace starling
