// The facts that `starling doctor` looks at.
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <sched.h>
#include <sys/random.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#include <hdf5.h>
#include <nlohmann/json.hpp>

#include "console/version.hpp"
#include "core/digest.hpp"
#include "core/text/limits.hpp"
#include "doctor_checks.hpp"
#include "net/agreement.hpp"
#include "net/host/host_limits.hpp"
#include "net/host/mpi_session.hpp"
#include "output/directory/disk_trial.hpp"
#include "report/view/summary_view.hpp"
#include "run/launch.hpp"

namespace starling {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankFacts, host, version, build, mpi, threads, hdf5, launched, cpus_of_host, cpus,
                                   yields, memory, shared_memory, free_space, disk_problem, sharing_problem,
                                   entropy_problem)

namespace {

namespace fs = std::filesystem;

constexpr int most_cpus = 1 << 16;
constexpr auto between_facts = std::chrono::milliseconds(100);
constexpr int most_looks = 30;  ///< network file systems show a new file to other hosts with a delay

/// A file that is gone afterwards.
class TrialFile {
 public:
  explicit TrialFile(std::string path) : path_(std::move(path)) {}
  ~TrialFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  TrialFile(const TrialFile&) = delete;
  TrialFile& operator=(const TrialFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Message of the exception that `action` throws; empty if `action` throws nothing.
template <class Action>
std::string problem_of(const Action& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

std::vector<int> allowed_cpus() {
  for (int count = 1024; count <= most_cpus; count *= 2) {
    cpu_set_t* const set = CPU_ALLOC(count);
    const std::size_t size = CPU_ALLOC_SIZE(count);
    std::vector<int> cpus;
    const bool known = ::sched_getaffinity(0, size, set) == 0;
    for (int cpu = 0; known && cpu < count; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size, set)) cpus.push_back(cpu);
    }
    CPU_FREE(set);
    if (known) return cpus;
  }
  return {};
}

std::optional<std::int64_t> free_space(const std::string& directory) {
  std::error_code error;
  const fs::space_info space = fs::space(directory, error);
  return error ? std::nullopt : std::optional(static_cast<std::int64_t>(space.available));
}

std::string entropy_problem() {
  std::array<unsigned char, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), GRND_NONBLOCK) == static_cast<ssize_t>(bytes.size())) return "";
  const int code = errno;
  return fmt::format("{}: noise keys would wait for it; start later, or give the machine a source of entropy",
                     code == EAGAIN ? "the system has not gathered enough randomness since it started"
                                    : std::generic_category().message(code));
}

std::string hdf5_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

RankFacts local_facts(const std::string& directory) {
  RankFacts facts;
  facts.host = host_name();
  facts.version = version();
  facts.build = sha256_of_file("/proc/self/exe");
  facts.mpi = mpi_version();
  facts.threads = thread_level();
  facts.hdf5 = hdf5_version();
  facts.launched = launched_ranks();
  facts.cpus_of_host = cpus_of_this_host();
  facts.cpus = allowed_cpus();
  facts.yields = yields_when_idle();
  if (const double memory = usable_memory(); memory < infinity) facts.memory = static_cast<std::int64_t>(memory);
  facts.shared_memory = free_space("/dev/shm");
  facts.free_space = free_space(directory);
  facts.entropy_problem = entropy_problem();
  return facts;
}

void write_own(const std::string& directory, const std::string& path) {
  check<FailureError>(fs::is_directory(directory),
                      "there is no directory '{}': files of runs would have no place. Make it, on all hosts.",
                      directory);
  const int code = ::access(directory.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
  check<FailureError>(code == 0, "'{}' cannot be written to: {}. Choose another directory, or see to its permissions.",
                      directory, std::generic_category().message(code));
  write_trial(path);
}

/// Another rank's file, which may need a while to be seen here.
void read_when_seen(const std::string& path) {
  for (int look = 0; look < most_looks && !fs::exists(path); ++look) std::this_thread::sleep_for(between_facts);
  check<FailureError>(fs::exists(path),
                      "rank 0's file '{}' is not seen: each host has a directory of its own of that name, and run.h5 "
                      "joins files of all ranks. Use a directory on a file system that all hosts share, or give runs "
                      "--private DIR on each host's own disk.",
                      path);
  read_trial(path);
}

/// **Collective.** Writes a file, reads this file, then reads the file of rank 0.
void try_directory(Agreement& agreement, const std::string& directory, RankFacts& facts) {
  const std::string token = agreement.broadcast(
      declare_public(fmt::format("{}-{}", ::getpid(), std::chrono::system_clock::now().time_since_epoch().count())));
  const auto path = [&](int rank) { return fmt::format("{}/starling-doctor-{}.{}.h5", directory, token, rank); };
  const TrialFile own(path(agreement.rank()));
  facts.disk_problem = problem_of([&] { write_own(directory, own.path()); });
  const std::vector<std::string> problems = agreement.all_gather(declare_public(facts.disk_problem));
  if (problems[0].empty()) facts.sharing_problem = problem_of([&] { read_when_seen(path(0)); });
  agreement.barrier();
}

}  // namespace

std::string directory_of(const std::string& output) {
  std::error_code ignored;
  if (fs::is_directory(output, ignored)) return output;
  check(!fs::exists(output, ignored), "--output '{}' is not a directory: a run needs one of its own. Name another.",
        output);
  const fs::path above = fs::absolute(output).lexically_normal().parent_path();
  return above.empty() ? "." : above.string();
}

std::vector<RankFacts> gather_facts(Agreement& agreement, const std::string& directory) {
  RankFacts own;
  agreement.together([&] { own = local_facts(directory); });
  try_directory(agreement, directory, own);
  std::vector<RankFacts> facts;
  const std::string here = nlohmann::json(own).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  for (const std::string& text : agreement.all_gather(declare_public(here))) {  // names of files need not be UTF-8
    facts.push_back(nlohmann::json::parse(text));
  }
  return facts;
}

}  // namespace starling
