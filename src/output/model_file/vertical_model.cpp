// The parts of a vertical model, and the model that they make.
#include <algorithm>

#include "core/check.hpp"
#include "model_content.hpp"
#include "output/model_file/saved_model.hpp"

namespace starling {

namespace {

/// The form of a party in a model that joined_model() has made or checked.
const EmbeddingForm& form_of(const SavedModel& party) {
  return std::get<EmbeddingForm>(party.form);
}
EmbeddingForm& form_of(SavedModel& party) {
  return std::get<EmbeddingForm>(party.form);
}

void check_part(const SavedModel& head, const SavedModel& part, std::size_t k) {
  check<DataError>(part.is<EmbeddingForm>() && form_of(part).party == k,
                   "the part of party {} is missing. Give the parts in the parties' order.", k);
  const HeadForm& of_head = *head.as<HeadForm>();
  const EmbeddingForm& form = form_of(part);
  check<DataError>(part.origin_text("run_id") == head.origin_text("run_id") && form.party_count == of_head.party_count,
                   "the part of party {} is of run {} with {} parties, and the head of run {} with {}. Give the parts "
                   "of one run.",
                   k, part.origin_text("run_id"), form.party_count, head.origin_text("run_id"), of_head.party_count);
  check<DataError>(form.precision == of_head.precision && part.scores * of_head.party_count == head.features,
                   "the part of party {} does not fit the head. Restore the files.", k);
}

/// Gives the columns of parties that say no places in a table those one after the other. Returns the number of the
/// table's features.
std::size_t place_columns(std::vector<SavedModel>& parties) {
  const bool have_places =
      std::ranges::all_of(parties, [](const SavedModel& party) { return !form_of(party).places.empty(); });
  std::size_t features = 0;
  for (const SavedModel& party : parties) features += party.constants.features;
  if (have_places) features = form_of(parties.front()).table_features;
  std::size_t next = 0;
  for (SavedModel& party : parties) {
    EmbeddingForm& form = form_of(party);
    if (!have_places) {
      form.places.resize(party.constants.features);
      for (std::size_t& place : form.places) place = next++;
      form.table_features = features;
    }
    check<DataError>(form.table_features == features,
                     "parts of tables of {} and {} features. Give the parts of one run.", form.table_features,
                     features);
  }
  return features;
}

bool all_have_names(const std::vector<SavedModel>& parties) {
  return std::ranges::all_of(parties, [](const SavedModel& party) { return !party.constants.columns.empty(); });
}

void add_names(const SavedModel& party, std::vector<std::string>& names) {
  for (const std::string& name : party.constants.columns) {
    check(std::ranges::find(names, name) == names.end(),
          "party {} and a party before it have a column '{}', which one table cannot have twice. Give a file of each "
          "party by --parties.",
          form_of(party).party, name);
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
  const EmbeddingForm& form = form_of(party);
  all.resize(form.table_features);
  for (std::size_t i = 0; i < own.size(); ++i) all[form.places[i]] = own[i];
}

}  // namespace

std::string part_file_name(Client client) {
  return fmt::format("model-part-{}.h5", client);
}

SavedModel joined_model(SavedModel head, std::vector<SavedModel> parties) {
  const auto* const form = head.as<HeadForm>();
  check<DataError>(form != nullptr, "the part of the head is missing. Give all parts of a run.");
  check<DataError>(parties.size() == form->party_count, "{} parts of parties, where the run has {}. Give all parts.",
                   parties.size(), form->party_count);
  for (std::size_t k = 0; k < parties.size(); ++k) check_part(head, parties[k], k + 1);
  SavedModel model = std::move(head);
  model.features = model.constants.features = place_columns(parties);
  model.form = VerticalForm{PartForm(std::get<HeadForm>(model.form)), std::move(parties)};
  return model;
}

SavedModel part_of(const SavedModel& vertical, Client client) {
  const auto& form = std::get<VerticalForm>(vertical.form);
  if (client > 0) {
    SavedModel party = form.parties[static_cast<std::size_t>(client - 1)];
    party.origin = vertical.origin;
    return party;
  }
  SavedModel head = vertical;
  head.form = HeadForm{PartForm(form)};
  head.features = form.architecture.input.size();
  head.constants.features = 0;
  return head;
}

std::vector<std::string> names_of(const std::vector<SavedModel>& parties) {
  std::vector<std::string> names;
  if (!all_have_names(parties)) return names;
  for (const SavedModel& party : parties) {
    names.insert(names.end(), party.constants.columns.begin(), party.constants.columns.end());
  }
  return names;
}

PublicConstants SavedModel::table_constants() const {
  PublicConstants all = constants;
  const auto* const vertical = as<VerticalForm>();
  if (vertical == nullptr) return all;
  const bool have_names = all_have_names(vertical->parties);
  for (const SavedModel& each : vertical->parties) {
    check(each.constants.description == ReadSettings::Features::raw,
          "party {} has pictures, which one table cannot have beside other columns. Give a file of each party by "
          "--parties.",
          form_of(each).party);
    check(
        each.constants.made_features().size() == each.constants.features,
        "party {} has columns that become several features, which one table cannot have yet. Give a file of each party "
        "by --parties.",
        form_of(each).party);
    if (have_names) add_names(each, all.columns);
    add_categories(each, all.categories);
    add_by_place(each, each.constants.standardisation, all.standardisation);
    add_by_place(each, each.constants.fill, all.fill);
    all.missing = each.constants.missing;
    all.missing_values = each.constants.missing_values;
    all.decimal_auto = all.decimal_auto || each.constants.decimal_auto;
    all.scale = each.constants.scale;
  }
  return all;
}

}  // namespace starling
