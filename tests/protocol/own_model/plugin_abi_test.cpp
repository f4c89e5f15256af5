#include <cstddef>
#include <starling/plugin.h>
#include <type_traits>

#include "support/testing.hpp"

namespace starling::plugin_abi_test {

// Libraries that were built with this header keep working while these numbers stay. Whoever changes one changes
// STARLING_PLUGIN_ABI.
static_assert(STARLING_PLUGIN_ABI == 1);
constexpr std::size_t word = sizeof(void*);
static_assert(sizeof(starling_batch) == 5 * word);
static_assert(offsetof(starling_batch, rows) == 0 && offsetof(starling_batch, features) == word);
static_assert(offsetof(starling_batch, x) == 2 * word && offsetof(starling_batch, stride) == 3 * word);
static_assert(offsetof(starling_batch, y) == 4 * word);
static_assert(sizeof(starling_model) == 9 * word);
static_assert(offsetof(starling_model, dimension) == 0 && offsetof(starling_model, start) == word);
static_assert(offsetof(starling_model, gradients) == 2 * word && offsetof(starling_model, scores) == 3 * word);
static_assert(offsetof(starling_model, error) == 4 * word && offsetof(starling_model, destroy) == 5 * word);
static_assert(offsetof(starling_model, self) == 6 * word && offsetof(starling_model, classifies) == 7 * word);
static_assert(offsetof(starling_model, slope) == 8 * word && sizeof(double) == word);
static_assert(std::is_same_v<decltype(&starling_plugin), int (*)(unsigned, const char*, starling_model*)>);

TEST(PluginAbi, IsThatOfTheHeader) {
  SUCCEED();  // the compiler has checked it
}

}  // namespace starling::plugin_abi_test
