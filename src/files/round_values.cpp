#include "files/round_values.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "core/text/names.hpp"
#include "core/text/spec.hpp"
#include "files/number_rows.hpp"

namespace starling {

namespace {

const std::vector<Parameter>& schedule_parameters() {
  static const std::vector<Parameter> parameters{
      {"file", "CSV of (round, value), from round 0; a value holds until the next row's round"},
      {"from", "value of round 0"},
      {"to", "value of the last round"},
      {"shape", "linear (evenly in t; default) or sqrt (evenly in the root of t)"}};
  return parameters;
}

}  // namespace

RoundValues RoundValues::parse(std::string_view text, std::string_view what, Round rounds, double least, double most) {
  RoundValues values;
  values.points_.clear();
  if (!text.starts_with("schedule:")) {
    values.points_.push_back({0, parse_number(text, what)});
    require_in_range(values.points_[0].value, what, least, most);
    return values;
  }
  Spec spec = Spec::parse(text);
  spec.bind(schedule_parameters());
  if (const auto file = spec.find("file")) {
    check(!spec.find("from") && !spec.find("to") && !spec.find("shape"),
          "{}: '{}' names a file and a shape: they exclude each other. Leave one out.", what, text);
    for (const NumberPair& pair : read_number_pairs(*file)) {
      const std::string where = fmt::format("{}:{}", *file, pair.line);
      require_in_range(pair.value, where, least, most);
      check(values.points_.empty() ? pair.key == 0 : pair.key > values.points_.back().round,
            "{}: round {}: rounds ascend from 0, each once. Correct the lines.", where, pair.key);
      values.points_.push_back({pair.key, pair.value});
    }
    return values;
  }
  const std::string shape = spec.find("shape").value_or("linear");
  check(shape == "linear" || shape == "sqrt", "{}: {}", what, unknown_name("shape", shape, {"linear", "sqrt"}));
  values.shape_ = shape == "linear" ? Shape::linear : Shape::root;
  values.points_ = {{0, spec.number("from")}, {std::max<Round>(rounds - 1, 1), spec.number("to")}};
  for (const Point& point : values.points_) require_in_range(point.value, what, least, most);
  return values;
}

double RoundValues::at(Round t) const {
  if (shape_ == Shape::steps) {
    const auto later = [](Round round, const Point& point) { return round < point.round; };
    return std::prev(std::upper_bound(points_.begin(), points_.end(), t, later))->value;
  }
  const Point& last = points_[1];
  const double way = static_cast<double>(std::min(t, last.round)) / static_cast<double>(last.round);
  const double share = shape_ == Shape::linear ? way : std::sqrt(way);
  // Kept between the ends despite rounding.
  const double value = points_[0].value + (last.value - points_[0].value) * share;
  return std::clamp(value, least(), most());
}

double RoundValues::least() const {
  const auto smaller = [](const Point& a, const Point& b) { return a.value < b.value; };
  return std::min_element(points_.begin(), points_.end(), smaller)->value;
}

double RoundValues::most() const {
  const auto smaller = [](const Point& a, const Point& b) { return a.value < b.value; };
  return std::max_element(points_.begin(), points_.end(), smaller)->value;
}

std::string RoundValues::text() const {
  std::string text = fmt::format("shape {}:", static_cast<int>(shape_));
  for (const Point& point : points_) text += fmt::format(" {}={:.17g}", point.round, point.value);
  return text;
}

std::string schedule_help() {
  std::string text = "schedule:FILE or schedule:from=A,to=B[,shape=linear|sqrt]\n";
  for (const Parameter& parameter : schedule_parameters()) {
    text += fmt::format("  {:<28}   {}: {}\n", "", parameter.key, parameter.help);
  }
  return text;
}

}  // namespace starling
