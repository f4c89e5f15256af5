// Gives nlohmann::ordered_json the layout in Clang that it has in GCC, so that modules by one and tests by the other
// can be linked: the library asks for the attribute in GCC's spelling, which Clang does not know by that name.
#include_next <nlohmann/detail/macro_scope.hpp>
#undef JSON_NO_UNIQUE_ADDRESS
#define JSON_NO_UNIQUE_ADDRESS [[no_unique_address]]
