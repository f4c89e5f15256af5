// Waits of a rank that hears of the others' failures and stop requests meanwhile, and what they leave behind.
#include "state.hpp"

namespace starling {

void World::State::wait(std::span<MPI_Request> requests, double patience, const std::function<std::string()>& awaited) {
  const auto completed = [&] {
    int done = 0;
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
  };
  wait_until<64>(completed, patience, awaited);
}

void World::State::keep_waiting(PatienceClock& clock, double patience, const std::function<std::string()>& awaited) {
  const double waited = clock.seconds();
  const bool others_gave_up = poll_while_waiting(clock.suspended());
  if (waited > patience || others_gave_up) {
    waited_in_vain = true;
    throw FailureError(fmt::format(
        "{}: nothing came for {:.3g} s. See whether that rank still runs, or raise --watchdog.", awaited(), waited));
  }
  clock.rest();
}

void World::State::wait_collective(MPI_Request request, const char* what) {
  const auto done = [&] {
    int all = 0;
    MPI_Test(&request, &all, MPI_STATUS_IGNORE);
    return all != 0;
  };
  wait_for_all(done, what);
}

void World::State::wait_for_all(const std::function<bool()>& done, const char* what) {
  // Ranks may differ by minutes here (one reads a larger file); a rank that failed says so on the control channel.
  const double patience = std::max(10 * watchdog, 600.0);
  PatienceClock clock;
  for (unsigned spins = 1; !done(); ++spins) {
    if (spins % 64 != 0) continue;
    poll();
    if (clock.seconds() > patience) {
      throw FailureError(
          fmt::format("{}: other ranks did not take part for {} s: dead, stopped or still busy. See whether they still "
                      "run, or raise --watchdog.",
                      what, patience));
    }
    clock.rest();
  }
}

void World::State::abandon(MPI_Request& request, Vector&& buffer) {
  if (request == MPI_REQUEST_NULL) return;
  int done = 0;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  if (done != 0) return;
  MPI_Request_free(&request);
  keep(std::make_shared<Vector>(std::move(buffer)));
}

void World::State::abandon(MPI_Request& request, const std::shared_ptr<std::vector<std::byte>>& buffer) {
  if (request == MPI_REQUEST_NULL) return;
  int done = 0;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  if (done != 0) return;
  MPI_Request_free(&request);
  keep(buffer);
}

}  // namespace starling
