/// Release of unused heap memory to the system.
#pragma once

namespace starling {

/// Gives the system back whole pages that have been freed, wherever in the heap they lie; by itself it gives back those
/// at its end. For moments at which much was freed that will not be needed again. Without glibc it does nothing.
void trim_heap();

}  // namespace starling
