// Files for --config, read by the options that every command on data shares and by some of all other kinds.
#include <optional>
#include <vector>

#include "options/options.hpp"
#include "run/settings/source_options.hpp"
#include "target.hpp"

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
  options.group("More");
  options.add({.name = "topology", .argument = "FILE"}, values.topology);
  options.add({.name = "clip", .argument = "C", .range = {1e-300, 1e12}}, values.clip);
  options.add({.name = "step", .argument = "C", .initial = "1", .range = {1e-300, 1e12}}, values.step);
  options.add(
      {.name = "rounds", .argument = "T", .initial = "10", .range = {1, 1'000'000}, .effect = Option::Effect::length},
      values.rounds);
  options.add({.name = "clients", .argument = "N", .range = {1, 1'000}}, values.clients);
  options.add({.name = "json", .effect = Option::Effect::none}, values.json);
  options.add({.name = "config", .argument = "FILE", .about_configuration = true});
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
