#include "launch.hpp"

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <initializer_list>
#include <new>
#include <string>

#include "console/out_of_memory.hpp"
#include "files/tell_user.hpp"
#include "net/agreement.hpp"
#include "net/probes/latency_probes.hpp"

namespace starling {

namespace {

/// The rank and its host, to stand before its messages; empty if all ranks are on one host. **Collective.**
std::string speaker_of(World& world) {
  const std::string host = host_name();
  return Agreement(world).alike(declare_public(host)) ? "" : fmt::format("rank {} on {}: ", world.rank(), host);
}

/// The first of these variables that is set; 0 if none is.
int number_from_environment(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const char* text = std::getenv(name); text != nullptr) return std::atoi(text);
  }
  return 0;
}

/// Tells the other ranks, and reports the error that is being handled or throws it on.
int end_by(World& world, ExitCode code, const std::string& message, Errors errors) {
  const bool speaks = world.announce(code, message);
  if (errors == Errors::thrown) throw;
  if (speaks) tell_user("starling: {}\n", message);
  return static_cast<int>(code);
}

}  // namespace

int launched_ranks() {
  return number_from_environment({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"});
}

bool is_first_process() {
  return number_from_environment({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) == 0;
}

int run_on_all_ranks(const std::function<ExitCode(World&)>& job, Errors errors) {
  World world;
  std::string speaker;
  try {
    speaker = speaker_of(world);
    return static_cast<int>(job(world));
  } catch (const PeerError& error) {
    if (errors == Errors::thrown) throw;
    return static_cast<int>(error.code());  // its own rank has said why
  } catch (const Error& error) {
    return end_by(world, error.code(), speaker + error.what(), errors);
  } catch (const std::filesystem::filesystem_error& error) {
    return end_by(world, ExitCode::failure,
                  fmt::format("{}cannot read or write '{}': {}. Check its owner and permissions.", speaker,
                              error.path1().string(), error.code().message()),
                  errors);
  } catch (const std::bad_alloc&) {
    return end_by(world, ExitCode::failure, speaker + out_of_memory, errors);
  } catch (const std::exception& error) {
    return end_by(world, ExitCode::failure, speaker + error.what(), errors);
  }
}

}  // namespace starling
