/// Release of unused heap memory to the system.
#pragma once

namespace starling {

/// Returns freed whole pages to the system, wherever in the heap they lie. The heap by itself returns only the pages at
/// its end. Call after large blocks were freed that will not be needed again. Without glibc the function does nothing.
void trim_heap();

}  // namespace starling
