// Models neither add noise nor open secrets.
// Expected: starling/privacy/mechanism.hpp.*(No such file|not found)
#ifdef STARLING_MUST_FAIL
#include "starling/privacy/mechanism.hpp"
#else
#include "starling/model/model.hpp"
#endif
