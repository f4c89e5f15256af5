// The parts of a vertical model, and the model that they make.
#include <algorithm>

#include "core/check.hpp"
#include "model_content.hpp"
#include "output/model_file/saved_model.hpp"

namespace starling {

namespace {

void check_part(const SavedModel& head, const SavedModel& part, std::size_t k) {
  check<DataError>(part.kind == SavedModel::Kind::embedding && part.party == k,
                   "the part of party {} is missing. Give the parts in the parties' order.", k);
  check<DataError>(part.origin_text("run_id") == head.origin_text("run_id") && part.party_count == head.party_count,
                   "the part of party {} is of run {} with {} parties, and the head of run {} with {}. Give the parts "
                   "of one run.",
                   k, part.origin_text("run_id"), part.party_count, head.origin_text("run_id"), head.party_count);
  check<DataError>(part.precision == head.precision && part.scores * head.party_count == head.features,
                   "the part of party {} does not fit the head. Restore the files.", k);
}

/// Gives the columns of parties that say no places in a table those one after the other.
void place_columns(SavedModel& model) {
  const bool have_places =
      std::ranges::all_of(model.parties, [](const SavedModel& party) { return !party.places.empty(); });
  model.features = 0;
  for (const SavedModel& party : model.parties) model.features += party.constants.features;
  if (have_places) model.features = model.parties.front().table_features;
  std::size_t next = 0;
  for (SavedModel& party : model.parties) {
    if (!have_places) {
      party.places.resize(party.constants.features);
      for (std::size_t& place : party.places) place = next++;
      party.table_features = model.features;
    }
    check<DataError>(party.table_features == model.features,
                     "parts of tables of {} and {} features. Give the parts of one run.", party.table_features,
                     model.features);
  }
}

bool all_have_names(const std::vector<SavedModel>& parties) {
  return std::ranges::all_of(parties, [](const SavedModel& party) { return !party.constants.columns.empty(); });
}

void add_names(const SavedModel& party, std::vector<std::string>& names) {
  for (const std::string& name : party.constants.columns) {
    check(std::ranges::find(names, name) == names.end(),
          "party {} and a party before it have a column '{}', which one table cannot have twice. Give a file of each "
          "party by --parties.",
          party.party, name);
    names.push_back(name);
  }
}

void add_categories(const SavedModel& party, std::vector<CategoryColumn>& categories) {
  for (const CategoryColumn& each : party.constants.categories) {
    if (std::ranges::find(categories, each) == categories.end()) categories.push_back(each);
  }
}

/// Adds what is known of each of a party's columns; nothing is if none of its columns has any.
template <class T>
void add_by_place(const SavedModel& party, const std::vector<T>& own, std::vector<T>& all) {
  if (own.empty()) return;
  all.resize(party.table_features);
  for (std::size_t i = 0; i < own.size(); ++i) all[party.places[i]] = own[i];
}

}  // namespace

std::string part_file_name(Client client) {
  return fmt::format("model-part-{}.h5", client);
}

SavedModel joined_model(SavedModel head, std::vector<SavedModel> parties) {
  check<DataError>(head.kind == SavedModel::Kind::head, "the part of the head is missing. Give all parts of a run.");
  check<DataError>(parties.size() == head.party_count, "{} parts of parties, where the run has {}. Give all parts.",
                   parties.size(), head.party_count);
  for (std::size_t k = 0; k < parties.size(); ++k) check_part(head, parties[k], k + 1);
  SavedModel model = std::move(head);
  model.kind = SavedModel::Kind::vertical;
  model.parties = std::move(parties);
  place_columns(model);
  model.constants.features = model.features;
  return model;
}

SavedModel part_of(const SavedModel& vertical, Client client) {
  if (client > 0) {
    SavedModel party = vertical.parties[static_cast<std::size_t>(client - 1)];
    party.origin = vertical.origin;
    return party;
  }
  SavedModel head = vertical;
  head.parties.clear();
  head.kind = SavedModel::Kind::head;
  head.features = head.architecture.input.size();
  head.constants.features = 0;
  return head;
}

std::vector<std::string> names_of_parties(const SavedModel& model) {
  std::vector<std::string> names;
  if (!all_have_names(model.parties)) return names;
  for (const SavedModel& party : model.parties) {
    names.insert(names.end(), party.constants.columns.begin(), party.constants.columns.end());
  }
  return names;
}

PublicConstants SavedModel::table_constants() const {
  PublicConstants all = constants;
  if (kind != Kind::vertical) return all;
  const bool have_names = all_have_names(parties);
  for (const SavedModel& each : parties) {
    check(each.constants.description == ReadSettings::Features::raw,
          "party {} has pictures, which one table cannot have beside other columns. Give a file of each party by "
          "--parties.",
          each.party);
    check(
        each.constants.made_features().size() == each.constants.features,
        "party {} has columns that become several features, which one table cannot have yet. Give a file of each party "
        "by --parties.",
        each.party);
    if (have_names) add_names(each, all.columns);
    add_categories(each, all.categories);
    add_by_place(each, each.constants.standardisation, all.standardisation);
    add_by_place(each, each.constants.fill, all.fill);
    all.clipped = each.constants.clipped;
    all.missing = each.constants.missing;
    all.scale = each.constants.scale;
  }
  return all;
}

}  // namespace starling
