/// The mode of files of a run that anybody may read.
#pragma once

#include <sys/stat.h>

namespace starling {

inline constexpr mode_t readable_by_all = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH;

}  // namespace starling
