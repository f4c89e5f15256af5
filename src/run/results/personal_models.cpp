#include "personal_models.hpp"

#include <filesystem>

#include "data/serving/dataset.hpp"
#include "data/stream.hpp"
#include "files/tell_user.hpp"
#include "output/directory/owners_file.hpp"
#include "output/directory/run_directory.hpp"
#include "output/model_file/saved_model.hpp"
#include "personal/personal_fit.hpp"
#include "report/summary.hpp"
#include "result_files.hpp"
#include "run/settings/learning_config.hpp"
#include "run/stages/method.hpp"
#include "run/stages/play.hpp"
#include "run/stages/run_context.hpp"
#include "run/tuning/joining_outlook.hpp"

namespace starling {

namespace {

/// All records of a pass.
Secret<Batch> records_of(Stream& stream) {
  Secret<Batch> all;
  all.update([](Batch& batch) { batch.clear(); });
  const Round rounds = stream.rounds_of_pass().value_or(0);
  for (Round t = 0; t < rounds && !stream.ended(t); ++t) {
    all.update(
        [](Batch& batch, const Batch& more) {
          std::size_t person = 0;
          for (std::size_t i = 0; i < more.size(); ++i) {
            while (person < (more.by_person() ? more.units() : 0) && more.person(person).first <= i) {
              batch.begin_person();
              ++person;
            }
            batch.add(more.row(i), more.label(i));
          }
        },
        stream.next(t));
  }
  return all;
}

constexpr double odds_of_what_is_expected = 5;  ///< in nats

constexpr const char* header =
    "client,records,choice,strength,held_out,alone_loss,joint_loss,personal_loss,alone_accuracy,joint_accuracy,"
    "personal_accuracy\n";

std::string per_record(double sum, std::int64_t records) {
  return records > 0 ? fmt::format("{:.6g}", sum / static_cast<double>(records)) : "";
}

/// A row of the owner's table. Accuracies are empty where nothing is classified, and all scores without records.
std::string row_of(Client u, const Batch& records, const PersonalModel& model, bool classifies) {
  const PersonalScores& scores = model.held_out;
  const auto accuracy = [&](const Score& score) {
    return classifies ? per_record(static_cast<double>(score.correct), score.records) : "";
  };
  return fmt::format("{},{},\"{}\",{:g},{},{},{},{},{},{},{}\n", u, records.size(), name_of(model.centre),
                     model.strength, scores.joint.records, per_record(scores.alone.loss, scores.alone.records),
                     per_record(scores.joint.loss, scores.joint.records),
                     per_record(scores.personal.loss, scores.personal.records), accuracy(scores.alone),
                     accuracy(scores.joint), accuracy(scores.personal));
}

PersonalTerms terms_of(const RunContext& run, const SavedModel& common, Model& model) {
  PersonalTerms terms;
  terms.common = common.parameters;
  terms.seed = run.common().data.seed;
  terms.scores = common.scores;
  const auto* const linear = common.as<LinearForm>();
  terms.linear = linear != nullptr;
  terms.intercept = linear != nullptr && linear->intercept;
  terms.convex = terms.linear || common.is<LocationForm>();
  if (!terms.convex) terms.ignorant = model.initial(terms.seed).value_or(Vector());
  return terms;
}

/// The model, with its origin. On ranks other than 0 too.
SavedModel common_model(const BegunRun& begun, const Play& play, const Summary& summary) {
  RunContext& run = begun.context;
  const Vector here = run.first_rank() ? summary.get<FinalModels>().by_mass : Vector();
  const Vector parameters = run.agreement.all_gather(declare_public(here)).front();
  SavedModel model = completed(*play.saved_model(), parameters, run.common().data, run.inputs.dataset);
  model.origin = {
      {"command", run.command},
      {"run_id", begun.run_id},
      {"privacy", "none: a personal model, fitted to its owner's records without noise. Never publish it."}};
  return model;
}

/// ln of the odds that models from the common one are given before a client's records have spoken: public numbers tell
/// what noise costs it (run/tuning/joining_outlook.hpp).
double odds_of_joining(double records, const std::optional<double>& worth, std::size_t parameters) {
  if (!worth) return 0;
  switch (expected_of_joining(records, *worth, parameters)) {
    case Joining::pays:
      return odds_of_what_is_expected;
    case Joining::changes_little:
      break;
    case Joining::costs:
      return -odds_of_what_is_expected;
  }
  return 0;
}

/// The worth of the common model in records of one client, which rank 0 has foretold.
std::optional<double> agreed_worth(RunContext& run, const Summary& summary) {
  const std::optional<double> here = run.first_rank() ? summary.get<Tuning>().worth : std::nullopt;
  const double worth = run.agreement.all_gather(declare_public(Vector{here.value_or(0)})).front().front();
  return worth > 0 ? std::optional(worth) : std::nullopt;
}

/// Rank-local.
void make_here(const BegunRun& begun, const SavedModel& common, Model& model, const std::optional<double>& worth) {
  RunContext& run = begun.context;
  const std::string folder = begun.directory.private_folder(run.world.rank());
  std::filesystem::create_directories(folder + "/personal");
  OwnersFile::replace(folder + "/personal.csv", Secret<std::string>(header));
  const OwnersFile table(folder + "/personal.csv");
  Dataset again = run.inputs.opened_again(run.common().data);
  check<DataError>(again.fingerprint == run.inputs.dataset.fingerprint,
                   "{}: it has changed since the run began, so that personal models would be those of other records. "
                   "The run's results are whole.",
                   run.common().data.source);
  PersonalTerms terms = terms_of(run, common, model);
  for (std::size_t k = 0; k < again.streams.size(); ++k) {
    const Client u = run.inputs.first_client() + static_cast<Client>(k);
    if (run.inputs.members.is_lost(u)) continue;
    terms.client = static_cast<std::uint64_t>(u);
    const Secret<Batch> records = records_of(*again.streams[k]);
    const auto fit = [&](const Batch& own) {
      terms.joining = odds_of_joining(static_cast<double>(own.units()), worth, common.parameters.size());
      return fit_personal(model, own, terms);
    };
    const Secret<PersonalModel> personal = records.map(fit);
    Secret<std::string> row;
    row.update([&](std::string& text, const Batch& own,
                   const PersonalModel& fitted) { text = row_of(u, own, fitted, model.classifies()); },
               records, personal);
    table.append(row);
    OwnersFile::replace(fmt::format("{}/personal/{}.h5", folder, u), personal.map([&](const PersonalModel& fitted) {
      SavedModel own = common;
      own.parameters = fitted.parameters;
      return file_of_model(own);
    }));
  }
}

}  // namespace

void make_personal_models(const BegunRun& begun, const Play& play, const Recording& recording, const Summary& summary,
                          bool stopped) {
  RunContext& run = begun.context;
  const std::string why_none = stopped                           ? "the run was stopped"
                               : run.inputs.members.any_joined() ? "clients have joined the run"
                                                                 : "";
  if (!why_none.empty()) {
    if (run.first_rank()) tell_user("note: --personal: there are no personal models, since {}\n", why_none);
    return;
  }
  const SavedModel common = common_model(begun, play, summary);
  const std::optional<double> worth = agreed_worth(run, summary);
  if (run.first_rank()) {
    tell_user("personal models go to {}/private/<rank>/personal, for the owners of the records alone\n",
              begun.directory.path());
  }
  if (run.inputs.client_count() > 0) make_here(begun, common, *recording.model, worth);
}

}  // namespace starling
