// `starling topology draw`.
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

namespace starling::topology_command {

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

/// Runs a program found in PATH and returns its exit status, or −1 if it cannot be run.
int run_program_of_path(Words arguments) {
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

/// Of an endless graph, as many as can be taken in.
constexpr Round rounds_drawn = 6;

}  // namespace

int run_draw(const Words& words) {
  Usage usage{"starling topology draw FILE [--output PICTURE]",
              "Prints Graphviz DOT: clients, edges with their weights, self loops, and a box per phase (of "
              "graphs\nthat never repeat, the first six rounds).\n",
              options::options_description("Options"), "file"};
  usage.visible.add_options()(
      "output", options::value<std::string>(),
      "picture to write: .svg, .png or .pdf (by Graphviz's `dot`), .dot or .gv; DOT on standard "
      "output without it")("help", "print this text");
  const auto values = parse_words(words, usage);
  if (helped(values, usage)) return 0;
  const auto graph = read_graph(the_one_file(values, usage));
  const GraphSample sample(*graph, std::min(graph->telling_rounds(), rounds_drawn));
  const std::string dot = to_dot(sample);
  if (values.count("output") > 0) {
    render(dot, values["output"].as<std::string>());
  } else {
    print(dot);
  }
  return 0;
}

}  // namespace starling::topology_command
