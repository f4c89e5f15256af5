// Topology files.
#include "graphs.hpp"
#include "target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace starling;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool generated = text.find("generate") != std::string_view::npos;  // n clients may have n² edges then
  if (!fuzz::small_numbers(text, generated ? 2 : 3)) return -1;
  fuzz::answers([text] { fuzz::require_sound(*parse_graph(text, "input")); });
  return 0;
}
