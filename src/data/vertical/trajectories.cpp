#include "trajectories.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "files/number_rows.hpp"

namespace starling {

Trajectories::Trajectories(const std::string& path, std::size_t movers, double side) {
  constexpr double most_rounds = 1e15;
  std::size_t number = 0;
  for (const std::vector<double>& row : read_number_rows(path, fmt::format("trajectory '{}'", path))) {
    const std::string where = fmt::format("{}: row {}", path, ++number);
    const auto is_whole = [](double value) { return value >= 0 && value <= most_rounds && value == std::floor(value); };
    check(row.size() == 4 && is_whole(row[0]) && is_whole(row[1]),
          "{} is not mover, round, x and y, of which the first two are whole numbers. Write it as 0,0,250,10.", where);
    check(row[0] < static_cast<double>(movers),
          "{}: mover {}: there are {}, receivers and then transmitters, from 0. Correct it.", where, row[0], movers);
    check(std::min(row[2], row[3]) >= 0 && std::max(row[2], row[3]) <= side,
          "{}: ({}, {}) is outside the square of {} m. Give places within it.", where, row[2], row[3], side);
    std::vector<Stop>& stops = paths_[static_cast<std::size_t>(row[0])];
    const auto round = static_cast<Round>(row[1]);
    check(stops.empty() || round > stops.back().round, "{}: mover {}: its rounds ascend. Sort the rows.", where,
          row[0]);
    stops.push_back({round, {row[2], row[3]}});
  }
  check(!paths_.empty(), "trajectory '{}' holds no numbers: rows of mover, round, x and y are needed.", path);
}

Place Trajectories::at(std::size_t mover, Round t) const {
  const std::vector<Stop>& stops = paths_.at(mover);
  const auto later = [](Round round, const Stop& stop) { return round < stop.round; };
  const auto next = std::upper_bound(stops.begin(), stops.end(), t, later);
  if (next == stops.begin()) return next->place;
  const Stop& last = *std::prev(next);
  if (next == stops.end()) return last.place;
  const double way = static_cast<double>(t - last.round) / static_cast<double>(next->round - last.round);
  return {last.place.x + way * (next->place.x - last.place.x), last.place.y + way * (next->place.y - last.place.y)};
}

}  // namespace starling
