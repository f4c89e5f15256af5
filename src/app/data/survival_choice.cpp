#include "survival_choice.hpp"

#include <filesystem>

#include "console/version.hpp"
#include "core/check.hpp"
#include "core/text/limits.hpp"
#include "files/number_rows.hpp"
#include "files/text_files.hpp"
#include "privacy/histograms/time_histogram.hpp"
#include "privacy/ledger/ledger.hpp"
#include "run/privacy/noise_keys.hpp"
#include "run/settings/catalogue.hpp"
#include "run/settings/privacy_options.hpp"

namespace starling {

namespace {

constexpr const char* released = "quantiles-released";

Vector ends_in(const std::string& file) {
  std::error_code ignored;
  check(std::filesystem::exists(file, ignored),
        "--intervals '{}': there is no such file. Write the ends of the intervals into one, as in 6,12,24, chosen by "
        "what is publicly known of such times, or have them released: {}.",
        file, released);
  Vector ends;
  for (const auto& row : read_number_rows(file, fmt::format("--intervals '{}'", file))) {
    ends.insert(ends.end(), row.begin(), row.end());
  }
  return ends;
}

/// Times of all clients in one histogram.
struct CountedTimes {
  Counts counts = Counts(TimeHistogram::bins);
  std::int64_t persons = 0;
};

CountedTimes count_times(const SurvivalChoice& survival, const SourceChoice& source, Progress& progress) {
  CountedTimes times;
  const TimeHistogram histogram(*survival.longest, *survival.epsilon, 0);
  progress.begin("counting times", nullptr);
  for (Client u = 0; u < source.parts(); ++u) {
    for_each_time(*source.open(u), survival.columns[0], [&](double time, bool event) {
      ++times.persons;
      if (event) histogram.count(time, times.counts);
      progress.tick();
    });
  }
  progress.end();
  return times;
}

/// The release as a run of its own, whose unit is a person: a record of the source.
LedgerRun run_of(const SurvivalChoice& survival, const std::string& id, std::int64_t persons,
                 const ClientRange& clients) {
  LedgerRun run;
  run.id = id;
  run.version = version();
  run.mechanism = "laplace";
  run.parameters =
      fmt::format("histogram of times: bins={} epsilon={} longest={} persons={} noise-key={}", TimeHistogram::bins,
                  *survival.epsilon, *survival.longest, persons, name_of(noise_key_policy(survival.noise_key)));
  run.unit = PrivacyUnit::person;
  run.batch = persons;
  run.batch_units = static_cast<double>(persons);
  run.clients = {clients};
  return run;
}

/// The ledger with the release in it; none where nothing is protected.
std::optional<Ledger> entered(const SurvivalChoice& survival, const LedgerRun& run, const Charge& charge) {
  if (survival.ledger.empty()) return std::nullopt;
  std::optional<Ledger> ledger = Ledger::open(survival.ledger);
  ledger->begin(run);
  Reservation row;
  row.clients = run.clients.front();
  row.records = "all, at once";
  row.passes = {{1, charge}};
  row.charges = {{charge, 1}};
  row.digest = "Poly1305 of the counts, into the start of a ChaCha20 stream";
  ledger->reserve(row);
  return ledger;
}

std::string text_of(const Vector& ends) {
  std::string text;
  for (const double end : ends) text += fmt::format("{}{}", text.empty() ? "" : ",", end);
  return text;
}

std::string release_line(const SurvivalChoice& survival, const LedgerRun& run, double deviation, const Vector& ends) {
  const std::string where =
      survival.ledger.empty() ? "nobody is protected under --noise-key seed"
                              : fmt::format("run {} in the ledger {}, which later runs count by --ledger and --budget",
                                            run.id, survival.ledger);
  return fmt::format(
      "intervals: {}: released quantiles of the times of events, in {} for --intervals of all other sites{}\n"
      "price: epsilon {} a person; {}; the noise of a sum of all counts has a deviation of {:.3g} persons\n",
      text_of(ends), survival.written,
      ends.size() < survival.count ? fmt::format(" ({} of {}: the others fell together)", ends.size(), survival.count)
                                   : "",
      *survival.epsilon, where, deviation);
}

Vector release_ends(const SurvivalChoice& survival, const SourceChoice& source, Progress& progress,
                    std::string& report) {
  const CountedTimes times = count_times(survival, source, progress);
  TimeHistogram histogram(*survival.longest, *survival.epsilon, times.persons);
  const double of_interval = static_cast<double>(times.persons) / static_cast<double>(survival.count);
  check(histogram.deviation_of_sum() <= of_interval,
        "--epsilon {}: noise of {:.3g} persons would hide intervals of {:.3g} persons at most, so nothing was "
        "released. Raise --epsilon, lower --interval-count, or name a file of --intervals.",
        *survival.epsilon, histogram.deviation_of_sum(), of_interval);
  const NoiseKey key = make_noise_keys(survival.noise_key, source.seed, survival.ledger_client, 1).front();
  const bool seeded = noise_key_policy(survival.noise_key) == NoiseKeyPolicy::seed;
  const std::string id = (seeded ? key : NoiseKey::random()).hex().substr(0, 32) + ":times";
  const Client last = source.per_client() ? source.parts() - 1 : survival.ledger_client;
  const ClientRange clients(source.per_client() ? 0 : survival.ledger_client, last);
  const LedgerRun run = run_of(survival, id, times.persons, clients);
  std::optional<Ledger> ledger = entered(survival, run, histogram.charge());
  Released<Vector> noisy = declare_public(Vector(TimeHistogram::bins));
  histogram.release({ReleasePath::survival_times, clients.first}, id, key.for_run(id), Secret<Counts>(times.counts),
                    noisy);
  const Vector ends = histogram.ends(noisy.value(), survival.count);
  write_text(survival.written, text_of(ends) + "\n");
  if (ledger) {
    const LedgerEnding ending{clients, 1, LedgerEnd::finished};
    ledger->end({&ending, 1});
  }
  report += release_line(survival, run, histogram.deviation_of_sum(), ends);
  return ends;
}

void add_release_options(Options& options, SurvivalChoice& survival) {
  const Relation of_release = needs("intervals=quantiles-released", "nothing is released",
                                    "Leave it out, or give --intervals quantiles-released.");
  options.add(option("interval-count", "J", "released intervals, each with as many events",
                     {.initial = "8", .range = {1, 32}, .unit = "intervals", .relations = {of_release}}),
              survival.count);
  options.add(option("longest-time", "T",
                     "public bound of times, such as the length of the study: events from there on count as at T",
                     {.range = {tiny, 1e300}, .unit = "as of TIME", .example = "60", .relations = {of_release}}),
              survival.longest);
  options.add(declared("epsilon", {.help = "price of released intervals: privacy loss of a person, by Laplace noise",
                                   .range = {tiny, most_epsilon},
                                   .example = "0.1",
                                   .files = nullptr,
                                   .relations = {of_release}}),
              survival.epsilon);
  options.add(option("write-intervals", "FILE",
                     "file for the released ends. The first site releases, and all others give its file to --intervals",
                     {.example = "ends.txt", .files = named::file, .relations = {of_release}}),
              survival.written);
  options.add(option("ledger", "FILE",
                     "ledger that the owner of the data keeps: the price is entered before the release, and later runs "
                     "with it count it",
                     {.example = "ledger", .files = named::file, .relations = {of_release}}),
              survival.ledger);
  options.add(option("ledger-client", "U",
                     "number of the client in that ledger and in later runs; files with {client} have their own",
                     {.initial = "0",
                      .range = {0, 99'999'999},
                      .example = "2",
                      .relations = {needs("ledger", "the number stands there"),
                                    excludes("clients", "files with {client} have numbers")}}),
              survival.ledger_client);
  options.add(declared("noise-key", {.relations = {of_release}}), survival.noise_key);
}

/// The relation of --survival to an option that changes the column of times along with the features.
Relation not_of_times(const char* option) {
  return excludes(option, "times would change with the features, and the intervals would not",
                  "Give it to the run that learns from the new table.");
}

}  // namespace

void SurvivalChoice::check_release(const SourceChoice& source, bool force) const {
  if (!releases()) return;
  const bool seeded = noise_key_policy(noise_key) == NoiseKeyPolicy::seed;
  check(seeded || !ledger.empty(),
        "--intervals {} without --ledger: later runs would not know what was paid. Give --ledger FILE, and the same to "
        "runs.",
        released);
  check(!seeded || ledger.empty(),
        "--ledger with --noise-key seed: anybody who knows the seed can take the noise off, so the ledger's figures "
        "would be wrong. Leave one of them out.");
  check(!is_per_client(ledger), "--ledger '{}': all records enter one release, so there is one ledger. Name one file.",
        ledger);
  std::error_code ignored;
  check(force || !std::filesystem::exists(written, ignored),
        "--write-intervals '{}' exists: intervals were released, and another release costs as much again. Give the "
        "file to --intervals, or add --force.",
        written);
  for (Client u = 0; u < source.parts(); ++u) {
    check(source.synthetic() || source.replayable(u),
          "'{}' is not a regular file: times are read before records are written. Copy it into one.", source.part(u));
  }
}

void add_survival_options(Options& options, SurvivalChoice& survival) {
  options.group("Survival");
  options.add(option("survival", "TIME,EVENT",
                     "write a record for each interval in which a person is at risk, with the label 1 where the event "
                     "is in it: a record of the source is a person with these columns. The person's number is the "
                     "column person, for --person of runs",
                     {.example = "days,died",
                      .relations = {needs("intervals", "nothing else says what the intervals are"),
                                    excludes("window", "records are of persons"),
                                    excludes("label", "EVENT is the label"), not_of_times("scale"),
                                    not_of_times("standardise"), not_of_times("ranges"), not_of_times("features")}}),
              survival.columns);
  const auto also = [](const char* other) {
    return needs(other, "a release needs its price, range and file").only_for(released);
  };
  options.add(option("intervals", "FILE|quantiles-released",
                     "of --survival: the ends of the intervals, ascending numbers in lines or between commas. They are "
                     "to be public: chosen without a look at the records, or quantiles of the times of events, "
                     "released with noise once",
                     {.example = "months.txt",
                      .relations = {needs("survival", "there are no times"), also("epsilon"), also("longest-time"),
                                    also("write-intervals")}}),
              survival.intervals);
  add_release_options(options, survival);
}

SurvivalSettings survival_settings(const SurvivalChoice& survival, const SourceChoice& source, Progress& progress,
                                   std::string& report) {
  return {survival.columns[0],
          survival.releases() ? release_ends(survival, source, progress, report) : ends_in(survival.intervals)};
}

}  // namespace starling
