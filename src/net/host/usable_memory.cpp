#include <algorithm>
#include <fstream>
#include <string>

#include "core/text/limits.hpp"
#include "net/host/host_limits.hpp"

namespace starling {

namespace {

/// A file's only number; infinite where it is "max" or missing.
double number_in(const std::filesystem::path& file) {
  double number = 0;
  return std::ifstream(file) >> number ? number : infinity;
}

/// The number behind a name in a file of such lines, or `otherwise`.
double number_named(const std::filesystem::path& file, const std::string& name, double otherwise) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + ' ') || line.starts_with(name + ':')) return std::stod(line.substr(name.size() + 1));
  }
  return otherwise;
}

double left(double limit, double usage, double cached) {
  return limit < infinity && usage < infinity ? std::max(0.0, limit - usage + cached) : infinity;
}

double left_in(const std::filesystem::path& group) {
  const auto cached = [&](const std::string& prefix) {
    return number_named(group / "memory.stat", prefix + "inactive_file", 0) +
           number_named(group / "memory.stat", prefix + "active_file", 0);
  };
  const double second = left(std::min(number_in(group / "memory.max"), number_in(group / "memory.high")),
                             number_in(group / "memory.current"), cached(""));
  const double first =
      left(number_in(group / "memory.limit_in_bytes"), number_in(group / "memory.usage_in_bytes"), cached("total_"));
  return std::min(first, second);
}

}  // namespace

double usable_memory(const std::filesystem::path& root) {
  const double of_host = 1024 * number_named(root / "proc/meminfo", "MemAvailable", infinity);
  std::ifstream membership(root / "proc/self/cgroup");
  return std::min(of_host, least_of_groups(membership, root / "sys/fs/cgroup", left_in));
}

}  // namespace starling
