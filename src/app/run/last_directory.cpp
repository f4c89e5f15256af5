#include "last_directory.hpp"

namespace starling {

std::string& last_directory() {
  static std::string path;
  return path;
}

}  // namespace starling
