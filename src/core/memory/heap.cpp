#include "core/memory/heap.hpp"

#include <cstdlib>  // says whether this is glibc
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace starling {

void trim_heap() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace starling
