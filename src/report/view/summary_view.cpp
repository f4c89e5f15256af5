#include "starling/report/view/summary_view.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "starling/core/check.hpp"
#include "starling/core/whole_number.hpp"

namespace starling {

namespace {

bool is_null(const Json* value) {
  return value == nullptr || value->is_null();
}

}  // namespace

Json number_json(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

SummaryView SummaryView::parse(const std::string& text, const std::string& name) {
  try {
    Json json = Json::parse(text);
    check<DataError>(json.is_object(), "'{}' is not a summary (it is JSON, but no object) restore it", name);
    return {std::move(json), name};
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("'{}' is not a summary (not JSON: {}) restore it", name, error.what()));
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
      fmt::format("'{}' has no usable '{}' ({} is expected: the file is damaged or of another program) "
                  "restore it",
                  name_, path, expected));
}

bool SummaryView::withholds(const std::string& path) const {
  const std::vector<std::string> names = texts("withheld");
  return std::find(names.begin(), names.end(), path) != names.end();
}

double SummaryView::number(const std::string& path) const {
  const Json* value = find(path);
  if (is_null(value)) return std::numeric_limits<double>::quiet_NaN();
  if (!value->is_number()) throw wrong(path, "a number");
  return value->get<double>();
}

std::optional<std::int64_t> SummaryView::integer(const std::string& path) const {
  const Json* value = find(path);
  if (is_null(value)) return std::nullopt;
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
  const Json* value = find(path);
  if (is_null(value)) return "";
  if (!value->is_string()) throw wrong(path, "a text");
  return value->get<std::string>();
}

bool SummaryView::flag(const std::string& path) const {
  const Json* value = find(path);
  if (is_null(value)) return false;
  if (!value->is_boolean()) throw wrong(path, "true or false");
  return value->get<bool>();
}

std::vector<std::string> SummaryView::texts(const std::string& path) const {
  const Json* value = find(path);
  if (is_null(value)) return {};
  if (!value->is_array()) throw wrong(path, "a list of texts");
  std::vector<std::string> result;
  for (const Json& entry : *value) {
    if (!entry.is_string()) throw wrong(path, "a list of texts");
    result.push_back(entry.get<std::string>());
  }
  return result;
}

Vector SummaryView::numbers(const std::string& path) const {
  const Json* value = find(path);
  if (is_null(value)) return {};
  if (!value->is_array()) throw wrong(path, "a list of numbers");
  Vector result;
  for (const Json& entry : *value) {
    if (!entry.is_number()) throw wrong(path, "a list of numbers");
    result.push_back(entry.get<double>());
  }
  return result;
}

Json SummaryView::array(const std::string& path) const {
  const Json* value = find(path);
  if (is_null(value)) return Json::array();
  if (!value->is_array()) throw wrong(path, "a list");
  return *value;
}

std::vector<EdgeTraffic> SummaryView::edges() const {
  if (edges_) return *edges_;
  const std::string path = "traffic.edges";
  const Json* value = find(path);
  if (is_null(value)) return {};
  const auto refused = [&] { return wrong(path, "a list of [from, to, messages, bytes]"); };
  if (!value->is_array()) throw refused();
  std::vector<EdgeTraffic> result;
  for (const Json& entry : *value) {
    if (!entry.is_array() || entry.size() != 4) throw refused();
    std::int64_t numbers[4];
    for (std::size_t k = 0; k < 4; ++k) {
      const auto number = whole_number<std::int64_t>(entry[k]);
      if (!number || *number < 0 || (k < 2 && *number > std::numeric_limits<Client>::max())) throw refused();
      numbers[k] = *number;
    }
    result.push_back({static_cast<Client>(numbers[0]), static_cast<Client>(numbers[1]), numbers[2], numbers[3]});
  }
  return result;
}

std::vector<SummaryView> SummaryView::list(const std::string& path) const {
  const Json* value = find(path);
  if (is_null(value)) return {};
  if (!value->is_array()) throw wrong(path, "a list");
  std::vector<SummaryView> result;
  for (const Json& entry : *value) {
    if (!entry.is_object()) throw wrong(path, "a list of objects");
    result.emplace_back(entry, name_);
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
