#include "core/text/spec.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "core/text/exact_number.hpp"
#include "core/text/names.hpp"

namespace starling {

namespace {

double parse_decimal(std::string_view text, std::string_view what) {
  const auto value = exact_number<double>(text);
  check(value.has_value(), "{}: '{}' is not a number. Write one such as 2, 0.5, 1e-3 or 1/3.", what, text);
  return *value;
}

}  // namespace

double parse_number(std::string_view text, std::string_view what) {
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    const double below = parse_decimal(text.substr(slash + 1), what);
    check(below != 0 && std::isfinite(below), "{}: '{}' divides by {}. Write a number such as 1/255.", what, text,
          below == 0 ? "zero" : "infinity");
    return parse_decimal(text.substr(0, slash), what) / below;
  }
  return parse_decimal(text, what);
}

long long parse_integer(std::string_view text, std::string_view what) {
  if (const auto value = exact_number<long long>(text)) return *value;
  const double real = parse_decimal(text, what);  // 1e6 is a fine way to write an integer
  check(std::abs(real) < 9e15 && real == std::floor(real), "{}: '{}' is not a whole number", what, text);
  return static_cast<long long>(real);
}

std::vector<std::string_view> split_at(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find_first_of(separators);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Spec Spec::parse(std::string_view text) {
  Spec spec;
  spec.text_ = text;
  const auto colon = text.find(':');
  spec.name_ = text.substr(0, colon);
  check(!spec.name_.empty(), "'{}' has no name: a part is written NAME or NAME:key=value,…", text);
  if (colon == std::string_view::npos) return spec;
  for (const std::string_view item : split_at(text.substr(colon + 1), ",")) {
    const auto equals = item.find('=');
    Item parsed;
    if (equals == std::string_view::npos) {
      parsed.value = item;
    } else {
      parsed.key = item.substr(0, equals);
      parsed.value = item.substr(equals + 1);
      check(!parsed.key.empty(), "'{}' has a value without a key before '='", text);
    }
    check(!parsed.value.empty(), "'{}' has an empty value", text);
    spec.items_.push_back(std::move(parsed));
  }
  return spec;
}

void Spec::bind(const std::vector<Parameter>& parameters) {
  std::vector<std::string> keys;
  for (const Parameter& parameter : parameters) keys.push_back(parameter.key);
  const std::string known = keys.empty() ? "none" : fmt::format("{}", fmt::join(keys, ", "));
  std::size_t position = 0;
  for (Item& item : items_) {
    if (item.key.empty()) {
      check(position < parameters.size(), "'{}' has more values than '{}' takes: it takes: {}.", text_, name_, known);
      item.key = parameters[position].key;
    }
    ++position;
    check(std::ranges::find(keys, item.key) != keys.end(), "unknown key '{}' in '{}': {} takes: {}. {}", item.key,
          text_, name_, known, did_you_mean(item.key, keys, "", "Correct it, or leave it out."));
    const auto same = std::count_if(items_.begin(), items_.end(), [&](const Item& i) { return i.key == item.key; });
    check(same == 1, "key '{}' stands twice in '{}'", item.key, text_);
  }
}

std::optional<std::string> Spec::find(std::string_view key) const {
  for (const Item& item : items_) {
    if (item.key == key) return item.value;
  }
  return std::nullopt;
}

std::string Spec::require(std::string_view key) const {
  auto value = find(key);
  check(value.has_value(), "'{}' lacks '{}': write {}:{}=…", text_, key, name_, key);
  return *value;
}

double Spec::number(std::string_view key, double otherwise) const {
  const auto value = find(key);
  return value ? parse_number(*value, fmt::format("'{}', {}", text_, key)) : otherwise;
}

long long Spec::integer(std::string_view key, long long otherwise) const {
  const auto value = find(key);
  return value ? parse_integer(*value, fmt::format("'{}', {}", text_, key)) : otherwise;
}

double Spec::number(std::string_view key) const {
  return parse_number(require(key), fmt::format("'{}', {}", text_, key));
}

long long Spec::integer(std::string_view key) const {
  return parse_integer(require(key), fmt::format("'{}', {}", text_, key));
}

}  // namespace starling
