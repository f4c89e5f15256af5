/// A checked reader of summary.json, which may be damaged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "core/columns.hpp"
#include "net/traffic.hpp"
#include "report/view/json.hpp"

/// @cond
/// An optional value as JSON: null for none.
template <class T>
struct nlohmann::adl_serializer<std::optional<T>> {
  template <class AnyJson>
  static void to_json(AnyJson& json, const std::optional<T>& value) {
    if (value) json = *value;
  }
  template <class AnyJson>
  static void from_json(const AnyJson& json, std::optional<T>& value) {
    if (!json.is_null()) value = json.template get<T>();
  }
};
/// @endcond

namespace starling {

/// A number as JSON; null for infinity and NaN.
[[nodiscard]] Json number_json(double value);
[[nodiscard]] inline Json number_json(const std::optional<double>& value) {
  return value ? number_json(*value) : Json(nullptr);
}

/// A list of what `value` makes of each item.
template <class Items, class F>
[[nodiscard]] Json json_list(const Items& items, const F& value) {
  Json list = Json::array();
  for (const auto& each : items) list.emplace_back(value(each));
  return list;
}

/// The values of a summary, found by paths such as "privacy.epsilon". A null value counts as missing, except where
/// noted. Members throw DataError, naming file and key, for a value of another type than they return.
class SummaryView {
 public:
  /// `name` is the file named in errors.
  SummaryView(Json json, std::string name) : json_(std::move(json)), name_(std::move(name)) {}
  /// Throws DataError for text that is not a JSON object.
  [[nodiscard]] static SummaryView parse(const std::string& text, const std::string& name);

  /// Whether the path exists; its value may be null.
  [[nodiscard]] bool has(const std::string& path) const { return find(path) != nullptr; }
  /// Whether the value is withheld because it depends on private records.
  [[nodiscard]] bool withholds(const std::string& path) const;
  /// NaN if missing.
  [[nodiscard]] double number(const std::string& path) const;
  /// None if missing.
  [[nodiscard]] std::optional<std::int64_t> integer(const std::string& path) const;
  /// A whole number, at least 0. Throws DataError if missing.
  [[nodiscard]] std::int64_t count(const std::string& path) const;
  /// Empty if missing.
  [[nodiscard]] std::string text(const std::string& path) const;
  /// False if missing.
  [[nodiscard]] bool flag(const std::string& path) const;
  /// Empty if missing.
  [[nodiscard]] std::vector<std::string> texts(const std::string& path) const;
  /// Empty if missing. Throws DataError for a null entry.
  [[nodiscard]] Vector numbers(const std::string& path) const;
  /// Empty if missing. Throws DataError for a value that is not a list.
  [[nodiscard]] Json array(const std::string& path) const;
  /// The objects of a list, each as a view with its own paths; empty if missing.
  [[nodiscard]] std::vector<SummaryView> list(const std::string& path) const;
  /// Traffic of edges: `traffic.edges`, or the edges of use_edges().
  [[nodiscard]] std::vector<EdgeTraffic> edges() const;
  /// Replaces `traffic.edges`, which a summary of many edges leaves empty.
  void use_edges(std::vector<EdgeTraffic> edges) { edges_ = std::move(edges); }

  /// Whether models were learned.
  [[nodiscard]] bool learned() const;
  /// Whether labels were classes.
  [[nodiscard]] bool classifies() const;

 private:
  [[nodiscard]] const Json* find(const std::string& path) const;
  [[nodiscard]] const Json* known(const std::string& path, bool (Json::*is_expected)() const noexcept,
                                  const std::string& expected) const;
  [[nodiscard]] std::vector<Json> entries(const std::string& path, bool (Json::*is_expected)() const noexcept,
                                          const std::string& expected) const;
  [[nodiscard]] DataError wrong(const std::string& path, const std::string& expected) const;

  Json json_;
  std::string name_;
  std::optional<std::vector<EdgeTraffic>> edges_;
};

}  // namespace starling
