/// The JSON type of summaries, whose keys keep their order.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace starling {

using Json = nlohmann::ordered_json;

}  // namespace starling
