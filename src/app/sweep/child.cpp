#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "console/version.hpp"
#include "core/check.hpp"
#include "core/text/spec.hpp"
#include "files/durable_file.hpp"
#include "sweep.hpp"

namespace starling {

namespace {

constexpr int cannot_start = 127;

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> clean_environment() {
  const bool launched = std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr;
  std::vector<std::string> kept;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (!is_of_launch(text.substr(0, text.find('=')), launched)) kept.push_back(text);
  }
  return kept;
}

/// In the child, before the program: only calls that are safe after fork.
void become_child(pid_t sweep, int input, int log) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != sweep) ::_exit(cannot_start);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGHUP, SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_DFL);
  ::dup2(input, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
}

}  // namespace

bool is_of_launch(const std::string& name, bool launched) {
  if (name.starts_with("OMPI_ALLOW_RUN_AS_ROOT")) return false;
  if (launched && name.starts_with("OMPI_")) return true;
  if (name.starts_with("OMPI_MCA_") || name.starts_with("PMIX_MCA_")) return false;
  return name.starts_with("OMPI_") || name.starts_with("PMIX_") || name.starts_with("PMI_");
}

pid_t start_child(const std::vector<std::string>& words, const std::string& log) {
  std::vector<std::string> texts = words;
  std::vector<std::string> variables = clean_environment();
  const std::vector<char*> arguments = pointers_to(texts);
  const std::vector<char*> environment = pointers_to(variables);
  const Descriptor input("/dev/null", O_RDONLY | O_CLOEXEC);
  const Descriptor output(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
  check<FailureError>(output.get() >= 0, "cannot write '{}': {}. Name another --output.", log, std::strerror(errno));
  const pid_t sweep = ::getpid();
  const pid_t child = ::fork();
  check<FailureError>(child >= 0, "cannot start {}: {}. Take a smaller --parallel.", words.front(),
                      std::strerror(errno));
  if (child == 0) {
    become_child(sweep, input.get(), output.get());
    ::execvpe(arguments[0], arguments.data(), environment.data());
    constexpr char text[] = "starling: the launcher cannot be started. Name another one with --launcher.\n";
    static_cast<void>(::write(STDERR_FILENO, text, sizeof(text) - 1));
    ::_exit(cannot_start);
  }
  return child;
}

int exit_code_of(int status) {
  constexpr int by_signal = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : by_signal + WTERMSIG(status);
}

std::string own_program() {
  if (is_own_program()) return std::filesystem::read_symlink("/proc/self/exe").string();
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split_at(path == nullptr ? "" : path, ":")) {
    const std::string program = fmt::format("{}/starling", folder);
    if (!folder.empty() && ::access(program.c_str(), X_OK) == 0) return program;
  }
  throw UsageError("no program starling on the PATH: a sweep starts it once for each run. Add its folder to the PATH.");
}

}  // namespace starling
