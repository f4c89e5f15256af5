#include "gaussian_table.hpp"

namespace starling::gaussian_table {

// NOLINTNEXTLINE(cert-err58-cpp)
const Table table =
#include "gaussian_table.inc"
    ;

}  // namespace starling::gaussian_table
