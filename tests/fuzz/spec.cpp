// Specs and the numbers in them, as words of a command line.
#include "core/text/spec.hpp"

#include <cmath>

#include "core/check.hpp"
#include "target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace starling;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!fuzz::is_a_word(text)) return -1;
  fuzz::answers([text] { fuzz::require(!Spec::parse(text).name().empty(), "a name"); });
  fuzz::answers([text] {
    Spec spec = Spec::parse(text);
    spec.bind({{"radius", ""}, {"seed", ""}});
    fuzz::answers([&spec] { static_cast<void>(spec.number("radius")); });
    fuzz::answers([&spec] { static_cast<void>(spec.integer("seed", 1)); });
  });
  fuzz::answers([text] { fuzz::require(std::abs(parse_integer(text, "n")) >= 0, "a whole number"); });
  return 0;
}
