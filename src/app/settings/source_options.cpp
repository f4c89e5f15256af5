#include "source_options.hpp"

#include "catalogue.hpp"
#include <limits>

#include "starling/data/generators/synthetic.hpp"

namespace starling {

namespace {

void add_naming_options(Options& options, ReadSettings& settings) {
  options.add({.name = "format",
               .argument = "NAME",
               .initial = "auto",
               .help = "csv, svmlight, hdf5 or idx, where neither the file's name nor its content tells"},
              settings.format);
  options.add({.name = "label",
               .argument = "COLUMN",
               .help = "name or number (from 0) of the label's column; default: y or label, else the last"},
              settings.label);
  options.add({.name = "id", .argument = "COLUMN", .help = "column that only identifies records: not a feature"},
              settings.id);
  options.add({.name = "drop", .argument = "COLUMNS", .help = "columns that are left out, separated by commas"},
              settings.drop);
  options.add(
      {.name = "encode",
       .argument = "FILE",
       .help = "public constants: CSV with a line `column,category,value`, then one for every category of a column of "
               "text (its name, or its number from 0); what stands nowhere there is an error",
       .files = named::file},
      settings.encode);
}

void add_standardise_option(Options& options, ReadSettings& settings) {
  options.add(
      {.name = "standardise",
       .argument = "FILE",
       .help = "public constants: CSV with a line `feature,mean,sd`, then one for every feature (its name, or its "
               "number from 0 among the features); x becomes (x - mean)/sd. A regression's label is standardised too "
               "if it has "
               "a line (its column's name, or `label` where it has none)",
       .files = named::file},
      settings.standardise);
}

void add_text_options(Options& options, ReadSettings& settings) {
  using Decimal = ReadSettings::Decimal;
  using Header = ReadSettings::Header;
  options.add({.name = "delimiter",
               .argument = "WHAT",
               .initial = "auto",
               .help = "between the columns of text: auto, comma, semicolon, tab, space, or one character"},
              settings.delimiter);
  options.add({.name = "decimal",
               .argument = "WHAT",
               .initial = "point",
               .help = "before the decimals of text: point, or comma, which then delimits no columns"},
              settings.decimal, {{"point", Decimal::point}, {"comma", Decimal::comma}});
  options.add({.name = "header",
               .argument = "WHETHER",
               .initial = "auto",
               .help = "whether text starts with a line of names: auto, yes or no"},
              settings.header, {{"auto", Header::automatic}, {"yes", Header::yes}, {"no", Header::no}});
}

}  // namespace

void add_reading_options(Options& options, ReadSettings& settings) {
  using Features = ReadSettings::Features;
  options.group("Reading");
  add_naming_options(options, settings);
  options.add({.name = "positive",
               .argument = "LABELS",
               .help = "labels that count as +1, all others as -1, separated by commas"},
              settings.positive);
  options.add({.name = "ignore", .argument = "LABELS", .help = "records with these labels are left out"},
              settings.ignore);
  options.add(declared("scale", {.initial = "1"}), settings.scale);
  add_standardise_option(options, settings);
  options.add(
      {.name = "features",
       .argument = "WHAT",
       .initial = "raw",
       .help = "raw, or hog: each record is a square picture, its features are pixels row by row, and models see its "
               "histogram of gradients and a constant (129 features of bounded norm; leave --intercept out)"},
      settings.features, {{"raw", Features::raw}, {"hog", Features::hog}});
  add_text_options(options, settings);
  options.add(declared("dimension"), settings.dimension);
}

void add_column_options(Options& options, ReadSettings& settings) {
  add_naming_options(options, settings);
  add_standardise_option(options, settings);
  add_text_options(options, settings);
}

std::string sources_help() {
  std::string text =
      "\nSources:\n"
      "  FILE.csv[.gz]                text: numbers in columns, one of them the label\n"
      "  FILE.svm[.gz]                sparse rows `label index:value ...`; also .libsvm, .svmlight\n"
      "  FILE.h5                      HDF5 with /x (records x features) and /y (labels)\n"
      "  FEATURES,LABELS              a pair of files, text or IDX (as MNIST's), gzipped or not\n"
      "  part-{client:1}.csv          one file per client; 1 is the number of client 0\n"
      "  - or a named pipe            text, read as it arrives; needs --rounds\n";
  for (const auto& row : generator_table().rows()) {
    text += fmt::format("  synthetic:{:<18} {}\n", row.name, row.help);
    for (const Parameter& parameter : row.parameters)
      text += fmt::format("{:31}  {}: {}\n", "", parameter.key, parameter.help);
  }
  return text;
}

}  // namespace starling
