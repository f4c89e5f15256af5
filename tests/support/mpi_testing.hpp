/// What tests under mpirun share. Never ASSERT between collectives: a rank that leaves early hangs the others.
#pragma once

#include "starling/net/world.hpp"

namespace starling::testing_support {

/// The ranks of this test program.
World& world();

}  // namespace starling::testing_support
