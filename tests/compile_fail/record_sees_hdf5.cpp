// Users of the record room see its headers and not the file format's.
// Expected: hdf5\.h.*(No such file|not found)
#ifdef STARLING_MUST_FAIL
#include <hdf5.h>
#else
#include "starling/report/run_file.hpp"
#endif
