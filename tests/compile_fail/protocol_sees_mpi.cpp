// Protocols communicate through the doors and through nothing else.
// Expected: mpi\.h.*(No such file|not found)
#ifdef STARLING_MUST_FAIL
#include <mpi.h>
#else
#include "starling/net/neighbours/neighbours.hpp"
#endif
