// Files for --config, read by the options that every command on data shares and by some of all other kinds.
#include "app/settings/source_options.hpp"
#include "target.hpp"
#include <optional>
#include <vector>

#include "starling/options/options.hpp"

namespace {

using namespace starling;

struct Values {
  ReadSettings reading;
  std::optional<std::string> topology;
  std::optional<double> clip;
  double step = 0;
  std::int64_t rounds = 0;
  std::optional<int> clients;
  bool json = false;
};

Options options_into(Values& values) {
  Options options("omd");
  add_reading_options(options, values.reading);
  options.add({"More", "topology", "FILE", "", "", setter::text(values.topology)});
  options.add({"More", "clip", "C", "", "", setter::number(values.clip, 1e-300, 1e12)});
  options.add({"More", "step", "C", "1", "", setter::number(values.step, 1e-300, 1e12)});
  options.add({"More", "rounds", "T", "10", "", setter::integer(values.rounds, 1, 1'000'000)});
  options.add({"More", "clients", "N", "", "", setter::integer(values.clients, 1, 1'000)});
  options.add({"More", "json", "", "", "", setter::flag(values.json)});
  options.add({"More", "config", "FILE", "", "", [](const std::string&) {}});
  return options;
}

/// Reads a file and returns the effective configuration.
std::string configuration_of(std::string_view text, Values& values) {
  const fuzz::MemoryFile file(text);
  Options options = options_into(values);
  options.parse({"--config", file.path()});
  return options.configuration();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string written;
  const bool read = fuzz::answers([&] {
    Values values;
    written = configuration_of({reinterpret_cast<const char*>(data), size}, values);
    fuzz::require(values.step > 0 && values.rounds >= 1 && values.clients.value_or(1) >= 1, "values in their ranges");
  });
  if (!read) return 0;
  Values again;
  fuzz::require(configuration_of(written, again) == written, "a configuration that reads back as itself");
  return 0;
}
