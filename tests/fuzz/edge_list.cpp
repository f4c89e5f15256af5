// Edge lists.
#include "graphs.hpp"
#include "target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace starling;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!fuzz::small_numbers(text)) return -1;
  fuzz::answers([text] { fuzz::require_sound(Topology::parse_edge_list(text, "input")); });
  return 0;
}
