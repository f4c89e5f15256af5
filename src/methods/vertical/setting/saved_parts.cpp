// Files of the networks that a run of `starling vertical` ends with, and predictions of held-out records.
#include "saved_parts.hpp"

#include <algorithm>
#include <filesystem>

#include "output/directory/run_directory.hpp"
#include "output/figures/test_metrics.hpp"
#include "output/figures/vertical_record.hpp"
#include "output/model_file/saved_model.hpp"
#include "report/summary.hpp"
#include "run/results/run_results.hpp"
#include "run/stages/run_context.hpp"

namespace starling {

namespace {

/// Makes the model file of a run directory out of the parts of so many clients, which are then removed.
void join_parts(const std::string& folder, Client clients) {
  std::vector<SavedModel> parties;
  for (Client client = 1; client < clients; ++client) {
    parties.push_back(read_model(fmt::format("{}/{}", folder, part_file_name(client))));
  }
  write_model(fmt::format("{}/{}", folder, model_file_name),
              joined_model(read_model(fmt::format("{}/{}", folder, part_file_name(0))), std::move(parties)));
  for (Client client = 0; client < clients; ++client) {
    std::filesystem::remove(fmt::format("{}/{}", folder, part_file_name(client)));
  }
}

}  // namespace

bool SavedParts::are_kept() const {
  return !config_.is_spectrum() && !config_.plan.central && setting_.data.columns_are_features;
}

bool SavedParts::are_shared() const {
  if (config_.networks != NetworksChoice::automatic) return config_.networks == NetworksChoice::shared;
  return (config_.privacy.protects() || setting_.data.is_public) && !setting_.starts_from_parts;
}

SavedModel SavedParts::part(Client client, View parameters) const {
  SavedModel part;
  const auto network = [&](const Architecture& own) {
    return PartForm{{own, config_.precision}, setting_.architecture.parties()};
  };
  part.parameters.assign(parameters.begin(), parameters.end());
  if (client == 0) {
    part.form = HeadForm{network(setting_.architecture.head)};
    part.loss = setting_.loss->loss_of_scores();
    part.scores = setting_.loss->outputs();
    part.features = setting_.architecture.head.input.size();
    part.constants = setting_.data.label_constants;
    return part;
  }
  const std::size_t hosted = static_cast<std::size_t>(client - 1) - setting_.first_party();
  const Clip& clip = embedding_clip_;
  const auto party = static_cast<std::size_t>(client);
  EmbeddingForm form{network(setting_.architecture.features[party - 1]), party};
  part.features = form.architecture.input.size();
  part.scores = setting_.architecture.head.input.size() / setting_.architecture.parties();
  part.constants = setting_.data.constants[hosted];
  if (clip.kind != ClipKind::none) form.bound = clip.bound;
  if (!row_bounds_.empty()) form.row_bound = row_bounds_[party - 1];
  if (!setting_.data.places.empty()) {
    form.places = setting_.data.places[hosted];
    form.table_features = setting_.data.table_features;
  }
  part.form = std::move(form);
  return part;
}

void SavedParts::save(const Summary& summary, const std::vector<std::pair<Client, Released<Vector>>>& blocks) const {
  RunContext& run = begun_.context;
  const bool shared = are_shared();
  run.agreement.together([&] {
    if (shared || !are_kept()) write_networks(begun_.directory, run.world.rank(), blocks);
  });
  if (!are_kept()) return;
  auto origin = origin_of_model(begun_, summary);
  for (auto& [key, value] : origin) value = run.agreement.broadcast(declare_public(value));  // rank 0 has all figures
  run.agreement.together([&] {
    for (const auto& [client, parameters] : blocks) {
      SavedModel own = this->part(client, parameters.value());
      own.origin = origin;
      const std::string name = part_file_name(client);
      const std::string path = shared ? begun_.directory.file(name, run.world.rank())
                                      : fmt::format("{}/{}", begun_.directory.private_folder(run.world.rank()), name);
      make_folder_of(path);
      write_model(path, own, shared ? ModelReaders::all : ModelReaders::owner);
    }
  });
  if (!shared) return;
  begun_.directory.bring_in(run.agreement);
  run.on_first_rank([&] { join_parts(begun_.directory.path(), run.inputs.layout->clients()); });
}

Score score_held_out(const RunContext& run, const VerticalSetting& setting, const HeldOutPass& predict,
                     Summary& summary) {
  PredictionTally tally({setting.loss->outputs(), setting.loss->classifies(), setting.loss->link()});
  const std::optional<Standardisation>& units = setting.held_out->label_constants.label_standardisation;
  const bool standardised = units && setting.loss->link() == Link::identity;
  const auto own_units = [&](double value) { return value * units->deviation + units->mean; };
  const Score score = predict([&](View outputs, View targets) {
    if (!standardised) return tally.add(outputs, targets[0]);
    tally.add(Vector{own_units(outputs[0])}, own_units(targets[0]));
  });
  if (!run.first_rank()) return score;
  if (const auto& classes = summary.add(tally.metrics()).classification) {
    const auto most = std::ranges::max(classes->classes, {}, &ClassMetrics::records).records;
    summary.part<RunScores>().larger_class = static_cast<double>(most) / static_cast<double>(tally.records());
  }
  return score.of_all();
}

}  // namespace starling
