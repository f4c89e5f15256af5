#include "report/view/summary_view.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text/exact_number.hpp"

namespace starling {

Json number_json(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

SummaryView SummaryView::parse(const std::string& text, const std::string& name) {
  try {
    Json json = Json::parse(text);
    check<DataError>(json.is_object(), "'{}' is not a summary: it is JSON, but no object. Restore it.", name);
    return {std::move(json), name};
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("'{}' is not a summary, since it is not JSON: {}. Restore it.", name, error.what()));
  }
}

const Json* SummaryView::find(const std::string& path) const {
  const Json* place = &json_;
  for (std::size_t from = 0; from <= path.size();) {
    const std::size_t end = std::min(path.find('.', from), path.size());
    if (!place->is_object()) return nullptr;
    const auto found = place->find(path.substr(from, end - from));
    if (found == place->end()) return nullptr;
    place = &*found;
    from = end + 1;
  }
  return place;
}

DataError SummaryView::wrong(const std::string& path, const std::string& expected) const {
  return DataError(
      fmt::format("'{}' has no usable '{}': {} is expected, so the file is damaged or of another program. Restore it.",
                  name_, path, expected));
}

bool SummaryView::withholds(const std::string& path) const {
  const std::vector<std::string> names = texts("withheld");
  return std::ranges::find(names, path) != names.end();
}

/// The value at the path; null where it is missing or null. Throws DataError if it is not of the kind expected.
const Json* SummaryView::known(const std::string& path, bool (Json::*is_expected)() const noexcept,
                               const std::string& expected) const {
  const Json* value = find(path);
  if (value == nullptr || value->is_null()) return nullptr;
  if (!(value->*is_expected)()) throw wrong(path, expected);
  return value;
}

/// The entries of the list at the path, each of the kind expected; none if it is missing.
std::vector<Json> SummaryView::entries(const std::string& path, bool (Json::*is_expected)() const noexcept,
                                       const std::string& expected) const {
  const Json* list = known(path, &Json::is_array, expected);
  if (list == nullptr) return {};
  for (const Json& entry : *list) {
    if (!(entry.*is_expected)()) throw wrong(path, expected);
  }
  return {list->begin(), list->end()};
}

double SummaryView::number(const std::string& path) const {
  const Json* value = known(path, &Json::is_number, "a number");
  return value == nullptr ? std::numeric_limits<double>::quiet_NaN() : value->get<double>();
}

std::optional<std::int64_t> SummaryView::integer(const std::string& path) const {
  const Json* value = known(path, &Json::is_number, "a whole number");
  if (value == nullptr) return std::nullopt;
  const auto result = whole_number<std::int64_t>(*value);
  if (!result) throw wrong(path, "a whole number");
  return result;
}

std::int64_t SummaryView::count(const std::string& path) const {
  const auto value = integer(path);
  if (!value || *value < 0) throw wrong(path, "a count");
  return *value;
}

std::string SummaryView::text(const std::string& path) const {
  const Json* value = known(path, &Json::is_string, "a text");
  return value == nullptr ? "" : value->get<std::string>();
}

bool SummaryView::flag(const std::string& path) const {
  const Json* value = known(path, &Json::is_boolean, "true or false");
  return value != nullptr && value->get<bool>();
}

std::vector<std::string> SummaryView::texts(const std::string& path) const {
  std::vector<std::string> result;
  for (const Json& entry : entries(path, &Json::is_string, "a list of texts")) result.push_back(entry);
  return result;
}

Vector SummaryView::numbers(const std::string& path) const {
  Vector result;
  for (const Json& entry : entries(path, &Json::is_number, "a list of numbers")) result.push_back(entry);
  return result;
}

Json SummaryView::array(const std::string& path) const {
  const Json* value = known(path, &Json::is_array, "a list");
  return value == nullptr ? Json::array() : *value;
}

std::vector<SummaryView> SummaryView::list(const std::string& path) const {
  std::vector<SummaryView> result;
  for (Json& entry : entries(path, &Json::is_object, "a list of objects")) result.emplace_back(std::move(entry), name_);
  return result;
}

std::vector<EdgeTraffic> SummaryView::edges() const {
  if (edges_) return *edges_;
  const std::string path = "traffic.edges";
  const std::string expected = "a list of [from, to, messages, bytes]";
  std::vector<EdgeTraffic> result;
  for (const Json& entry : entries(path, &Json::is_array, expected)) {
    if (entry.size() != 4) throw wrong(path, expected);
    std::int64_t numbers[4];
    for (std::size_t k = 0; k < 4; ++k) {
      const auto number = whole_number<std::int64_t>(entry[k]);
      if (!number || *number < 0 || (k < 2 && *number > std::numeric_limits<Client>::max()))
        throw wrong(path, expected);
      numbers[k] = *number;
    }
    result.push_back({static_cast<Client>(numbers[0]), static_cast<Client>(numbers[1]), numbers[2], numbers[3]});
  }
  return result;
}

// Summaries written before there was "task" are told by what else they have.
bool SummaryView::learned() const {
  const std::string task = text("task");
  return task.empty() ? has("privacy.noise_key") : task != "averaging";
}

bool SummaryView::classifies() const {
  const std::string task = text("task");
  return task.empty() ? has("metrics.test_accuracy") || has("metrics.progressive_accuracy") : task == "classification";
}

}  // namespace starling
