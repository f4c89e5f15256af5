#include <algorithm>
#include <limits>
#include <string>

#include "net/host/host_limits.hpp"

namespace starling {

double least_of_groups(std::istream& membership, const std::filesystem::path& mount,
                       const std::function<double(const std::filesystem::path&)>& allowed) {
  double least = std::numeric_limits<double>::infinity();
  for (std::string line; std::getline(membership, line);) {  // number:controllers:/group
    const std::size_t controllers = line.find(':') + 1;
    const std::size_t end = line.find(':', controllers);
    if (controllers == 0 || end == std::string::npos) continue;
    const std::filesystem::path tree = mount / line.substr(controllers, end - controllers);
    least = std::min(least, allowed(tree));
    std::filesystem::path group = std::filesystem::path(line.substr(end + 1)).relative_path();
    for (; !group.empty(); group = group.parent_path()) least = std::min(least, allowed(tree / group));
  }
  return least;
}

}  // namespace starling
