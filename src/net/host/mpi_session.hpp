/// Start and end of MPI in a process, and what a process knows of its host and launcher before.
#pragma once

#include <string>

namespace starling {

/// MPI in a process that embeds starling: started by the constructor, unless the process has started it, and then
/// finalized by the destructor, unless the process has finalized it. Both are **collective**. While it lives, a process
/// may have one World after the other. Throws FailureError if MPI has been finalized before.
///
/// Before MPI starts, the constructor asks Open MPI to yield when idle if this host has more ranks than CPUs. Without
/// yielding, a round among waiting ranks takes milliseconds.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;

 private:
  bool started_ = false;
};

/// Name and version of the MPI library. Needs no World.
[[nodiscard]] std::string mpi_version();

/// Number of CPUs of this host that the job may use, within the quota of its control groups. SLURM's count comes first,
/// else the CPUs of the launcher's affinity; all online CPUs where no launcher is seen. Needs no World.
[[nodiscard]] int cpus_of_this_host();

/// Whether this job has more ranks than CPUs on this host, according to the launcher. Needs no World.
[[nodiscard]] bool oversubscribed();

}  // namespace starling
