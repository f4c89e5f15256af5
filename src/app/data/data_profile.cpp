// `starling data profile`.
#include <algorithm>
#include <filesystem>

#include <fmt/ranges.h>

#include "app/commands.hpp"
#include "console/command.hpp"
#include "console/pass.hpp"
#include "console/print.hpp"
#include "core/check.hpp"
#include "core/text/per_client.hpp"
#include "data/description/profile.hpp"
#include "data/source.hpp"
#include "files/durable_file.hpp"
#include "files/text_files.hpp"
#include "run/settings/catalogue.hpp"
#include "run/settings/source_options.hpp"

namespace starling {

namespace {

struct Profile {
  Profile() { reading.source.clear(); }  // there is no default
  ReadSettings reading;
  std::string output;
  bool force = false;
  ProgressChoice progress = ProgressChoice::automatic;
};

Options profile_options(Profile& profile) {
  Options options("data profile");
  options.group("Source");
  options.add(declared("source", "table of text to read: FILE.csv[.gz]",
                       {.initial = "", .example = "patients.csv", .positional = true}),
              profile.reading.source);
  add_table_options(options, profile.reading);
  options.add(option("person", "COLUMN", "name or number (from 0) of the column that tells persons apart",
                     {.example = "patient"}),
              profile.reading.key);
  options.group("Output");
  options.add(declared("output", "folder for the drafts; made if it is not there", {.argument = "DIR"}),
              profile.output);
  options.add(flag("force", "replace drafts that exist"), profile.force);
  add_last_options(options, profile.progress);
  return options;
}

std::string kind_of(const ColumnProfile& column) {
  std::string kind = column.is_text() ? (column.numbers > 0 ? "numbers, texts" : "text") : "number";
  if (column.numbers + column.texts + column.not_finite == 0) kind = "nothing";
  if (column.use == ColumnProfile::Use::label) kind += " (label)";
  if (column.use == ColumnProfile::Use::none) kind += " (not used)";
  return kind;
}

std::string column_line(const ColumnProfile& column, int width) {
  const std::string distinct =
      column.many ? fmt::format("over {}", ColumnProfile::most_distinct) : std::to_string(column.distinct.size());
  std::string text =
      fmt::format("  {:<{}}  {:<24}{:>9}{:>11}", column.name, width, kind_of(column), column.missing, distinct);
  if (column.numbers > 0 && !column.is_text()) {
    for (const double value : {column.moments.min(), column.sample.quantile(0.25), column.sample.quantile(0.5),
                               column.sample.quantile(0.75), column.moments.max()}) {
      text += fmt::format("{:>13.6g}", value);
    }
  }
  return text + "\n";
}

std::string table_text(const std::string& source, const TableProfile& profile) {
  std::size_t width = 6;
  for (const ColumnProfile& column : profile.columns)
    width = std::max(width, std::min<std::size_t>(column.name.size(), 30));
  std::string text = fmt::format("{}: {} records, {} columns\n", source, profile.records, profile.columns.size());
  text += fmt::format("  {:<{}}  {:<24}{:>9}{:>11}{:>13}{:>13}{:>13}{:>13}{:>13}\n", "column", width, "kind", "missing",
                      "distinct", "min", "25 %", "median", "75 %", "max");
  for (const ColumnProfile& column : profile.columns) text += column_line(column, static_cast<int>(width));
  return text;
}

/// The note on a column of text that has no draft; empty for categories.
std::string note_on_texts(const TableProfile& profile, const ColumnProfile& column) {
  if (column.has_texts_among_numbers()) {
    std::vector<std::string> texts;
    for (const std::string& text : column.few_texts) texts.push_back(csv_text(text));
    return fmt::format(
        "note: column '{}' has numbers and a few texts: if they mean missing values, add --missing-values {}\n",
        column.name, quoted({fmt::format("{}", fmt::join(texts, ","))}));
  }
  if (column.has_dates()) {
    return fmt::format(
        "note: column '{}' has dates: --dates DAY makes them days since a public day, or leave it out with --drop\n",
        column.name);
  }
  if (!has_too_many_texts(profile, column)) return "";
  return fmt::format(
      "note: column '{}' has too many texts for categories: leave it out with --drop, or name it by --id or --person\n",
      column.name);
}

/// The notes on columns that the owner should look at.
std::string notes_text(const TableProfile& profile) {
  std::string text;
  for (const std::string& note : profile.notes) text += fmt::format("note: {}\n", note);
  for (const ColumnProfile& column : profile.columns) {
    if (column.use == ColumnProfile::Use::none) continue;
    if (column.not_finite > 0) {
      text += fmt::format("note: column '{}' has {} fields that are not finite: correct or remove their rows\n",
                          column.name, column.not_finite);
    }
    if (column.is_text()) text += note_on_texts(profile, column);
  }
  const bool sampled = std::ranges::any_of(profile.columns, [](const auto& column) { return !column.sample.whole(); });
  if (sampled) text += "note: quartiles are those of a random sample of the records\n";
  return text;
}

/// Writes the drafts, which are for the owner's eyes alone, and says which option takes each.
std::string write_drafts(const Profile& choice, const TableProfile& profile) {
  const std::filesystem::path folder = choice.output;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  check(std::filesystem::is_directory(folder, error), "--output '{}': it cannot be made a folder. Name another.",
        choice.output);
  const std::vector<DraftTable> drafts = draft_tables(profile);
  for (const DraftTable& draft : drafts) {
    check(choice.force || !std::filesystem::exists(folder / draft.file, error),
          "--output '{}': it has a {}, which would be lost. Name another folder, or add --force.", choice.output,
          draft.file);
  }
  std::string text;
  for (const DraftTable& draft : drafts) {
    const std::string path = (folder / draft.file).string();
    const std::optional<std::string> place = replaced_file(path);
    check(place.has_value(), "--output '{}': its {} is no regular file. Name another folder.", choice.output,
          draft.file);
    require_written(replace_file(*place, draft.text), path, "check the folder and the disk");
    text += fmt::format("wrote {}, a draft for {}{}\n", (folder / draft.file).string(), draft.option,
                        draft.option.ends_with(':') ? "FILE" : " FILE");
  }
  return text;
}

std::string warning(const std::string& source) {
  return fmt::format(
      "All of this comes from the private records of {}, and nothing protects it. To publish a draft is a release\n"
      "without noise, which no privacy statement covers. Look at each line, and put in its place what is known "
      "without\n"
      "the records: a code book, the limits of a device, a census.\n",
      source);
}

Manual profile_manual() {
  return {.usage = "FILE --output DIR [OPTIONS]",
          .text =
              "Says what the columns of a table of text hold, and writes drafts of public tables: ranges.csv, "
              "standardise.csv, missing.csv (medians) and encode.csv. The output is NOT PROTECTED: it is computed from "
              "the records as they are, and is meant for their owner alone. Memory does not grow with the number of "
              "records. Exit codes: 0 done, 2 usage, 3 data.",
          .examples = {"starling data profile patients.csv --label ill --output profile"}};
}

int run_profile(const Call& call) {
  auto choice = parsed<Profile, profile_options>(call.words);
  check(!choice.reading.source.empty(), "no source is named. Give a table of text: FILE.csv.");
  check(!choice.output.empty(), "--output is missing. Give the folder for the drafts.");
  check(!is_per_client(choice.reading.source),
        "'{}' stands for a file of each client: drafts are of one. Name the file, as in {}, and let owners agree on "
        "common tables.",
        choice.reading.source, name_of_client(choice.reading.source, 0));
  return run_for_owner([&] {
    require_regular(choice.reading.source);
    check<DataError>(is_table_of_text(choice.reading.source, choice.reading),
                     "{}: it is no table of text, whose columns could be drafted. starling data describe reads it.",
                     choice.reading.source);
    std::string commas;
    if (choice.reading.decimal == ReadSettings::Decimal::point &&
        has_decimal_commas(choice.reading.source, choice.reading)) {
      choice.reading.decimal = ReadSettings::Decimal::comma;
      commas = "note: numbers have decimal commas, and are read so: runs need --decimal comma\n";
    }
    Progress progress(choice.progress);
    progress.begin("reading " + choice.reading.source, nullptr);
    const TableProfile profile = profile_table(choice.reading.source, choice.reading, [&progress] { progress.tick(); });
    progress.end();
    const std::string drafts = write_drafts(choice, profile);
    print(table_text(choice.reading.source, profile) + commas + notes_text(profile) + drafts +
          warning(choice.reading.source));
    return 0;
  });
}

}  // namespace

Command data_profile_command() {
  return command_of<Profile, profile_options>(
      "profile", "drafts of public tables, for the owner of the records (nothing protects them)", profile_manual,
      run_profile);
}

}  // namespace starling
