#include "report.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <ostream>
#include <sys/stat.h>
#include <thread>

#include "core/check.hpp"
#include "core/text/limits.hpp"
#include "files/text_files.hpp"
#include "output/intervals/interval.hpp"
#include "report/pictures/picture.hpp"
#include "report/view/table_text.hpp"
#include "tables.hpp"

namespace starling {

namespace {

namespace fs = std::filesystem;

constexpr double patience = 60;  ///< seconds without a record after which an unfinished run counts as silent

/// A file that a run is writing may be half-written for a moment: what fails is tried again, a few times.
template <class Action>
auto patiently(Action&& action) {
  for (int attempt = 1; attempt < 5; ++attempt) {
    try {
      return action();
    } catch (const DataError&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
    }
  }
  return action();
}

/// Seconds since 1970 of the last change; 0 for no file.
double changed_at(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return 0;
  return static_cast<double>(status.st_mtim.tv_sec) + 1e-9 * static_cast<double>(status.st_mtim.tv_nsec);
}

double last_sign(const std::string& run) {
  double latest = 0;
  for (const char* name : {"config.ini", "run.h5", "history.csv"}) {
    latest = std::max(latest, changed_at(run + "/" + name));
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run + "/clients", error)) {
    latest = std::max(latest, changed_at(entry.path().string()));
  }
  return latest;
}

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Seconds since 1970 of a time such as 2030-01-31T23:59:59Z; NaN for other text.
double seconds_of(const std::string& stamp) {
  std::tm parts{};
  const char* end = ::strptime(stamp.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return end != nullptr && *end == '\0' ? static_cast<double>(::timegm(&parts)) : unknown;
}

std::string age_text(double seconds) {
  return seconds < 10 ? fmt::format("{:.1f} s", seconds) : fmt::format("{:.0f} s", seconds);
}

/// The mean over all rounds of a figure whose lines hold means since the line before.
double mean_over_rounds(const std::vector<NetworkFigures>& history, double NetworkFigures::*figure) {
  double total = 0;
  double rounds = 0;
  for (std::size_t i = 1; i < history.size(); ++i) {
    const auto span = static_cast<double>(history[i].done - history[i - 1].done);
    if (std::isnan(history[i].*figure)) continue;
    total += span * (history[i].*figure);
    rounds += span;
  }
  return rounds > 0 ? total / rounds : unknown;
}

std::size_t ranks_of(const std::string& run) {
  std::error_code error;
  std::size_t ranks = 0;
  for (const auto& entry : fs::directory_iterator(run + "/private", error)) ranks += entry.is_directory() ? 1 : 0;
  return ranks;
}

/// The number of clients. In a vertical run, run.h5 has records of the head alone and the attribute `parties`.
std::int64_t clients_of(const RunNotes& notes) {
  const auto parties = notes.number("parties");
  return parties ? static_cast<std::int64_t>(*parties) : notes.clients;
}

/// The files of an unfinished run.
struct Traces {
  const std::string& run;
  const std::vector<NetworkFigures>& history;
  RunNotes notes = RunNotes();
  std::map<std::string, std::string> configuration = {};
  Round done = 0;  ///< last round on record
  double wall = unknown;

  [[nodiscard]] bool tested() const { return configuration.count("test") > 0; }
  [[nodiscard]] bool learned() const { return notes.text("task") != "averaging"; }
  [[nodiscard]] bool classifies() const { return notes.text("task") == "classification"; }
};

std::vector<std::string> withheld_by(const Traces& traces) {
  if (!traces.learned() || traces.notes.shares_losses) return {};
  std::vector<std::string> names{"loss.mean", "loss.last"};
  if (traces.classifies()) names.emplace_back("metrics.progressive_accuracy");
  if (traces.classifies() && !traces.tested()) names.emplace_back("accuracy");
  return names;
}

Json metrics_so_far(const Traces& traces) {
  Json metrics = Json::object();
  if (traces.tested()) {
    metrics["test_loss"] = number_json(latest(traces.history, &NetworkFigures::test_loss));
    if (traces.classifies()) {
      metrics["test_accuracy"] = number_json(latest(traces.history, &NetworkFigures::test_accuracy));
    }
  }
  if (traces.classifies()) {
    metrics["progressive_accuracy"] = number_json(mean_over_rounds(traces.history, &NetworkFigures::accuracy));
  }
  return metrics;
}

Json privacy_so_far(const Traces& traces) {
  const auto configured = [&](const char* name) {
    const auto found = traces.configuration.find(name);
    return found == traces.configuration.end() ? Json(nullptr) : Json(found->second);
  };
  Json privacy;
  if (traces.learned()) privacy["noise_key"] = traces.notes.text("noise_key");
  privacy["mechanism"] = traces.learned() ? configured("mechanism") : Json("none");
  privacy["unit"] = traces.learned() ? configured("unit") : Json(nullptr);
  privacy["epsilon_per_release"] = number_json(traces.notes.number("epsilon_per_release").value_or(unknown));
  for (const char* name : {"epsilon", "delta", "mu", "participations", "client_epsilon", "statement"}) {
    privacy[name] = nullptr;
  }
  return privacy;
}

/// The remedy for a run that no process works on and that can be resumed; else empty.
std::string resume_text(RunState state, const std::string& run) {
  if (state != RunState::silent || !fs::exists(run + "/run-id")) return "";
  return fmt::format("; --resume {} goes on with it", run);
}

/// The keys of summary.json with what is known before its end.
Json summary_so_far(const Traces& traces) {
  const Json null(nullptr);
  const bool begun = traces.notes.clients > 0;
  Json json;
  json["command"] = traces.notes.text("command");
  json["command_line"] = traces.notes.text("command_line");
  json["task"] = traces.notes.text("task");
  json["clients"] = begun ? Json(clients_of(traces.notes)) : null;
  json["ranks"] = ranks_of(traces.run);
  json["rounds"] = traces.done;
  const double planned = traces.notes.number("rounds_planned").value_or(unknown);
  json["rounds_planned"] = planned >= 0 && planned < 9e18 ? Json(static_cast<std::int64_t>(planned)) : null;
  json["dimension"] = begun ? Json(traces.notes.dimension) : null;
  json["loss"] = {{"mean", number_json(mean_over_rounds(traces.history, &NetworkFigures::loss))},
                  {"last", number_json(last_loss(traces.history, traces.done).value_or(unknown))}};
  json["metrics"] = metrics_so_far(traces);
  const char* accuracy = traces.tested() ? "test_accuracy" : "progressive_accuracy";
  json["accuracy"] = json["metrics"].value(accuracy, null);
  json["consensus_error"] = number_json(latest(traces.history, &NetworkFigures::consensus_error));
  json["mass"] = number_json(latest(traces.history, &NetworkFigures::mass));
  json["aggregated"] = traces.notes.text("aggregated") == "yes";
  json["regret"] = null;
  json["privacy"] = privacy_so_far(traces);
  json["traffic"] = {{"messages", null}, {"bytes", null}, {"edges", null}, {"evaluation_bytes", null}};
  json["time"] = {{"wall", number_json(traces.wall)},
                  {"rounds_per_second", number_json(static_cast<double>(traces.done) / traces.wall)},
                  {"shares", null}};
  json["final_model"] = null;
  json["withheld"] = withheld_by(traces);
  json["notes"] = Json::array();
  json["output"] = traces.run;
  return json;
}

/// The state of a run without summary.json.
RunState state_of(const std::string& run, double silence) {
  const std::string history = run + "/history.csv";
  if (!fs::exists(history)) return silence < patience ? RunState::starting : RunState::silent;
  switch (holding_of(history)) {
    case Holding::held:
      return RunState::running;
    case Holding::free:
      return RunState::silent;
    case Holding::no_locks:
      break;
  }
  return silence < patience ? RunState::running : RunState::silent;
}

std::string state_text(RunState state, const std::string& so_far, double silence) {
  switch (state) {
    case RunState::starting:
      return "starting: nothing is recorded yet";
    case RunState::running:
      return fmt::format("running: {}, which was {} ago", so_far, age_text(silence));
    default:
      return fmt::format(
          "not finished: {}; has not written for {}, and no process is seen that would (killed or crashed?)", so_far,
          age_text(silence));
  }
}

/// The result of `read`, or an empty one if a file is damaged: a killed run may leave a file half-written, and its
/// history can be shown without it.
template <class Found>
Found if_readable(Found (*read)(const std::string& run), const std::string& run) {
  try {
    return patiently([&] { return read(run); });
  } catch (const DataError&) {
    return {};
  }
}

}  // namespace

const char* name_of(RunState state) {
  switch (state) {
    case RunState::finished:
      return "finished";
    case RunState::starting:
      return "starting";
    case RunState::running:
      return "running";
    case RunState::silent:
      return "silent";
  }
  return "unknown";
}

SummaryView view_of(const RunReport& run) {
  return SummaryView::parse(run.json(), run.path() + "/summary.json");
}

RunReport::RunReport(const std::string& path) : path_(path) {
  while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
  std::error_code error;
  check(fs::exists(path_, error), "there is no run '{}': no such directory. Check the name.", path_);
  check(fs::is_directory(path_, error),
        "'{}' is not a run: it is a file, and a run is a directory. Name its directory.", path_);
  const bool finished = fs::exists(path_ + "/summary.json", error);
  check(finished || fs::exists(path_ + "/config.ini", error),
        "'{}' is not a run: the directory has neither config.ini nor summary.json. Name what --output named.", path_);
  if (!finished) read_unfinished();
  // The run may have ended since the first look.
  if (finished || (state_ == RunState::silent && fs::exists(path_ + "/summary.json", error))) read_finished();
}

void RunReport::read_finished() {
  state_ = RunState::finished;
  json_ = read_text(path_ + "/summary.json");
  if (view_of(*this).has("study")) {  // of many runs, which left no records
    static_cast<void>(text());
    return;
  }
  history_ = read_history(path_ + "/history.csv");
  static_cast<void>(read_notes(path_));
  static_cast<void>(read_interval_path(path_));
  static_cast<void>(text());  // so that damage is found before anything is shown or written
  const SummaryView view = view_of(*this);
  check<DataError>(view.numbers("final_model").size() == static_cast<std::size_t>(view.count("dimension")),
                   "'{}/summary.json' has a final model of another dimension than it says: it is damaged. Restore it.",
                   path_);
}

void RunReport::read_unfinished() {
  std::error_code error;
  const double sign = last_sign(path_);
  seconds_since_record_ = std::max(0.0, now() - sign);
  const bool has_history = fs::exists(path_ + "/history.csv", error);
  if (has_history) history_ = read_history(path_ + "/history.csv");
  state_ = state_of(path_, seconds_since_record_);
  Traces traces{path_, history_};
  traces.configuration = read_configuration(path_);
  if (has_history) traces.notes = patiently([&] { return read_notes(path_); });
  if (has_history) traces.done = if_readable(last_recorded_round, path_);
  if (!history_.empty()) traces.done = std::max(traces.done, history_.back().done);
  traces.wall = sign - seconds_of(traces.notes.text("started"));
  Json json = summary_so_far(traces);
  json["state"] = name_of(state_);
  json["seconds_since_record"] = std::round(1000 * seconds_since_record_) / 1000;
  json_ = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

ResultTexts RunReport::texts_so_far() const {
  const SummaryView view = view_of(*this);
  const auto planned = view.integer("rounds_planned");
  const std::string so_far = fmt::format("round {} of {} at the last record", view.count("rounds"),
                                         planned ? fmt::format("{}", *planned) : "?");
  const std::string state =
      table_row("state", state_text(state_, so_far, seconds_since_record_) + resume_text(state_, path_));
  if (!view.integer("clients")) return {fmt::format("{}: no results yet\n\n", path_), "", state};
  ResultTexts texts{fmt::format("starling {}: {} clients on {} ranks, dimension {}\n\n", view.text("command"),
                                view.count("clients"), view.count("ranks"), view.count("dimension")),
                    "", state + progress_rows(view)};
  if (view.learned()) {
    const double epsilon = view.number("privacy.epsilon_per_release");
    texts.rows += table_row("mechanism", std::isfinite(epsilon) ? fmt::format("{}, epsilon {:.6g} per release",
                                                                              view.text("privacy.mechanism"), epsilon)
                                                                : view.text("privacy.mechanism"));
  }
  texts.rows += table_row("speed", shown(view.number("time.rounds_per_second"), "about {:.0f} rounds/s"));
  return texts;
}

ResultTexts RunReport::texts() const {
  return state_ == RunState::finished ? texts_of(view_of(*this)) : texts_so_far();
}

std::string RunReport::head() const {
  const SummaryView view = view_of(*this);
  if (state_ == RunState::finished) return table_of(view) + files_row(path_);
  const ResultTexts texts = texts_so_far();
  const std::string head = texts.heading + texts.rows;
  if (!view.integer("clients")) return head;
  return head + fmt::format("\nResults    {}\nCommand    {}\n", path_, view.text("command_line"));
}

std::string RunReport::text() const {
  const std::string curve = curve_table(history_);
  return head() + (curve.empty() ? "" : "\n" + curve);
}

void RunReport::write_models(std::ostream& out) const {
  const RecordedModels models =
      state_ == RunState::finished ? read_models(path_) : patiently([&] { return read_models(path_); });
  out << "round,client,coordinate,value\n";
  for (std::size_t r = 0; r < models.rounds.size(); ++r) {
    for (std::size_t u = 0; u < models.clients.size(); ++u) {
      const View model = models.at(r, u);
      for (std::size_t j = 0; j < model.size(); ++j) {
        out << fmt::format("{},{},{},{:.17g}\n", models.rounds[r], models.clients[u], j, model[j]);
      }
    }
  }
}

std::string RunReport::draw(const std::string& folder, PictureFormats formats) const {
  RunCurves curves;
  curves.history = history_;
  if (state_ == RunState::finished) {
    const SummaryView view = view_of(*this);
    if (view.has("study")) return "no pictures: a study of replications has none: study.csv holds its figures.";
    const RecordedModels models = read_models(path_);
    curves.convergence = convergence_to(models, view.numbers("final_model"), "the final mean model");
    curves.components = components_of(path_, models, view.numbers("regret.comparator"));
    curves.regret = read_regret_curve(path_);
    curves.figures = panels_of(view);
  } else if (!history_.empty()) {
    const RecordedModels models = if_readable(read_models, path_);
    curves.convergence = convergence_so_far(models);
    curves.components = components_of(path_, models, {});
  } else {
    return "no pictures yet: nothing is recorded";
  }
  try {
    write_convergence(folder, curves.convergence);
  } catch (const FailureError& error) {
    return fmt::format("no pictures: {}; --output names another folder", error.what());
  }
  const std::string of_network = draw_network(folder, if_readable(read_network, path_), history_, formats);
  const std::string of_intervals = draw_intervals(folder, read_interval_path(path_), formats);
  const std::string of_run = draw_pictures(folder, curves, formats);
  if (!of_run.empty()) return of_run;
  return of_network.empty() ? of_intervals : of_network;
}

}  // namespace starling
