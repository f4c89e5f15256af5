#include "app/commands.hpp"

namespace starling {

Command data_command() {
  return {
      .name = "data",
      .purpose = "convert, make, describe or profile files of records",
      .subcommands = {data_convert_command(), data_make_command(), data_describe_command(), data_profile_command()}};
}

}  // namespace starling
