#include "testing.hpp"

namespace starling::testing_support {

std::string source_folder() {
  return STARLING_SOURCE_DIR;
}

}  // namespace starling::testing_support
