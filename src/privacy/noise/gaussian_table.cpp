#include "gaussian_table.hpp"

namespace starling::gaussian_table {

const Table table =
#include "gaussian_table.inc"
    ;

}  // namespace starling::gaussian_table
