#include "launch.hpp"

#include <cstdio>
#include <exception>

namespace starling {

namespace {

/// Tells the other ranks, and reports the error that is being handled or throws it on.
int end_by(World& world, ExitCode code, const char* message, Errors errors) {
  const bool speaks = world.announce(code, message);
  if (errors == Errors::thrown) throw;
  if (speaks) fmt::print(stderr, "starling: {}\n", message);
  return static_cast<int>(code);
}

}  // namespace

int run_on_all_ranks(const std::function<ExitCode(World&)>& job, Errors errors) {
  World world;
  try {
    return static_cast<int>(job(world));
  } catch (const PeerError& error) {
    if (errors == Errors::thrown) throw;
    return static_cast<int>(error.code());  // its own rank has said why
  } catch (const Error& error) {
    return end_by(world, error.code(), error.what(), errors);
  } catch (const std::exception& error) {
    return end_by(world, ExitCode::failure, error.what(), errors);
  }
}

}  // namespace starling
