#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "gnuplot.hpp"
#include "report/figures/mass_watch.hpp"
#include "report/pictures/pictures.hpp"
#include "report/view/run_reading.hpp"

namespace starling {

namespace {

constexpr std::size_t most_curves = 10;
constexpr std::size_t most_rows = 60;

/// Up to `most` of n clients, spread evenly.
std::vector<std::size_t> some_of(std::size_t n, std::size_t most) {
  const std::size_t count = std::min(n, most);
  std::vector<std::size_t> result;
  result.reserve(count);
  for (std::size_t i = 0; i < count; ++i) result.push_back(i * n / count);
  return result;
}

Panel total_mass(const NetworkRecords& records, const std::vector<NetworkFigures>& history) {
  Curve clients{"of all clients", {}};
  Curve with_messages{"and in messages that have not arrived", {}};
  bool any_under_way = false;
  for (const NetworkFigures& line : history) {
    if (std::isnan(line.mass)) continue;
    const double under_way = std::isnan(line.in_flight) ? 0 : line.in_flight;
    any_under_way = any_under_way || under_way > 0;
    clients.points.emplace_back(static_cast<double>(line.done), line.mass);
    with_messages.points.emplace_back(static_cast<double>(line.done), line.mass + under_way);
  }
  Panel panel{"", "mass", false, {}, "no mass is on record"};
  panel.title = fmt::format("Mass ({} clients have {} together)", records.clients, records.clients);
  panel.curves.push_back(std::move(clients));
  if (any_under_way) panel.curves.push_back(std::move(with_messages));
  return panel;
}

/// The listed clients whose mass was small, the least first.
std::vector<std::size_t> with_small_masses(const NetworkRecords& records) {
  const std::size_t listed = records.listed.size();
  std::vector<std::pair<double, std::size_t>> small;
  for (std::size_t k = 0; k < listed; ++k) {
    double least = 1;
    for (std::size_t r = 0; r < records.rounds.size(); ++r) least = std::min(least, records.masses[r * listed + k]);
    if (least < small_mass) small.emplace_back(least, k);
  }
  std::ranges::sort(small);
  std::vector<std::size_t> result;
  for (const auto& [least, k] : small) result.push_back(k);
  return result;
}

/// Up to `most_curves` clients: a few with the least masses, the others spread evenly.
std::set<std::size_t> clients_to_draw(const NetworkRecords& records, const std::vector<std::size_t>& small) {
  std::set<std::size_t> drawn(small.begin(),
                              small.begin() + static_cast<std::ptrdiff_t>(std::min(small.size(), most_curves / 2)));
  for (const std::size_t k : some_of(records.listed.size(), most_curves)) {
    if (drawn.size() < most_curves) drawn.insert(k);
  }
  return drawn;
}

Panel masses_of_clients(const NetworkRecords& records) {
  Panel panel{"", "mass of a client", true, {}, "no mass is on record"};
  const std::size_t listed = records.listed.size();
  const std::vector<std::size_t> small = with_small_masses(records);
  for (const std::size_t k : clients_to_draw(records, small)) {
    Curve curve{fmt::format("client {}", records.listed[k]), {}};
    for (std::size_t r = 0; r < records.rounds.size(); ++r) {
      curve.points.emplace_back(static_cast<double>(records.rounds[r]), records.masses[r * listed + k]);
    }
    panel.curves.push_back(std::move(curve));
  }
  if (small.empty()) return panel;
  Curve line{"a thousandth of the average", {}};
  line.dashed = true;
  for (const Round t : {records.rounds.front(), records.rounds.back()}) {
    line.points.emplace_back(static_cast<double>(t), small_mass);
  }
  panel.curves.push_back(std::move(line));
  return panel;
}

Panel presences(const NetworkRecords& records) {
  Panel panel{"Share of the rounds in which a client took part", "client", false, {}, ""};
  const std::size_t listed = records.listed.size();
  const bool all = listed == records.clients;
  if (!all) panel.label = "recorded client";
  const std::vector<std::size_t> drawn = some_of(listed, most_rows);
  for (std::size_t r = 1; r < records.rounds.size(); ++r) {
    for (const std::size_t k : drawn) {
      panel.boxes.push_back({static_cast<double>(records.rounds[r - 1]), static_cast<double>(records.rounds[r]),
                             static_cast<double>(k) - 0.5, static_cast<double>(k) + 0.5,
                             records.presences[r * listed + k]});
    }
  }
  return panel;
}

}  // namespace

std::string draw_network(const std::string& folder, const NetworkRecords& records,
                         const std::vector<NetworkFigures>& history, PictureFormats formats) {
  const bool all_one = std::ranges::all_of(records.masses, [](double w) { return w == 1; });
  const bool all_there = std::ranges::none_of(records.presences, [](double p) { return p < 1; });
  std::vector<Picture> pictures;
  if (!all_one) pictures.push_back({"mass", {total_mass(records, history), masses_of_clients(records)}});
  if (!all_there) pictures.push_back({"presence", {presences(records)}});
  if (pictures.empty()) return "";
  return draw(folder, "network.gp", pictures, formats);
}

}  // namespace starling
