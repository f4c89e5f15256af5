// The privacy room cannot send anything.
// Expected: starling/net/world.hpp.*(No such file|not found)
#ifdef STARLING_MUST_FAIL
#include "starling/net/world.hpp"
#else
#include "starling/privacy/mechanism.hpp"
#endif
