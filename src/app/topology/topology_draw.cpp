// `starling topology draw`.
#include "app/console/print.hpp"
#include "app/settings/catalogue.hpp"
#include "topology_commands.hpp"
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include "starling/core/check.hpp"
#include "starling/graph/analysis/analysis.hpp"

namespace starling {

namespace {

/// A temporary file that is gone at the end of the scope.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : path_((std::filesystem::temp_directory_path() / "starling-XXXXXX").string()) {
    const int descriptor = ::mkstemp(path_.data());
    check<FailureError>(descriptor >= 0, "cannot make a temporary file '{}' ({}) set TMPDIR to a writable folder",
                        path_, std::generic_category().message(errno));
    ::close(descriptor);
    write_file(path_, text);
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

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

void render(const std::string& dot, const std::string& output) {
  const std::string extension = std::filesystem::path(output).extension().string();
  if (extension == ".dot" || extension == ".gv") return write_file(output, dot);
  check(extension == ".svg" || extension == ".png" || extension == ".pdf",
        "cannot draw to '{}' (the name must end in .svg, .png, .pdf, .dot or .gv) rename it", output);
  const TemporaryFile source(dot);
  const int status = run_program_of_path({"dot", "-T" + extension.substr(1), "-o", output, source.path()});
  check<FailureError>(status != -1 && status != 127,
                      "cannot run `dot` (Graphviz is not installed, or not in PATH) install it, or draw to a .dot file "
                      "and render that elsewhere");
  check<FailureError>(status == 0, "`dot` could not draw '{}' (it ended with status {}) check the folder", output,
                      status);
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
  options.add({.name = "file", .argument = "FILE", .help = "topology file", .example = "ring.topo", .positional = true},
              drawing.file);
  options.add(declared("output", {.argument = "PICTURE",
                                  .help = "picture to write: .svg, .png or .pdf (by Graphviz's `dot`), .dot or .gv; "
                                          "default: DOT on standard output"}),
              drawing.output);
  options.add(declared("help"));
  return options;
}

Manual draw_manual() {
  return {.usage = "FILE [--output PICTURE]",
          .text =
              "Prints Graphviz DOT: clients, edges with their weights, self loops, and a box per phase (of graphs that "
              "never repeat, the first six rounds).",
          .examples = {"starling topology draw ring.topo --output ring.dot"}};
}

int run_draw(const Call& call) {
  Drawing drawing;
  draw_options(drawing).parse(call.words);
  check(!drawing.file.empty(), "no topology file is named. Name one: starling topology draw FILE.");
  const auto graph = read_graph(drawing.file);
  const GraphSample sample(*graph, std::min(graph->telling_rounds(), rounds_drawn));
  const std::string dot = to_dot(sample);
  if (drawing.output.empty()) {
    print(dot);
  } else {
    render(dot, drawing.output);
  }
  return 0;
}

}  // namespace

Command topology_draw_command() {
  return {.name = "draw",
          .purpose = "Graphviz DOT, or a picture",
          .manual = draw_manual,
          .options = declarations_from<Drawing, draw_options>,
          .run = run_draw};
}

}  // namespace starling
