#include "options/option.hpp"

#include <algorithm>
#include <limits>

#include "core/check.hpp"
#include "core/text/spec.hpp"
#include "files/text_files.hpp"

namespace starling {

namespace {

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  const std::vector<std::string_view> parts = split_at(text, separator);
  return {parts.begin(), parts.end()};
}

Relation relation(Relation::Kind kind, const std::string& other, std::string why, std::string remedy) {
  const std::size_t equals = other.find('=');
  Relation result{kind, other.substr(0, equals), {}, std::move(why), std::move(remedy)};
  if (equals != std::string::npos) result.values = split(other.substr(equals + 1), "|");
  return result;
}

template <class T>
void replace(T& member, T other) {
  if (other != T()) member = std::move(other);
}

}  // namespace

Relation Relation::only_for(const std::string& own_values) const {
  Relation result = *this;
  result.when = split(own_values, "|");
  return result;
}

Relation needs(const std::string& other, std::string why, std::string remedy) {
  return relation(Relation::Kind::needs, other, std::move(why), std::move(remedy));
}

Relation excludes(const std::string& other, std::string why, std::string remedy) {
  return relation(Relation::Kind::excludes, other, std::move(why), std::move(remedy));
}

Option Option::with(Option other) const {
  Option result = *this;
  replace(result.argument, std::move(other.argument));
  replace(result.initial, std::move(other.initial));
  replace(result.help, std::move(other.help));
  replace(result.group, std::move(other.group));
  replace(result.range.least, other.range.least);
  replace(result.range.most, other.range.most);
  replace(result.no_value, std::move(other.no_value));
  replace(result.unstated, std::move(other.unstated));
  replace(result.implied, std::move(other.implied));
  replace(result.words, std::move(other.words));
  replace(result.values, other.values);
  replace(result.unit, std::move(other.unit));
  replace(result.example, std::move(other.example));
  replace(result.files, other.files);
  replace(result.falls_with, std::move(other.falls_with));
  replace(result.aside_with, std::move(other.aside_with));
  result.common = result.common || other.common;
  result.positional = result.positional || other.positional;
  result.many = result.many || other.many;
  std::move(other.relations.begin(), other.relations.end(), std::back_inserter(result.relations));
  return result;
}

Option option(std::string name, std::string argument, std::string help, Option others) {
  others.name = std::move(name);
  others.argument = std::move(argument);
  others.help = std::move(help);
  return others;
}

Option flag(std::string name, std::string help, Option others) {
  return option(std::move(name), "", std::move(help), std::move(others));
}

double number_between(const std::string& text, double least, double most) {
  const double value = parse_number(text, "value");
  check(value >= least && value <= most, "{} is out of range: {} to {}.", text, least, most);
  return value;
}

long long whole_between(const std::string& text, long long least, long long most) {
  const long long value = parse_integer(text, "value");
  check(value >= least && value <= most, "{} is out of range: {} to {}.", text, least, most);
  return value;
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> items;
  for (const std::string_view part : split_list_at(text, ",")) items.push_back(text_of_part(part));
  check(std::find(items.begin(), items.end(), "") == items.end(),
        "'{}' has an empty place: values are separated by single commas. Correct the list.", text);
  return items;
}

double number_of(const Option& option, const std::string& text) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto& [least, most] = option.range;
  if (!least && !most) return parse_number(text, "value");
  return number_between(text, least.value_or(-infinity), most.value_or(infinity));
}

long long whole_of(const Option& option, const std::string& text) {
  constexpr auto most = static_cast<double>(most_whole);
  return whole_between(text, static_cast<long long>(option.range.least.value_or(-most)),
                       static_cast<long long>(option.range.most.value_or(most)));
}

std::size_t word_of(const Option& option, const std::string& text) {
  const auto& words = option.words;
  const auto found = std::find(words.begin(), words.end(), text);
  check(found != words.end(), "{}", unknown_name("word", text, words));
  return static_cast<std::size_t>(found - words.begin());
}

}  // namespace starling
