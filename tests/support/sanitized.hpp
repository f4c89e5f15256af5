/// Whether the modules that are tested are built with the address sanitizer. Asked when a test runs: objects of tests
/// are the same with sanitizers and without.
#pragma once

extern "C" [[gnu::weak]] void __asan_init();  // the address sanitizer's library has it

namespace starling::testing_support {

inline const bool sanitized = &__asan_init != nullptr;

}  // namespace starling::testing_support
