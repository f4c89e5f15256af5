// `starling data describe`.
#include <filesystem>

#include "app/commands.hpp"
#include "console/pass.hpp"
#include "console/print.hpp"
#include "core/check.hpp"
#include "core/digest.hpp"
#include "core/record_error.hpp"
#include "data/cells/number.hpp"
#include "data/column_names.hpp"
#include "description_text.hpp"
#include "run/settings/catalogue.hpp"
#include "run/settings/source_choice.hpp"
#include "run/settings/source_options.hpp"

namespace starling {

namespace {

struct Describe {
  SourceChoice source;
  bool json = false;
  ProgressChoice progress = ProgressChoice::automatic;
};

Options describe_options(Describe& describe) {
  Options options("data describe");
  add_source_word(options, describe.source);
  add_client_options(options, describe.source);
  add_reading_options(options, describe.source.reading);
  options.group("Output");
  options.add(
      declared(
          "json",
          {.help = "print one JSON object: source, files, replayable, clients, records, records_per_client, features, "
                   "sparse, density, labels, losses, row_l1, row_l2, constant, columns, repeated_ids, notes"}),
      describe.json);
  add_last_options(options, describe.progress);
  return options;
}

void add_digests(const SourceChoice& source, DescribedSource& described) {
  described.replayable = true;
  if (source.synthetic()) {
    const std::string identity = identity_of_generated(source.name(), source.seed);
    described.digests.emplace_back(identity, sha256(identity));
    return;
  }
  for (Client u = 0; u < source.parts(); ++u) {
    described.replayable = described.replayable && source.replayable(u);
    for (const std::string& file : source.files(u)) {
      std::error_code ignored;
      if (std::filesystem::is_regular_file(file, ignored)) described.digests.emplace_back(file, sha256_of_file(file));
    }
  }
}

DescribedSource describe_source(Describe& describe) {
  SourceChoice& source = describe.source;
  source.check_clients();
  source.reading.key = source.reading.id;  // whose text tells ids that stand twice
  DescribedSource described;
  described.source = source.name();
  described.has_ids = !source.reading.id.empty();
  if (source.per_client()) described.clients = source.parts();
  Describer describer;
  Progress progress(describe.progress);
  progress.begin("reading " + source.name(), nullptr);
  for (Client u = 0; u < source.parts(); ++u) {
    describer.read(*source.open(u), [&progress] { progress.tick(); });
  }
  progress.end();
  try {
    described.figures = describer.finish();
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", source.name(), error.what()));
  }
  add_digests(source, described);
  if (!source.synthetic()) described.layout = notes_on_layout(source.part(0), source.reading);
  return described;
}

Manual describe_manual() {
  return {.usage = "SOURCE [OPTIONS]",
          .text =
              "Says what a source holds: records, labels, the range of each feature, norms of rows, and what to look "
              "at before a run. The output is NOT PROTECTED: it is computed from the records as they are, and is meant "
              "for their owner alone. The L1 norm of a row bounds that of its gradient under the logistic and the "
              "hinge loss (--intercept adds 1 to it): --clip at the largest norm cuts nothing, at the median it cuts "
              "half of the records at most. Medians and 95 % quantiles are good to 1 %. With --id, 8 bytes of memory "
              "per record are used to count ids that stand twice; otherwise memory does not grow with the number of "
              "records. Exit codes: 0 done, 2 usage, 3 data.",
          .examples = {"starling data describe held-out.csv"}};
}

int run_describe(const Call& call) {
  auto describe = parsed<Describe, describe_options>(call.words);
  return run_for_owner([&] {
    DescribedSource described;
    try {
      showing_values([&] { described = describe_source(describe); });
    } catch (const DataError& error) {
      const std::string why = error.what();
      if (why.find(other_texts_mark) == std::string::npos) throw;
      throw DataError(
          fmt::format("{} Several columns hold texts: each needs a decision. `starling init {}` lists them "
                      "(--label, --id, --person, --drop, --encode).",
                      why, describe.source.name()));
    }
    print(describe.json ? to_json(described) + '\n' : to_text(described));
    return 0;
  });
}

}  // namespace

Command data_describe_command() {
  return command_of<Describe, describe_options>(
      "describe", "what a source holds, for its owner (the figures are not protected)", describe_manual, run_describe);
}

}  // namespace starling
