// The model that a run of `starling vertical` starts from.
#include <filesystem>

#include <fmt/ranges.h>

#include "data/generators/synthetic.hpp"
#include "data/source.hpp"
#include "methods/vertical/setting/model_parts.hpp"
#include "vertical_method.hpp"

namespace starling {

namespace {

void check_same_run(const std::string& start, const std::string& one, const std::string& other) {
  check<DataError>(one == other, "--start {}: parts of the runs {} and {}. Give the parts of one run.", start, one,
                   other);
}

}  // namespace

std::vector<Client> VerticalMethod::clients_of_networks() const {
  std::vector<Client> clients;
  const bool all = config_.plan.central;
  if (all && !run_.first_rank()) return clients;
  const Client first = all ? 0 : run_.inputs.first_client();
  const Client count = all ? run_.inputs.layout->clients() : run_.inputs.client_count();
  for (Client client = first; client < first + count; ++client) clients.push_back(client);
  return clients;
}

void VerticalMethod::check_start() {
  if (!has_start()) return;
  const ModelParts parts(config_.start);
  setting_.starts_from_parts = !parts.are_together();
  setting_.architecture.start.resize(setting_.architecture.parties() + 1);
  for (const Client client : clients_of_networks()) {
    const SavedModel part = checked_start(parts.part(client), client);
    setting_.architecture.start[static_cast<std::size_t>(client)] = part.parameters;
    if (run_of_start_.empty()) run_of_start_ = part.origin_text("run_id");
    check_same_run(config_.start, run_of_start_, part.origin_text("run_id"));
  }
}

/// Throws UsageError and DataError for a part that the run cannot start from.
SavedModel VerticalMethod::checked_start(const SavedModel& part, Client client) {
  const auto k = static_cast<std::size_t>(client);
  const PartForm& form = *part.as<PartForm>();
  check(form.party_count == setting_.architecture.parties(),
        "--start {}: a model of {} parties, where this run has {}. Take the parties of that run.", config_.start,
        form.party_count, setting_.architecture.parties());
  const Architecture& own = client == 0 ? setting_.architecture.head : setting_.architecture.features[k - 1];
  check(form.architecture.input.size() == own.input.size() && layer_texts(form.architecture) == layer_texts(own),
        "--start {}: {} has {} inputs and the layers {}, where this run has {} and {}. Take the columns, --feature-net "
        "and --head of that run.",
        config_.start, name_of_part(client), form.architecture.input.size(),
        fmt::join(layer_texts(form.architecture), ", "), own.input.size(), fmt::join(layer_texts(own), ", "));
  if (client == 0) return part;
  require_same_names(part.constants.feature_names(), setting_.data.shape.names[k - 1], config_.start,
                     name_of_part(client));
  const std::size_t hosted = k - 1 - setting_.first_party();
  if (hosted < setting_.data.constants.size() && !same_preparation(part.constants, setting_.data.constants[hosted])) {
    run_.notes.push_back(fmt::format(
        "--start {}: the columns of {} were prepared by other constants (--standardise, --encode, "
        "--scale), so that its parameters mean something else here. Give these options as config.ini of its run "
        "has them",
        config_.start, name_of_part(client)));
  }
  return part;
}

/// All parts of the start are of one run.
void VerticalMethod::agree_on_start() {
  if (!has_start()) return;
  setting_.starts_from_parts = run_.agreement.any(declare_public(setting_.starts_from_parts));
  const auto runs = run_.agreement.all_gather(declare_public(run_of_start_));
  run_.agreement.together([&] {
    for (const std::string& run : runs) {
      if (!run.empty()) check_same_run(config_.start, runs[0].empty() ? run : runs[0], run);
    }
  });
  if (!setting_.starts_from_parts || !config_.privacy.protects()) return;
  run_.notes.emplace_back(
      "--start: the parts were learned from other records, which the privacy figures of this run do not cover");
}

}  // namespace starling
