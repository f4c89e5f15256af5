#include "starling/record/picture.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "starling/core/kernels.hpp"
#include "starling/hdf5/file.hpp"

namespace starling {

namespace {

constexpr std::size_t most_drawn_clients = 10;

std::string field(double value) {
  return std::isnan(value) ? "" : fmt::format("{:.10g}", value);
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  check<FailureError>(file.good(), "cannot write '{}' ({})", path, std::strerror(errno));
}

/// Runs a program in a folder, without a shell and silently; its exit status, or -1 if it could not be started.
int run_quietly(const std::string& folder, const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t child = 0;
  const int failed = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Whether a figure has something to draw after the start; `above` is what a logarithmic axis cannot show.
bool drawable(const std::vector<NetworkFigures>& history, double NetworkFigures::*figure, double above) {
  return std::any_of(history.begin(), history.end(),
                     [&](const NetworkFigures& line) { return line.done > 0 && line.*figure > above; });
}

/// A curve over rounds ≥ 1 on a logarithmic axis; `column` counts from 1.
std::string curve(const char* table, std::size_t column, const std::string& title, bool positive) {
  return fmt::format("'{}' using ($1>0?$1:NaN):({}column({}){}) with lines lw 2 title '{}'", table,
                     positive ? fmt::format("column({})>0?", column) : "", column, positive ? ":NaN" : "", title);
}

std::string empty_plot(const char* reason) {
  return fmt::format("set label 1 '{}' at graph 0.5,0.5 center\nplot [1:10][0:1] -1 notitle\nunset label 1\n", reason);
}

/// Metrics that are withheld leave no empty curve.
std::string script(const std::vector<NetworkFigures>& history, const std::vector<std::int64_t>& clients,
                   bool converges) {
  std::vector<std::string> losses;
  if (drawable(history, &NetworkFigures::loss, -1))
    losses.push_back(curve("history.csv", 2, "progressive loss", false));
  if (drawable(history, &NetworkFigures::test_loss, -1)) {
    // Test scores are taken on some rounds only, so their points are joined across the empty fields.
    losses.push_back(
        "'< grep -v \",,[^,]*,[^,]*$\" history.csv' using ($1>0?$1:NaN):4 with linespoints pt 7 ps 0.5 lw 2 "
        "title 'loss on the test set'");
  }
  std::vector<std::string> distances;
  for (std::size_t u = 0; u < clients.size(); ++u) {
    distances.push_back(curve("convergence.csv", u + 2, fmt::format("client {}", clients[u]), true));
  }
  std::string text =
      "set datafile separator ','\nset grid lt 1 lc rgb '#dddddd'\nset border lc rgb '#888888'\nset xlabel 'round'\n"
      "set logscale x\nset terminal svg size 900,640 dynamic background rgb 'white' font 'sans,13'\n"
      "set output 'loss.svg'\nset multiplot layout 2,1\nset ylabel 'loss per record'\n";
  text += losses.empty() ? empty_plot("no loss is shared (see private/)")
                         : fmt::format("plot {}\n", fmt::join(losses, ", \\\n     "));
  text += "set ylabel 'consensus error'\n";
  text += drawable(history, &NetworkFigures::consensus_error, 0)
              ? "set logscale y\nset format y '10^{%L}'\nplot " +
                    curve("history.csv", 6, "mean squared distance to the mean model", true) + "\n"
              : empty_plot("all models are equal");
  text +=
      "unset multiplot\nset output 'convergence.svg'\nset logscale y\nset format y '10^{%L}'\n"
      "set ylabel 'distance to the final mean model'\n";
  if (!converges) return text + "unset logscale y\n" + empty_plot("all models are where they end");
  return text + fmt::format("plot {}\n", fmt::join(distances, ", \\\n     "));
}

}  // namespace

void write_history(const RunDirectory& directory, const std::vector<NetworkFigures>& history) {
  std::string text = "rounds,loss,accuracy,test_loss,test_accuracy,consensus_error,mass\n";
  for (const NetworkFigures& line : history) {
    text +=
        fmt::format("{},{},{},{},{},{},{}\n", line.done, field(line.loss), field(line.accuracy), field(line.test_loss),
                    field(line.test_accuracy), field(line.consensus_error), field(line.mass));
  }
  write_text(directory.path() + "/history.csv", text);
}

bool write_convergence(const RunDirectory& directory, View final_model) {
  const hdf5::File file(directory.run_file(), hdf5::File::Mode::read);
  const auto rounds = file.read<std::int64_t>("/rounds").second;
  const auto clients = file.read<std::int64_t>("/recorded_clients").second;
  const auto [sizes, models] = file.read<double>("/model");
  const std::size_t drawn = std::min(clients.size(), most_drawn_clients);
  const std::size_t d = final_model.size();
  bool any_distance = false;
  std::string text = "rounds";
  for (std::size_t u = 0; u < drawn; ++u) text += fmt::format(",client {}", clients[u]);
  text += "\n";
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    text += fmt::format("{}", rounds[r]);
    for (std::size_t u = 0; u < drawn; ++u) {
      const View model = View(models).subspan((r * clients.size() + u) * d, d);
      const double distance = std::sqrt(squared_distance(model, final_model));
      any_distance = any_distance || (rounds[r] > 0 && distance > 0);
      text += "," + field(distance);
    }
    text += "\n";
  }
  write_text(directory.path() + "/convergence.csv", text);
  return any_distance;
}

std::string draw_pictures(const RunDirectory& directory, const std::vector<NetworkFigures>& history, bool converges) {
  std::vector<std::int64_t> clients =
      hdf5::File(directory.run_file(), hdf5::File::Mode::read).read<std::int64_t>("/recorded_clients").second;
  clients.resize(std::min(clients.size(), most_drawn_clients));
  write_text(directory.path() + "/pictures.gp", script(history, clients, converges));
  const int status = run_quietly(directory.path(), {"gnuplot", "pictures.gp"});
  if (status == 0) return "";
  return status == -1 || status == 127
             ? std::string("no pictures: gnuplot is not installed (history.csv and convergence.csv hold the curves)")
             : fmt::format("no pictures: gnuplot ended with status {} (run it on pictures.gp in {})", status,
                           directory.path());
}

}  // namespace starling
