// The part of a model file that says how records are prepared.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/check.hpp"
#include "model_content.hpp"

namespace starling {

namespace {

std::string place_of_table(const std::string& group, std::size_t k) {
  return fmt::format("{}/categories/{}", group, k);
}

void write_list(const hdf5::File& file, const std::string& name, const Vector& values) {
  file.write(name, {values.size()}, values);
}

/// All numbers of a one-dimensional dataset; none without it.
Vector read_list(const hdf5::Input& file, const std::string& name) {
  if (!file.has(name)) return {};
  return read_numbers(file, name, {hdf5::NumberRows(file, name).rows()});
}

void write_categories(const hdf5::File& file, const std::string& group, const std::vector<CategoryColumn>& tables) {
  if (tables.empty()) return;
  file.make_group(group + "/categories");
  for (std::size_t k = 0; k < tables.size(); ++k) {
    std::vector<std::string> texts;
    Vector values;
    for (const auto& [text, value] : tables[k].values) {
      texts.push_back(text);
      values.push_back(value);
    }
    file.make_group(place_of_table(group, k));
    file.attribute(place_of_table(group, k), "column", tables[k].column);
    if (tables[k].one_hot) file.attribute(place_of_table(group, k), "one_hot", static_cast<double>(*tables[k].one_hot));
    if (tables[k].reference)
      file.attribute(place_of_table(group, k), "reference", static_cast<double>(*tables[k].reference));
    file.write_texts(place_of_table(group, k) + "/text", texts);
    write_list(file, place_of_table(group, k) + "/value", values);
  }
}

std::vector<CategoryColumn> read_categories(const hdf5::Input& file, const std::string& group, std::size_t features) {
  std::vector<CategoryColumn> tables;
  for (std::size_t k = 0; file.text(place_of_table(group, k), "column"); ++k) {
    CategoryColumn table{*file.text(place_of_table(group, k), "column"), {}};
    if (file.number(place_of_table(group, k), "one_hot")) {
      table.one_hot = read_count(file, place_of_table(group, k), "one_hot", 0);
      check<DataError>(*table.one_hot < features, "{}: categories of column {}, of {}. Restore the file.", file.path(),
                       *table.one_hot, features);
    }
    const std::vector<std::string> texts = file.texts(place_of_table(group, k) + "/text");
    const Vector values = read_numbers(file, place_of_table(group, k) + "/value", {texts.size()});
    for (std::size_t i = 0; i < texts.size(); ++i) table.values.emplace(texts[i], values[i]);
    if (file.number(place_of_table(group, k), "reference"))
      table.reference = read_count(file, place_of_table(group, k), "reference", 0);
    tables.push_back(std::move(table));
  }
  return tables;
}

void check_scale(const hdf5::Input& file, const Standardisation& scale) {
  check<DataError>(scale.deviation > 0, "{}: a standard deviation of {}; it must be positive. Restore the file.",
                   file.path(), scale.deviation);
  check<DataError>(scale.limit >= 0, "{}: values are clipped to {}; it must not be negative. Restore the file.",
                   file.path(), scale.limit);
}

double require_number(const hdf5::Input& file, const std::string& group, const std::string& attribute) {
  const std::optional<double> value = file.number(group, attribute);
  check<DataError>(value && std::isfinite(*value), "{}: no number '{}' in {}. Restore the file.", file.path(),
                   attribute, group);
  return *value;
}

void write_scales(const hdf5::File& file, const std::string& group, const PublicConstants& constants) {
  if (!constants.standardisation.empty()) {
    Vector means;
    Vector deviations;
    Vector limits;
    for (const Standardisation& each : constants.standardisation) {
      means.push_back(each.mean);
      deviations.push_back(each.deviation);
      limits.push_back(each.limit);
    }
    write_list(file, fmt::format("{}/mean", group), means);
    write_list(file, fmt::format("{}/sd", group), deviations);
    if (std::ranges::any_of(constants.standardisation, &Standardisation::is_clipped)) {
      write_list(file, fmt::format("{}/clip", group), limits);
    }
  }
  if (const auto& label = constants.label_standardisation) {
    file.attribute(group, "label_mean", label->mean);
    file.attribute(group, "label_sd", label->deviation);
    if (label->is_clipped()) file.attribute(group, "label_clip", label->limit);
  }
}

/// Files from before `clip` say `clipped` where ranges clip all but one-hot columns to 1.
void read_scales(const hdf5::Input& file, const std::string& group, PublicConstants& constants) {
  const bool of_ranges = file.text(group, "clipped").value_or("no") == "yes";
  if (const std::string means = fmt::format("{}/mean", group); file.has(means)) {
    const hdf5::Sizes sizes{constants.features};
    const Vector mean = read_numbers(file, means, sizes);
    const Vector deviation = read_numbers(file, fmt::format("{}/sd", group), sizes);
    const std::string clip = fmt::format("{}/clip", group);
    Vector limit(mean.size(), Standardisation().limit);
    if (file.has(clip)) limit = read_numbers(file, clip, sizes);
    for (std::size_t j = 0; j < mean.size(); ++j) {
      if (of_ranges && constants.one_hot(j) == nullptr) limit[j] = 1;
      constants.standardisation.push_back({mean[j], deviation[j], limit[j]});
      check_scale(file, constants.standardisation.back());
    }
  }
  if (file.number(group, "label_sd")) {
    constants.label_standardisation = {require_number(file, group, "label_mean"),
                                       require_number(file, group, "label_sd")};
    if (of_ranges) constants.label_standardisation->limit = 1;
    if (file.number(group, "label_clip")) {
      constants.label_standardisation->limit = require_number(file, group, "label_clip");
    }
    check_scale(file, *constants.label_standardisation);
  }
}

/// Files of the first programs with this version of hog do not name it.
void check_hog_version(const hdf5::Input& file, const std::string& group) {
  const double found = file.number(group, "description_version").value_or(hog_version);
  check<DataError>(
      found == hog_version,
      "{}: its --features hog are of version {}, and those of this program are of version {}: other numbers "
      "for the same picture. Use the program that wrote the file ({}), or learn the model anew.",
      file.path(), found, hog_version, file.text("/origin", "starling").value_or("unknown"));
}

using Missing = ReadSettings::Missing;

/// Names of the rules for missing values.
constexpr std::array<std::pair<const char*, Missing>, 3> missing_rules{
    {{"zero", Missing::zero}, {"indicator", Missing::indicator}, {"constant", Missing::constant}}};

void write_missing(const hdf5::File& file, const std::string& group, const PublicConstants& constants) {
  for (const auto& [name, rule] : missing_rules) {
    if (constants.missing == rule) file.attribute(group, "missing", std::string(name));
  }
  if (!constants.fill.empty()) write_list(file, fmt::format("{}/fill", group), constants.fill);
  if (!constants.missing_values.empty())
    file.write_texts(fmt::format("{}/missing_values", group), constants.missing_values);
}

void read_missing(const hdf5::Input& file, const std::string& group, PublicConstants& constants) {
  if (const std::string marks = fmt::format("{}/missing_values", group); file.has(marks))
    constants.missing_values = file.texts(marks);
  const std::optional<std::string> found = file.text(group, "missing");
  if (!found) return;
  for (const auto& [name, rule] : missing_rules) {
    if (*found == name) constants.missing = rule;
  }
  check<DataError>(constants.missing != Missing::refuse,
                   "{}: unknown rule '{}' for missing values. Use the version of starling that wrote the file.",
                   file.path(), *found);
  if (constants.missing != Missing::constant) return;
  constants.fill = read_numbers(file, fmt::format("{}/fill", group), {constants.features});
}

}  // namespace

void write_preparation(const hdf5::File& file, const std::string& where, const PublicConstants& constants) {
  const std::string group = where + "/preparation";
  file.make_group(group);
  file.attribute(group, "columns", static_cast<double>(constants.features));
  if (!constants.columns.empty()) file.write_texts(fmt::format("{}/column", group), constants.columns);
  file.attribute(group, "label", constants.label);
  write_categories(file, group, constants.categories);
  if (constants.first_day)
    file.attribute(group, "first_day", static_cast<double>(constants.first_day->time_since_epoch().count()));
  write_scales(file, group, constants);
  write_missing(file, group, constants);
  if (constants.decimal_auto) file.attribute(group, "decimal", std::string("auto"));
  file.attribute(group, "scale", constants.scale);
  const bool hog = constants.description == ReadSettings::Features::hog;
  file.attribute(group, "description", std::string(hog ? "hog" : "raw"));
  if (hog) file.attribute(group, "description_version", static_cast<double>(hog_version));
  if (!constants.positive.empty()) write_list(file, fmt::format("{}/positive", group), constants.positive);
  if (!constants.class_labels.empty()) write_list(file, fmt::format("{}/class_labels", group), constants.class_labels);
  if (!constants.ignore.empty()) write_list(file, fmt::format("{}/ignore", group), constants.ignore);
}

PublicConstants read_preparation(const hdf5::Input& file, const std::string& where, std::size_t least) {
  const std::string group = where + "/preparation";
  PublicConstants constants;
  constants.features = read_count(file, group, "columns", least);
  if (const std::string names = fmt::format("{}/column", group); file.has(names)) {
    constants.columns = file.texts(names);
    check<DataError>(constants.columns.size() == constants.features, "{}: {} names of {} columns. Restore the file.",
                     file.path(), constants.columns.size(), constants.features);
  }
  constants.label = file.text(group, "label").value_or("");
  constants.categories = read_categories(file, group, constants.features);
  if (file.number(group, "first_day"))
    constants.first_day.emplace(std::chrono::days(static_cast<std::int64_t>(require_number(file, group, "first_day"))));
  read_scales(file, group, constants);
  read_missing(file, group, constants);
  constants.decimal_auto = file.text(group, "decimal").value_or("point") == "auto";
  constants.scale = require_number(file, group, "scale");
  const std::string description = file.text(group, "description").value_or("raw");
  check<DataError>(description == "raw" || description == "hog",
                   "{}: unknown description '{}' of features. Use the version of starling that wrote the file.",
                   file.path(), description);
  if (description == "hog") {
    check_hog_version(file, group);
    constants.description = ReadSettings::Features::hog;
  }
  constants.positive = read_list(file, fmt::format("{}/positive", group));
  constants.class_labels = read_list(file, fmt::format("{}/class_labels", group));
  constants.ignore = read_list(file, fmt::format("{}/ignore", group));
  return constants;
}

Vector read_numbers(const hdf5::Input& file, const std::string& dataset, const hdf5::Sizes& sizes) {
  check<DataError>(file.has(dataset), "{}: no dataset {}: the file holds {}. Restore the file.", file.path(), dataset,
                   file.contents());
  const hdf5::NumberRows rows(file, dataset);
  check<DataError>(rows.sizes() == sizes, "{}: {} has {} rows of {} numbers, not {}. Restore the file.", file.path(),
                   dataset, rows.rows(), rows.width(), sizes[0]);
  Vector values(static_cast<std::size_t>(rows.rows() * rows.width()));
  rows.read(0, rows.rows(), values.data());
  for (const double value : values) {
    check<DataError>(std::isfinite(value),
                     "{}: {} has a number that is not finite. Restore the file, or the run that "
                     "wrote it diverged.",
                     file.path(), dataset);
  }
  return values;
}

std::size_t read_count(const hdf5::Input& file, const std::string& object, const std::string& attribute,
                       std::size_t least) {
  constexpr double most = 2147483647;
  const double value = file.number(object, attribute).value_or(-1);
  check<DataError>(value >= static_cast<double>(least) && value <= most && value == std::floor(value),
                   "{}: no whole number '{}' in {}. Restore the file.", file.path(), attribute, object);
  return static_cast<std::size_t>(value);
}

}  // namespace starling
