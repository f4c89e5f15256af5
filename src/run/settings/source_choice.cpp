#include "source_choice.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "catalogue.hpp"
#include "console/pass.hpp"
#include "core/check.hpp"
#include "data/generators/synthetic.hpp"
#include "source_options.hpp"

namespace starling {

std::string SourceChoice::part(Client u) const {
  if (name() == "-") return "/dev/stdin";
  return synthetic() ? name() : name_of_client(name(), u);
}

void SourceChoice::check_clients() const {
  check(!name().empty(),
        "no source was named: a file, FEATURES,LABELS, part-{{client}}.csv or synthetic:NAME. Name one.");
  check(synthetic() || per_client() || !clients,
        "--clients {} with the one source '{}': only a name with {{client}} stands for several. Leave --clients out.",
        clients.value_or(0), name());
  check(synthetic() || !per_client() || clients, "'{}' names one file per client: say how many with --clients", name());
}

bool SourceChoice::replayable(Client u) const {
  const auto names = files(u);
  return std::ranges::all_of(names, [](const std::string& file) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(file, ignored);
  });
}

std::vector<std::string> SourceChoice::files(Client u) const {
  if (synthetic()) return {};
  return files_of(part(u));
}

std::unique_ptr<RecordReader> SourceChoice::open(Client u) const {
  if (!synthetic()) {
    ReadSettings settings = reading;
    settings.source = part(u);
    settings.go_on_waiting = [] {
      if (stop_asked()) throw_stopped();
      return true;
    };
    return without_left_out(open_reader(settings.source, settings));
  }
  refuse_reading_options(reading);
  std::shared_ptr<const Generator> generator = make_generator(name(), {clients.value_or(1), seed});
  const std::int64_t available = generator->records();
  check(records || available > 0, "'{}' has no end: say how many records: n=… in its name, or --records.", name());
  check(!records || available == 0 || *records <= available, "--records {} is more than '{}' has", records.value_or(0),
        name());
  return open_generated(std::move(generator), name(), seed, u, batch, records.value_or(available));
}

void add_source_word(Options& options, SourceChoice& source) {
  options.group("Source");
  options.add(
      declared("source", "what to read", {.values = source_values, .example = "held-out.csv", .positional = true}),
      source.reading.source);
}

void add_client_options(Options& options, SourceChoice& source) {
  options.group("Source");
  options.add(declared("clients", "number of clients, for a source with {client} in its name or a generator",
                       {.range = {.most = 100'000'000}}),
              source.clients);
  options.add(declared("seed", {.help = "seed of a generator, as in starling omd"}), source.seed);
}

}  // namespace starling
