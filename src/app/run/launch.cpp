#include "launch.hpp"

#include <algorithm>
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

int run_command(const std::vector<std::string>& words, bool speaks, const std::function<std::string()>& help,
                const std::function<std::string()>& configuration, const std::function<ExitCode(World&)>& job) {
  for (const auto& [word, text] : {std::pair("--help", help), std::pair("--print-config", configuration)}) {
    if (std::find(words.begin(), words.end(), word) == words.end()) continue;
    const std::string answer = text();
    if (speaks) fmt::print("{}", answer);
    return 0;
  }
  return run_on_all_ranks(job);
}

}  // namespace starling
