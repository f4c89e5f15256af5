/// The message of a process that gets no more memory.
#pragma once

namespace starling {

inline constexpr const char* out_of_memory =
    "out of memory: the host, its control group or a limit (ulimit -v) gives no more. Raise the limit, or take fewer "
    "clients or features on each rank.";

}  // namespace starling
