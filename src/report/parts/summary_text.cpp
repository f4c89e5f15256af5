#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>

#include <nlohmann/json.hpp>

#include "files/text_files.hpp"
#include "output/choices.hpp"
#include "output/directory/run_directory.hpp"
#include "output/intervals/study.hpp"
#include "parts.hpp"
#include "privacy/statement/statement.hpp"
#include "report/figures/figure.hpp"

namespace starling {

namespace {

Json left_out_json(const LeftOut& rounds) {
  const auto& [from, at, charged] = rounds;
  return {{"from", from}, {"at", at}, {"lost_rounds", at - from}, {"charged", charged}};
}

/// The changes of a kind; null if there are none.
Json changes_json(const Membership& members, Membership::Change::Kind kind) {
  Json all;
  for (const auto& each : members.changes(kind)) all.push_back({{"round", each.round}, {"clients", each.clients}});
  return all;
}

/// Number of clients that an entry of the summary (`lost`, `joined`) lists.
std::int64_t clients_in(const SummaryView& summary, const char* entry) {
  std::int64_t count = 0;
  for (const SummaryView& change : summary.list(entry)) {
    count += static_cast<std::int64_t>(change.array("clients").size());
  }
  return count;
}

void add_run_keys(const Summary& summary, Json& json) {
  json["command"] = summary.command;
  json["command_line"] = summary.command_line;
  json["task"] = name_of(!summary.learned     ? Scores::none
                         : summary.classifies ? Scores::losses_and_accuracies
                                              : Scores::losses);
  json["clients"] = summary.clients;
  for (const auto& [entry, kind] :
       {std::pair("lost", Membership::Change::Kind::loss), std::pair("joined", Membership::Change::Kind::join)}) {
    if (Json changes = changes_json(summary.members, kind); !changes.empty()) json[entry] = std::move(changes);
  }
  json["ranks"] = summary.ranks;
  json["rounds"] = summary.rounds;
  json["rounds_planned"] = summary.rounds_planned;
  if (!summary.left_out.empty()) json["resumed"] = json_list(summary.left_out, left_out_json);
  json["dimension"] = summary.dimension;
  if (const auto* const shares = summary.find<LearnedOnShares>()) json["parameters"] = shares->parameters;
  if (const auto* const gamma = summary.find<GammaDispersion>()) json["dispersion"] = gamma->value;
  json["average"] = summary.average;
  if (summary.client_weights) json["client_weights"] = name_of(*summary.client_weights);
}

std::string heading(const SummaryView& summary) {
  std::vector<std::string> changes;
  for (const char* entry : {"lost", "joined"}) {
    const std::int64_t count = clients_in(summary, entry);
    if (count > 0) changes.push_back(fmt::format("{} {}", count, entry));
  }
  const std::string size = summary.has("parameters") ? fmt::format("{} parameters", summary.count("parameters"))
                                                     : fmt::format("dimension {}", summary.count("dimension"));
  return fmt::format("starling {}: {} clients{} on {} ranks, {} of {} rounds, {}\n\n", summary.text("command"),
                     summary.count("clients"), changes.empty() ? "" : fmt::format(" ({})", fmt::join(changes, ", ")),
                     summary.count("ranks"), summary.count("rounds"), summary.count("rounds_planned"), size);
}

void add_figure_keys(const Summary& summary, Json& json) {
  for (const auto& write : summary.get<FigureWriters>()) write(json);
}

void add_time_keys(const Summary& summary, Json& json) {
  const auto& [wall, shares] = summary.get<RunTimes>();
  const double busy = shares.learning + shares.exchange + shares.mixing + shares.observing;
  json["time"] = {{"wall", wall},
                  {"rounds_per_second", number_json(static_cast<double>(summary.rounds) / wall)},
                  {"shares",
                   {{"learning", number_json(shares.learning / busy)},
                    {"exchange", number_json(shares.exchange / busy)},
                    {"mixing", number_json(shares.mixing / busy)},
                    {"observing", number_json(shares.observing / busy)}}}};
}

std::string time_rows(const SummaryView& summary) {
  return table_row("speed", fmt::format("{} rounds/s ({} s)", shown(summary.number("time.rounds_per_second"), "{:.0f}"),
                                        shown(summary.number("time.wall"), "{:.3f}")));
}

void add_model_keys(const Summary& summary, Json& json) {
  const FinalModels& models = summary.get<FinalModels>();
  json["final_model"] = models.mean;
  if (!models.of_clients) return;
  Json& all = json["models"] = Json::array();
  for (std::size_t u = 0; u < models.of_clients->size(); ++u) {
    const View x = (*models.of_clients)[u];
    all.push_back(Vector(x.begin(), x.end()));
  }
}

void add_last_keys(const Summary& summary, Json& json) {
  json["withheld"] = summary.withheld;
  json["notes"] = summary.notes;
  json["output"] = summary.run_directory;
}

/// Breaks a paragraph at spaces.
std::string wrapped(const std::string& paragraph, std::size_t width) {
  std::string text;
  std::size_t column = 0;
  std::istringstream words(paragraph);
  for (std::string word; words >> word;) {
    const bool fits = column + word.size() < width;
    if (column > 0) text += fits ? ' ' : '\n';
    column = (fits ? column + 1 : 0) + word.size();
    text += word;
  }
  return text;
}

/// The statement on privacy in short, or whole where that is wanted or all there is.
std::string statement_rows(const SummaryView& summary, bool whole) {
  if (!summary.learned()) return "";
  const bool has_lines = summary.has("privacy.in_short");
  std::string text = "\n";
  if (has_lines) {
    for (const std::string& line : summary.texts("privacy.in_short")) text += wrapped(line, 110) + "\n";
  }
  if (has_lines && !whole) return text;
  return text + (has_lines ? "\n" : "") + wrapped("Privacy. " + summary.text("privacy.statement"), 110) + "\n";
}

/// Notes, the statement on privacy, and where all this comes from.
std::string last_rows(const SummaryView& summary, bool whole) {
  std::string text;
  for (const std::string& note : summary.texts("notes")) text += table_row("note", note);
  return text + statement_rows(summary, whole) +
         fmt::format("\nResults    {}\nCommand    {}\n", summary.text("output"), summary.text("command_line"));
}

/// All parts, in the order of their keys in summary.json and of their rows in the table of results.
const std::vector<SummaryPart>& all_parts() {
  static const std::vector<SummaryPart> parts{
      {add_run_keys},
      score_part,
      interval_part,
      study_part,
      consensus_part,
      pace_part,
      tuning_part,
      step_part,
      {add_figure_keys, [](const SummaryView& summary) { return figure_rows(summary); },
       [](const SummaryView& summary) { return figure_panels(summary); }},
      regret_part,
      constraint_part,
      privacy_part,
      members_part,
      traffic_part,
      {add_time_keys, time_rows},
      {add_model_keys},
      {add_last_keys}};
  return parts;
}

}  // namespace

std::int64_t clients_lost(const SummaryView& summary) {
  return clients_in(summary, "lost");
}

std::string progress_rows(const SummaryView& summary) {
  return score_part.rows(summary) + consensus_part.rows(summary);
}

Json json_of(const Summary& summary) {
  Json json;
  for (const SummaryPart& part : all_parts()) {
    part.keys(summary, json);
  }
  return json;
}

ResultTexts texts_of(const SummaryView& summary) {
  if (const std::vector<StudyCell> study = study_of(summary); !study.empty()) {
    return {heading(summary), study_table(study) + "\n",
            table_row("time", shown(summary.number("time.wall"), "{:.3f} s"))};
  }
  ResultTexts texts{heading(summary), coefficient_table(summary), ""};
  for (const SummaryPart& part : all_parts()) {
    if (part.rows != nullptr) texts.rows += part.rows(summary);
  }
  return texts;
}

std::vector<Panel> panels_of(const SummaryView& summary) {
  std::vector<Panel> panels;
  for (const SummaryPart& part : all_parts()) {
    if (part.panels != nullptr) std::ranges::move(part.panels(summary), std::back_inserter(panels));
  }
  return panels;
}

std::string table_of(const SummaryView& summary, bool whole) {
  const ResultTexts texts = texts_of(summary);
  const std::string edges = whole && study_of(summary).empty() ? edge_rows(summary) : "";
  return texts.heading + texts.tables + texts.rows + edges + last_rows(summary, whole);
}

std::string files_row(const std::string& folder) {
  std::string names;
  for (const char* name : {"summary.json", "coefficients.csv", "model.h5", "privacy.txt", "history.csv"}) {
    std::error_code ignored;
    if (std::filesystem::exists(std::filesystem::path(folder) / name, ignored))
      names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return fmt::format("Files      {}\n", names);
}

std::string to_json(const Summary& summary) {
  // A file name need not be UTF-8; JSON must be.
  return json_of(summary).dump(2, ' ', false, Json::error_handler_t::replace);
}

// Made from the JSON: summary.json alone suffices to show the table again.
std::string to_table(const Summary& summary, bool whole) {
  SummaryView view(json_of(summary), "summary.json");
  if (!edge_count(summary).is_null()) view.use_edges(summary.get<RunTraffic>().edges);
  return table_of(view, whole);
}

void write_summary(const RunDirectory& directory, const Summary& summary) {
  write_text(directory.summary_file(), to_json(summary) + "\n");
  if (!summary.learned) return;
  const PrivacyReport& privacy = summary.get<PrivacyReport>();
  std::string text;
  for (const std::string& line : in_short(privacy)) text += wrapped(line, 110) + "\n";
  write_text(directory.path() + "/privacy.txt", text + "\n" + wrapped(statement(privacy), 110) + "\n");
}

}  // namespace starling
