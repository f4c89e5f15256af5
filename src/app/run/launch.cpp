#include "launch.hpp"

#include <cstdio>
#include <exception>

namespace starling {

namespace {

int report(World& world, ExitCode code, const char* message) {
  if (world.announce(code, message)) fmt::print(stderr, "starling: {}\n", message);
  return static_cast<int>(code);
}

}  // namespace

int run_on_all_ranks(const std::function<ExitCode(World&)>& job) {
  World world;
  try {
    return static_cast<int>(job(world));
  } catch (const PeerError& error) {
    return static_cast<int>(error.code());  // its own rank has said why
  } catch (const Error& error) {
    return report(world, error.code(), error.what());
  } catch (const std::exception& error) {
    return report(world, ExitCode::failure, error.what());
  }
}

}  // namespace starling
