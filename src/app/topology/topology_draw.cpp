// `starling topology draw`.
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/commands.hpp"
#include "console/print.hpp"
#include "core/check.hpp"
#include "files/scratch_folder.hpp"
#include "files/text_files.hpp"
#include "graph/analysis/analysis.hpp"
#include "report/pictures/pictures.hpp"
#include "run/settings/catalogue.hpp"

namespace starling {

namespace {

/// Runs a program found in PATH. Returns the program's exit status, or −1 if the program cannot be run.
int run_program_of_path(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  if (::posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ) != 0) return -1;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

void render_by_graphviz(const std::string& dot, const std::string& format, const std::string& output) {
  const ScratchFolder folder;
  write_text(folder.path() + "/graph.dot", dot);
  const int status = run_program_of_path({"dot", "-T" + format, "-o", output, folder.path() + "/graph.dot"});
  check<FailureError>(status != -1 && status != 127,
                      "cannot run `dot`: Graphviz is not installed, or not in PATH. Install it, or draw to a .dot file "
                      "and render that elsewhere.");
  check<FailureError>(status == 0, "`dot` could not draw '{}': it ended with status {}. Check the folder.", output,
                      status);
}

void render_by_gnuplot(const GraphSample& sample, const std::string& format, const std::string& output) {
  const ScratchFolder folder;
  const std::string problem = draw_graph(folder.path(), sample, {format == "svg", format == "png", format == "pdf"});
  check<FailureError>(problem.empty(), "cannot draw '{}': {}.", output, problem);
  write_text(output, read_text(folder.path() + "/graph." + format));
}

/// Clients up to whom a picture shows nodes and edges; beyond, it shows a matrix.
constexpr Client most_nodes = 200;

void render(const GraphSample& sample, const std::string& output) {
  const std::string extension = std::filesystem::path(output).extension().string();
  if (extension == ".dot" || extension == ".gv") return write_text(output, to_dot(sample));
  check(extension == ".svg" || extension == ".png" || extension == ".pdf",
        "cannot draw to '{}': the name must end in .svg, .png, .pdf, .dot or .gv. Rename it.", output);
  const std::string format = extension.substr(1);
  if (sample.topology().clients() > most_nodes) return render_by_gnuplot(sample, format, output);
  render_by_graphviz(to_dot(sample), format, output);
}

/// Rounds of an endless graph that are drawn.
constexpr Round rounds_drawn = 6;

struct Drawing {
  std::string file;
  std::string output;
};

Options draw_options(Drawing& drawing) {
  Options options("topology draw");
  options.group("Options");
  options.add(option("file", "FILE", "topology file", {.example = "ring.topo", .positional = true}), drawing.file);
  options.add(declared("output",
                       "picture to write: .svg, .png or .pdf (by Graphviz, of more than 200 "
                       "clients by gnuplot), .dot or .gv; default: DOT on standard output",
                       {.argument = "PICTURE"}),
              drawing.output);
  options.add(declared("help"));
  return options;
}

Manual draw_manual() {
  return {.usage = "FILE [--output PICTURE]",
          .text =
              "Draws clients and edges, with a box per phase (of graphs that never repeat, the first six rounds). An "
              "edge is as wide as its weight, and two opposite edges of one weight are one line. The fuller a client's "
              "colour, the more it keeps. Up to 32 clients, rings of any size and graphs with several phases stand on "
              "circles; others are laid out by forces. More than 200 clients are drawn as a matrix of weights.",
          .examples = {"starling topology draw ring.topo --output ring.dot"}};
}

int run_draw(const Call& call) {
  const auto drawing = parsed<Drawing, draw_options>(call.words);
  check(!drawing.file.empty(), "no topology file is named. Name one: starling topology draw FILE.");
  const auto graph = read_graph(drawing.file);
  const GraphSample sample(*graph, std::min(graph->telling_rounds(), rounds_drawn));
  if (drawing.output.empty()) {
    print(to_dot(sample));
  } else {
    render(sample, drawing.output);
  }
  return 0;
}

}  // namespace

Command topology_draw_command() {
  return command_of<Drawing, draw_options>("draw", "Graphviz DOT, or a picture", draw_manual, run_draw);
}

}  // namespace starling
