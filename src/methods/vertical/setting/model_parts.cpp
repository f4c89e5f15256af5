#include "model_parts.hpp"

#include <filesystem>

#include "core/check.hpp"
#include "core/text/per_client.hpp"
#include "output/directory/private_folders.hpp"

namespace starling {

namespace fs = std::filesystem;

ModelParts::ModelParts(std::string where) : where_(std::move(where)) {
  std::error_code ignored;
  if (fs::is_directory(where_, ignored) && fs::exists(where_ + "/" + model_file_name, ignored)) {
    where_ += fmt::format("/{}", model_file_name);
  }
}

bool ModelParts::are_apart() const {
  std::error_code ignored;
  if (is_per_client(where_)) return true;
  for (const std::string& folder : private_folders_of(where_)) {
    for (const fs::directory_entry& file : fs::directory_iterator(folder, ignored)) {
      if (file.path().filename().string().starts_with("model-part-")) return true;
    }
  }
  return false;
}

bool ModelParts::are_together() const {
  std::error_code ignored;
  return !is_per_client(where_) && !fs::is_directory(where_, ignored);
}

std::string ModelParts::file_of(Client client) const {
  std::error_code ignored;
  if (is_per_client(where_) || are_together()) {
    std::string file = is_per_client(where_) ? name_of_client(where_, client) : where_;
    check(fs::exists(file, ignored),
          "'{}': there is no such file, where the part of {} should be. Name the model.h5 or "
          "the directory of a run of `starling vertical`, or a file of each client, as in part-{{client}}.h5.",
          file, name_of_part(client));
    return file;
  }
  for (const std::string& folder : private_folders_of(where_)) {
    std::string file = folder + "/" + part_file_name(client);
    if (fs::exists(file, ignored)) return file;
  }
  throw UsageError(
      fmt::format("'{}': it has neither a {} nor a {} of {} in a private folder that this account can read. Name the "
                  "directory of a "
                  "run of `starling vertical` that has ended, or a file of each client, as in part-{{client}}.h5.",
                  where_, model_file_name, part_file_name(client), name_of_part(client)));
}

SavedModel ModelParts::part(Client client) const {
  const std::string file = file_of(client);
  SavedModel model = read_model(file);
  if (const auto* const vertical = model.as<VerticalForm>()) {
    const std::size_t parties = vertical->party_count;
    check<DataError>(client >= 0 && static_cast<std::size_t>(client) <= parties,
                     "{}: a model of {} parties, and party {} is asked for. Give the files of {} parties.", file,
                     parties, client, parties);
    return part_of(model, client);
  }
  check<DataError>(model.is_part(),
                   "{}: it is no model of vertical learning. Name that of a run of `starling vertical`.", file);
  const auto* const embedding = model.as<EmbeddingForm>();
  const Client found = embedding == nullptr ? 0 : static_cast<Client>(embedding->party);
  check<DataError>(found == client,
                   "{}: it is the part of {}, where that of {} is needed. Name a file of each client, as "
                   "in part-{{client}}.h5; 0 is the head.",
                   file, name_of_part(found), name_of_part(client));
  return model;
}

SavedModel ModelParts::joined() const {
  SavedModel head = part(0);
  std::vector<SavedModel> parties;
  for (std::size_t k = 1; k <= head.as<HeadForm>()->party_count; ++k) parties.push_back(part(static_cast<Client>(k)));
  return joined_model(std::move(head), std::move(parties));
}

std::string name_of_part(Client client) {
  return client == 0 ? "the head" : fmt::format("party {}", client);
}

}  // namespace starling
