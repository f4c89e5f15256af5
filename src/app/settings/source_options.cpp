#include "source_options.hpp"

#include <limits>

#include "starling/data/generators/synthetic.hpp"

namespace starling {

void add_reading_options(Options& options, ReadSettings& settings) {
  using Header = ReadSettings::Header;
  using Features = ReadSettings::Features;
  const char* group = "Reading";
  options.add({group, "format", "NAME", "auto",
               "csv, svmlight, hdf5 or idx, where neither the file's name nor its content tells",
               setter::text(settings.format)});
  options.add({group, "label", "COLUMN", "",
               "name or number (from 0) of the label's column; default: y or label, else the last",
               setter::text(settings.label)});
  options.add(
      {group, "id", "COLUMN", "", "column that only identifies records: not a feature", setter::text(settings.id)});
  options.add(
      {group, "drop", "COLUMNS", "", "columns that are left out, separated by commas", setter::list(settings.drop)});
  options.add({group, "encode", "FILE", "",
               "public constants: CSV with a line `column,category,value`, then one for every category of a column of "
               "text (its name, or its number from 0); what stands nowhere there is an error",
               setter::text(settings.encode), false, named::file});
  options.add({group, "positive", "LABELS", "", "labels that count as +1, all others as -1, separated by commas",
               setter::list(settings.positive)});
  options.add({group, "ignore", "LABELS", "", "records with these labels are left out", setter::list(settings.ignore)});
  options.add({group, "scale", "FACTOR", "1",
               "public factor of every feature (1/255 is a number too), as steps and clipping want features of about "
               "size 1",
               setter::number(settings.scale, -1e12, 1e12)});
  options.add(
      {group, "standardise", "FILE", "",
       "public constants: CSV with a line `feature,mean,sd`, then one for every feature (its name, or its "
       "number from 0 among the features); x becomes (x - mean)/sd. A regression's label is standardised too if it has "
       "a line (its column's name, or `label` where it has none)",
       setter::text(settings.standardise), false, named::file});
  options.add({group, "features", "WHAT", "raw",
               "raw, or hog: each record is a square picture, its features are pixels row by row, and models see its "
               "histogram of gradients and a constant (129 features of bounded norm; leave --intercept out)",
               setter::choice<Features>(settings.features, {{"raw", Features::raw}, {"hog", Features::hog}})});
  options.add({group, "delimiter", "WHAT", "auto",
               "between the columns of text: auto, comma, semicolon, tab, space, or one character",
               setter::text(settings.delimiter)});
  options.add({group, "header", "WHETHER", "auto", "whether text starts with a line of names: auto, yes or no",
               setter::choice<Header>(settings.header,
                                      {{"auto", Header::automatic}, {"yes", Header::yes}, {"no", Header::no}})});
  options.add({group, "dimension", "D", "",
               "features of a sparse file; default: the largest index in it (--features hog needs it)",
               setter::integer(settings.dimension, 1, std::numeric_limits<std::int32_t>::max())});
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
