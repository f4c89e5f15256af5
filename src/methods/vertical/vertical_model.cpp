// The model that a run of `starling vertical` starts from, and the one that it leaves.
#include <filesystem>

#include <fmt/ranges.h>

#include "data/source.hpp"
#include "model_parts.hpp"
#include "vertical_run.hpp"

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

void check_same_run(const std::string& start, const std::string& one, const std::string& other) {
  check<DataError>(one == other, "--start {}: parts of the runs {} and {}. Give the parts of one run.", start, one,
                   other);
}

}  // namespace

std::vector<Client> VerticalRun::clients_of_networks() const {
  std::vector<Client> clients;
  const bool all = config_.plan.central;
  if (all && !first_rank()) return clients;
  const Client first = all ? 0 : inputs_.first_client();
  const Client count = all ? inputs_.layout->clients() : inputs_.client_count();
  for (Client client = first; client < first + count; ++client) clients.push_back(client);
  return clients;
}

void VerticalRun::check_start() {
  if (!has_start()) return;
  const ModelParts parts(config_.start);
  starts_from_parts_ = !parts.are_together();
  architecture_.start.resize(architecture_.parties() + 1);
  for (const Client client : clients_of_networks()) {
    const SavedModel part = checked_start(parts.part(client), client);
    architecture_.start[static_cast<std::size_t>(client)] = part.parameters;
    if (run_of_start_.empty()) run_of_start_ = part.origin_text("run_id");
    check_same_run(config_.start, run_of_start_, part.origin_text("run_id"));
  }
}

/// Throws UsageError and DataError for a part that the run cannot start from.
SavedModel VerticalRun::checked_start(const SavedModel& part, Client client) {
  const auto k = static_cast<std::size_t>(client);
  const PartForm& form = *part.as<PartForm>();
  check(form.party_count == architecture_.parties(),
        "--start {}: a model of {} parties, where this run has {}. Take the parties of that run.", config_.start,
        form.party_count, architecture_.parties());
  const Architecture& own = client == 0 ? architecture_.head : architecture_.features[k - 1];
  check(form.architecture.input.size() == own.input.size() && layer_texts(form.architecture) == layer_texts(own),
        "--start {}: {} has {} inputs and the layers {}, where this run has {} and {}. Take the columns, --feature-net "
        "and --head of that run.",
        config_.start, name_of_part(client), form.architecture.input.size(),
        fmt::join(layer_texts(form.architecture), ", "), own.input.size(), fmt::join(layer_texts(own), ", "));
  if (client == 0) return part;
  require_same_names(part.constants.feature_names(), data_.shape.names[k - 1], config_.start, name_of_part(client));
  const std::size_t hosted = k - 1 - first_party();
  if (hosted < data_.constants.size() && !same_preparation(part.constants, data_.constants[hosted])) {
    notes_.push_back(
        fmt::format("--start {}: the columns of {} were prepared by other constants (--standardise, --encode, "
                    "--scale), so that its parameters mean something else here",
                    config_.start, name_of_part(client)));
  }
  return part;
}

/// All parts of the start are of one run.
void VerticalRun::agree_on_model() {
  if (!has_start()) return;
  starts_from_parts_ = agreement_.any(declare_public(starts_from_parts_));
  const auto runs = agreement_.all_gather(declare_public(run_of_start_));
  agreement_.together([&] {
    for (const std::string& run : runs) {
      if (!run.empty()) check_same_run(config_.start, runs[0].empty() ? run : runs[0], run);
    }
  });
  if (!starts_from_parts_ || !config_.privacy.protects()) return;
  notes_.emplace_back(
      "--start: the parts were learned from other records, which the privacy figures of this run do not cover");
}

bool VerticalRun::keeps_model() const {
  return !config_.is_spectrum() && !config_.plan.central && data_.columns_are_features;
}

bool VerticalRun::shares_networks() const {
  if (config_.networks != NetworksChoice::automatic) return config_.networks == NetworksChoice::shared;
  return (config_.privacy.protects() || data_.is_public) && !starts_from_parts_;
}

SavedModel VerticalRun::part_of_run(Client client, View parameters) const {
  SavedModel part;
  const auto network = [&](const Architecture& own) {
    return PartForm{{own, config_.precision}, architecture_.parties()};
  };
  part.parameters.assign(parameters.begin(), parameters.end());
  if (client == 0) {
    part.form = HeadForm{network(architecture_.head)};
    part.loss = loss_of_outputs_->loss_of_scores();
    part.scores = loss_of_outputs_->outputs();
    part.features = architecture_.head.input.size();
    part.constants = data_.label_constants;
    return part;
  }
  const std::size_t hosted = static_cast<std::size_t>(client - 1) - first_party();
  const Clip clip = protocol_->embedding_clip();
  const auto party = static_cast<std::size_t>(client);
  EmbeddingForm form{network(architecture_.features[party - 1]), party};
  part.features = form.architecture.input.size();
  part.scores = architecture_.head.input.size() / architecture_.parties();
  part.constants = data_.constants[hosted];
  if (clip.kind != ClipKind::none) form.bound = clip.bound;
  if (!data_.places.empty()) {
    form.places = data_.places[hosted];
    form.table_features = data_.table_features;
  }
  part.form = std::move(form);
  return part;
}

void VerticalRun::save_networks(const Summary& summary) {
  const bool shared = shares_networks();
  agreement_.together([&] {
    if (shared || !keeps_model()) write_networks(*directory_, world_.rank(), protocol_->blocks());
  });
  if (!keeps_model()) return;
  auto origin = origin_of_model(summary);
  for (auto& [key, value] : origin) value = agreement_.broadcast(declare_public(value));  // rank 0 has all figures
  agreement_.together([&] {
    for (const auto& [client, parameters] : protocol_->blocks()) {
      SavedModel part = part_of_run(client, parameters.value());
      part.origin = origin;
      const std::string name = part_file_name(client);
      const std::string path = shared ? directory_->file(name, world_.rank())
                                      : fmt::format("{}/{}", directory_->private_folder(world_.rank()), name);
      make_folder_of(path);
      write_model(path, part, shared ? ModelReaders::all : ModelReaders::owner);
    }
  });
  if (!shared) return;
  directory_->bring_in(agreement_);
  on_first_rank([&] { join_parts(directory_->path(), inputs_.layout->clients()); });
}

}  // namespace starling
