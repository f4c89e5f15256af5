// What can be clipped exactly. Internal to the model room.
#pragma once

namespace starling {

/// Beyond this a clip factor could underflow and a sum overflow: refused, not clipped to something (method 6).
inline constexpr double largest_clippable_norm = 1e150;

}  // namespace starling
