/// What tests under mpirun share. Never ASSERT between collectives: a rank that leaves early hangs the others.
#pragma once

#include <string>
#include <vector>

#include "net/world.hpp"
#include "support/testing.hpp"

namespace starling::testing_support {

/// The ranks of this test program.
World& world();

/// Failures that other ranks tell of within 20 s, `count` at most.
std::vector<std::string> heard(std::size_t count = 1);

}  // namespace starling::testing_support
