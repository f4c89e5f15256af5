/// Rows of the table of mirror maps.
#pragma once

#include <string>

#include "mirror/mirror.hpp"

namespace starling {

/// A mirror map as its own file declares it: the row of mirror_table, and the domain that a run has when the user names
/// none.
struct MirrorMember {
  Table<MirrorMap, Domain&>::Row row;
  std::string default_domain = "free";
};

}  // namespace starling
