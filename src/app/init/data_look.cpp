#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "app/data/description_text.hpp"
#include "console/pass.hpp"
#include "core/check.hpp"
#include "core/text/per_client.hpp"
#include "data/column_names.hpp"
#include "data/description/profile.hpp"
#include "data/generators/synthetic.hpp"
#include "data/source.hpp"
#include "files/text_files.hpp"
#include "init.hpp"
#include "loss/loss.hpp"

namespace starling {

namespace {

using Use = ColumnProfile::Use;

constexpr std::size_t most_shown_labels = 5;
constexpr int most_classes_beyond_doubt = 10;
constexpr const char* decimal_commas = "decimal commas";

bool exists(const std::string& source) {
  std::error_code ignored;
  const std::vector<std::string> files = files_of(source);
  return std::ranges::all_of(files, [&](const std::string& file) { return std::filesystem::exists(file, ignored); });
}

/// The names of the sources that are here.
std::vector<std::string> sources_here(const std::string& source, Client clients) {
  if (!is_per_client(source)) return {source};
  std::vector<std::string> names;
  for (Client u = 0; u < clients; ++u) {
    const std::string name = name_of_client(source, u);
    if (exists(name)) names.push_back(name);
  }
  check(!names.empty(), "'{}': none of the files of clients 0 to {} is here. Correct the name.", source, clients - 1);
  return names;
}

std::string in_file(const ColumnProfile& column, const std::string& source) {
  return fmt::format("{}: column '{}'", source, column.name);
}

Decision about_texts(const TableProfile& profile, const ColumnProfile& column, const std::string& source) {
  const std::string head = in_file(column, source);
  if (column.use == Use::label) {
    return {
        fmt::format("{} is the label and holds text. Give a public table of a number for each text, of which starling "
                    "data profile writes a draft, or name another column as label",
                    head),
        {"encode = onehot:FILE", "label = COLUMN"}};
  }
  if (column.has_dates()) {
    return {fmt::format("{} holds dates. Let them be days since a public day, or leave it out", head),
            {"dates = 2020-01-01", fmt::format("drop = {}", csv_text(column.name))}};
  }
  if (has_too_many_texts(profile, column)) {
    return {fmt::format("{} holds many different texts. Leave it out, or call it an identifier", head),
            {fmt::format("drop = {}", csv_text(column.name)), fmt::format("id = {}", column.name)}};
  }
  std::vector<std::string> choices{fmt::format("drop = {}", csv_text(column.name)), "encode = onehot:FILE"};
  constexpr std::size_t most_categories = 20;  // more may be names of persons who have several records
  if (column.distinct.size() > most_categories) choices.push_back(fmt::format("id = {}", column.name));
  return {
      fmt::format("{} holds {} different texts. Leave it out, {}or give a public table of its texts, of which starling "
                  "data profile writes a draft",
                  head, column.distinct.size(), choices.size() > 2 ? "call it an identifier, " : ""),
      std::move(choices)};
}

Decision about_missing_label(const ColumnProfile& column, const std::string& source) {
  return {fmt::format("{} is the label, and is empty in {} records. Remove these records", in_file(column, source),
                      column.missing),
          {}};
}

/// One decision for all features that are empty in some records.
Decision about_missing(const std::vector<const ColumnProfile*>& columns, const std::string& source) {
  std::vector<std::string> counts;
  for (const ColumnProfile* column : columns)
    counts.push_back(column->missing == 0 ? fmt::format("'{}'", column->name)  // texts that may mean it are not counted
                                          : fmt::format("'{}' in {}", column->name, column->missing));
  return {fmt::format("{}: values are missing in some records: {}. Say what becomes of them", source,
                      fmt::join(counts, ", ")),
          {"missing = indicator", "missing = zero", "missing = constant:FILE"}};
}

/// One decision for all texts in columns of numbers.
Decision about_texts_among_numbers(const std::vector<const ColumnProfile*>& columns, const std::string& source) {
  std::set<std::string> texts;
  std::vector<std::string> names;
  for (const ColumnProfile* column : columns) {
    names.push_back(fmt::format("'{}'", column->name));
    texts.insert(column->few_texts.begin(), column->few_texts.end());
  }
  std::vector<std::string> fields;
  for (const std::string& text : texts) fields.push_back(csv_text(text));
  return {fmt::format("{}: numbers and a few texts stand in {}. If the texts mean missing values, say so; else correct "
                      "the records",
                      source, fmt::join(names, ", ")),
          {fmt::format("missing-values = {}", fmt::join(fields, ","))}};
}

Decision about_commas(const std::string& source) {
  return {fmt::format("{}: numbers have decimal commas", source), {"decimal = comma"}};
}

/// Changes the decision on decimal commas where only some files have them: `--decimal auto` tells for each file.
void tell_commas_of_some(Decision& decision, Client files) {
  const Client with_commas = 1 + static_cast<Client>(decision.more_files);
  if (with_commas == files) return;
  decision.matter += fmt::format(", as in {} of {} files. Read each file as it is written", with_commas, files);
  decision.more_files = 0;
  decision.choices = {"decimal = auto"};
}

Decision about_nobody(const ColumnProfile& column, const std::string& source) {
  return {
      fmt::format("{} tells persons apart, and is empty in {} records: nobody knows whose these are. Complete them, "
                  "or leave these records out",
                  in_file(column, source), column.missing),
      {"missing-person = drop"}};
}

/// Adds a decision about a column, unless another file has led to it already.
void add_decision(Decision decision, const std::string& about, DataLook& look) {
  const auto same = std::ranges::find_if(look.decisions, [&](const Decision& each) { return each.about == about; });
  if (same != look.decisions.end()) {
    ++same->more_files;
    return;
  }
  decision.about = about;
  look.decisions.push_back(std::move(decision));
}

/// Adds the decisions about one column.
void look_at_column(const TableProfile& profile, const ColumnProfile& column, const std::string& source,
                    const ReadSettings& settings, DataLook& look) {
  if (column.use == Use::label) {
    look.label =
        fmt::format("column '{}'{}", column.name, settings.label.empty() ? ", found by its name or place" : "");
    if (column.missing > 0) add_decision(about_missing_label(column, source), "missing labels", look);
  }
  if (column.is_text() && (settings.encode.empty() || column.has_dates()) &&
      (column.use == Use::label || !column.has_texts_among_numbers()))
    add_decision(about_texts(profile, column, source), "texts of " + column.name, look);
  if (column.not_finite > 0) {
    look.decisions.push_back({fmt::format("{} has {} numbers that are not finite. Correct or remove these records",
                                          in_file(column, source), column.not_finite),
                              {}});
  }
}

/// Adds the decisions about several features at once.
void look_at_features(const TableProfile& profile, const std::string& source, const ReadSettings& settings,
                      DataLook& look) {
  std::vector<const ColumnProfile*> empty;
  std::vector<const ColumnProfile*> mixed;
  for (const ColumnProfile& column : profile.columns) {
    if (column.use != Use::feature) continue;
    if (column.missing > 0) empty.push_back(&column);
    if (column.has_texts_among_numbers()) mixed.push_back(&column);
  }
  if (!mixed.empty() && settings.encode.empty())
    add_decision(about_texts_among_numbers(mixed, source), "texts among numbers", look);
  if ((!empty.empty() || !mixed.empty()) && settings.missing == ReadSettings::Missing::refuse)
    add_decision(about_missing(empty.empty() ? mixed : empty, source), "missing values", look);
}

/// Adds the decisions without which a table of text cannot be read as numbers.
void look_at_table(const std::string& source, ReadSettings settings, DataLook& look) {
  if (settings.decimal == ReadSettings::Decimal::point && has_decimal_commas(source, settings)) {
    add_decision(about_commas(source), decimal_commas, look);
    settings.decimal = ReadSettings::Decimal::comma;
  }
  Progress progress(ProgressChoice::automatic);
  progress.begin("reading " + source, nullptr);
  const TableProfile profile = profile_table(source, settings, [&progress] { progress.tick(); });
  progress.end();
  look.records += profile.records;
  look.persons += profile.keys;
  for (std::size_t k = 0; k < profile.columns.size(); ++k) {
    const ColumnProfile& column = profile.columns[k];
    const bool tells_persons =
        !settings.key.empty() && (settings.key == column.name || settings.key == std::to_string(k));
    const bool refused = settings.missing_key == ReadSettings::MissingKey::refuse;
    if (tells_persons && refused && column.missing > 0) add_decision(about_nobody(column, source), "persons", look);
    if (column.use != Use::none) look_at_column(profile, column, source, settings, look);
  }
  look_at_features(profile, source, settings, look);
}

std::string labels_text(const Description& figures) {
  if (figures.many_labels || figures.labels.size() > most_shown_labels) {
    return fmt::format("{} different values from {:.6g} to {:.6g}",
                       figures.many_labels ? "very many" : std::to_string(figures.labels.size()), figures.label.min(),
                       figures.label.max());
  }
  std::string text;
  for (const auto& [label, count] : figures.labels) text += fmt::format("{}{:g}", text.empty() ? "" : ", ", label);
  return text;
}

/// Lines of losses that labels allow which are numbers.
std::vector<std::string> losses_of_numbers(const Description& figures) {
  std::vector<std::string> lines{"loss = squared"};
  if (are_whole(figures) && figures.label.min() >= 0) lines.emplace_back("loss = poisson:BOUND");
  if (figures.label.min() > 0) lines.emplace_back("loss = gamma");
  return lines;
}

/// The decision about whole numbers that may be classes, or counts.
Decision about_classes(const DataLook& look, const Description& figures) {
  std::vector<std::string> choices = losses_of_numbers(figures);
  choices.insert(choices.begin(), "loss = " + look.loss);
  return {fmt::format("the label ({}) may be a class, a quantity or a count, which has a public bound. Choose the loss",
                      look.label),
          std::move(choices)};
}

/// Sets the loss that fits the labels. There may be none, or a doubt.
void choose_loss(const Description& figures, DataLook& look) {
  const std::vector<std::string> losses = fitting_losses(figures);
  const std::optional<NamedClasses> classes = classes_to_name(figures);
  if (losses.empty() && !classes) {
    Decision decision{
        fmt::format("the label ({}) is no class. Choose a loss of quantities, counts with a public bound, or amounts; "
                    "else name the label, or the labels that count as yes",
                    look.label),
        losses_of_numbers(figures)};
    decision.choices.insert(decision.choices.end(), {"label = COLUMN", "positive = VALUE"});
    look.decisions.push_back(std::move(decision));
    look.loss = "squared";
    return;
  }
  look.loss = classes ? classes->loss : losses.front();
  const bool may_count = look.loss != "logistic" && figures.label.max() >= most_classes_beyond_doubt;
  if (may_count) look.decisions.push_back(about_classes(look, figures));
}

/// The labels of the classes of a loss, as --class-labels names them; empty where they need no names.
std::string class_labels(const Description& figures, const std::string& spec) {
  const auto loss = loss_table().make(spec);
  if (!loss->classifies() || loss->link() == Link::hazard) return "";
  if (loss->scores() == 1 && figures.labels.size() == 2)
    return fmt::format("{},{}", figures.labels.begin()->first, figures.labels.rbegin()->first);
  const std::optional<NamedClasses> classes = classes_to_name(figures);
  const bool named = classes && loss->scores() == loss_table().make(classes->loss)->scores();
  return named ? classes->labels : "";
}

/// Whether the labels are classes, a quantity, or no label at all.
void look_at_labels(const Description& figures, const ReadSettings& settings, DataLook& look) {
  look.label += (look.label.empty() ? "" : ": ") + labels_text(figures);
  if (!figures.many_labels && figures.labels.size() == 1) {
    look.decisions.push_back(
        {"all labels are the same: there is nothing to learn. Name the column of the label", {"label = COLUMN"}});
    return;
  }
  if (look.loss.empty()) choose_loss(figures, look);
  if (settings.positive.empty() && settings.class_labels.empty()) look.class_labels = class_labels(figures, look.loss);
}

std::int64_t count_persons(const std::string& source, const ReadSettings& settings) {
  std::unordered_set<std::string> persons;
  const auto reader = open_reader(source, settings);
  for (Record record; reader->next_label(record);) {
    if (!record.key.empty()) persons.insert(record.key);
  }
  return static_cast<std::int64_t>(persons.size());
}

/// Lets a source lack columns of `drop` that another one has.
void let_some_lack(const std::vector<std::string>& sources, ReadSettings& settings) {
  std::map<std::string, std::size_t> lacking;
  settings.may_lack = [&lacking](const std::string& column) {
    ++lacking[column];
    return true;
  };
  for (const std::string& source : sources) static_cast<void>(feature_columns(source, settings));
  settings.may_lack = [lacking, all = sources.size()](const std::string& column) {
    const auto found = lacking.find(column);
    return found != lacking.end() && found->second < all;
  };
}

/// The records as a run would read them.
void look_at_records(const std::vector<std::string>& sources, ReadSettings settings, DataLook& look) {
  settings.columns = feature_columns(sources.front(), settings);
  Describer describer;
  Progress progress(ProgressChoice::automatic);
  for (const std::string& source : sources) {
    progress.begin("reading " + source, nullptr);
    describer.read(*without_left_out(open_reader(source, settings)), [&progress] { progress.tick(); });
    progress.end();
  }
  DescribedSource described;
  described.source = settings.source;
  described.is_tuned = true;
  described.figures = describer.finish();
  look.records = described.figures.records;
  look.features = described.figures.features;
  described.layout = notes_on_layout(sources.front(), settings);
  look_at_labels(described.figures, settings, look);
  for (std::string& note : notes_on(described)) look.notes.push_back(std::move(note));
}

}  // namespace

Client count_files(const std::string& source) {
  check(!is_synthetic(source),
        "'{}' is a generator, whose records are public. Give a file; starling omd --source takes generators.", source);
  const auto look = [](const std::string& name) {
    check(exists(name), "'{}': there is no such file. Correct the name.", name);
    require_regular(name);
  };
  if (!is_per_client(source)) {
    look(source);
    return 1;
  }
  look(name_of_client(source, 0));
  Client count = 1;
  while (exists(name_of_client(source, count))) ++count;
  return count;
}

DataLook look_at_data(ReadSettings settings, Client clients, const std::string& loss) {
  DataLook look;
  look.loss = loss;
  const std::vector<std::string> sources = sources_here(settings.source, clients);
  if (!settings.drop.empty() && sources.size() > 1) let_some_lack(sources, settings);
  look.files = static_cast<Client>(sources.size());
  for (const std::string& source : sources) {
    if (is_table_of_text(source, settings)) {
      look_at_table(source, settings, look);
    } else if (!settings.key.empty()) {
      look.persons += count_persons(source, settings);
    }
  }
  for (Decision& each : look.decisions) {
    if (each.about == decimal_commas) tell_commas_of_some(each, look.files);
    if (each.more_files > 0)
      each.matter +=
          fmt::format(". {} more file{} the same problem", each.more_files, each.more_files == 1 ? " has" : "s have");
  }
  if (look.decisions.empty()) look_at_records(sources, settings, look);
  return look;
}

}  // namespace starling
