#include "data_command.hpp"

#include "app/console/pass.hpp"
#include "app/settings/catalogue.hpp"
#include "data_commands.hpp"

#include "starling/core/record_error.hpp"

namespace starling {

void add_last_options(Options& options, ProgressChoice& progress) {
  options.group("General");
  options.add(declared("progress", {.help = "on stderr: auto (where it takes long: a line that changes on a terminal, "
                                            "else lines), on (lines) or off"}),
              progress,
              {{"auto", ProgressChoice::automatic}, {"on", ProgressChoice::on}, {"off", ProgressChoice::off}});
  options.add(declared("config"));
  options.add(declared("print-config", {.help = "print the effective options as such a file and exit"}));
  options.add(declared("help"));
}

int run_for_owner(const std::function<int()>& job) {
  return stoppable([&] { return showing_values(job); });
}

Command data_command() {
  return {
      .name = "data",
      .purpose = "convert, make, describe or profile files of records",
      .subcommands = {data_convert_command(), data_make_command(), data_describe_command(), data_profile_command()}};
}

}  // namespace starling
