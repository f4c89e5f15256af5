/// Whether the modules that are tested are built with the address sanitizer.
#pragma once

namespace starling::testing_support {

#ifdef STARLING_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace starling::testing_support
