#include "net/host/mpi_session.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

#include <mpi.h>

#include "core/check.hpp"
#include "net/host/host_limits.hpp"

namespace starling {

namespace {

int integer_from_environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atoi(text);
}

/// Ranks of this job on this host as the launcher says, or 1.
int local_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"}) {
    if (const int count = integer_from_environment(name); count > 0) return count;
  }
  // SLURM_STEP_TASKS_PER_NODE reads "4(x2)" or "4,3": its first number is that of most hosts.
  return std::max(integer_from_environment("SLURM_STEP_TASKS_PER_NODE"), 1);
}

/// Whether this process is a world of its own: nothing in the environment comes from a launcher.
bool is_alone() {
  for (char** each = environ; *each != nullptr; ++each) {
    for (const char* of_launcher : {"OMPI_COMM_", "PMIX_", "PMI_", "SLURM_", "ALPS_", "PALS_", "JSM_", "MPI_"}) {
      if (std::string_view(*each).starts_with(of_launcher)) return false;
    }
  }
  return true;
}

/// A variable of the environment while this lives, unless it is set already.
class Lent {
 public:
  Lent(const char* name, const char* value) : name_(std::getenv(name) == nullptr ? name : nullptr) {
    setenv(name, value, 0);
  }
  ~Lent() {
    if (name_ != nullptr) unsetenv(name_);
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

 private:
  const char* name_;
};

/// Throws FailureError if MPI has been finalized: a process can start MPI only once.
void require_no_end() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  check<FailureError>(
      finalized == 0,
      "MPI has been ended in this process (by MPI_Finalize, which cannot be undone). Run starling before that.");
}

}  // namespace

int cpus_of_this_host() {
  const int of_job = integer_from_environment("SLURM_CPUS_ON_NODE");
  return of_job > 0 ? of_job : usable_cpus();
}

bool oversubscribed() {
  return local_ranks() > cpus_of_this_host();
}

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string version(text, static_cast<std::size_t>(length));
  return version.substr(0, version.find(','));
}

MpiSession::MpiSession() {
  require_no_end();
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized != 0) return;
  // Open MPI reads these settings when it starts. Idle ranks must give their CPU away when ranks outnumber CPUs,
  // whatever a host file promises. A process without a launcher needs no daemon of Open MPI.
  if (oversubscribed()) setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  started_ = true;
  if (!is_alone()) {
    MPI_Init(nullptr, nullptr);
    return;
  }
  // Looking for networks takes most of the start, and a process that speaks to itself needs none. Programs that it
  // starts may need some.
  const Lent protocol("OMPI_MCA_pml", "ob1");
  const Lent network("OMPI_MCA_btl", "self");
  MPI_Init(nullptr, nullptr);
}

MpiSession::~MpiSession() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (started_ && finalized == 0) MPI_Finalize();
}

int MpiSession::rank() const {
  require_no_end();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int MpiSession::size() const {
  require_no_end();
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

}  // namespace starling
