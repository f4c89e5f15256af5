#include <algorithm>
#include <map>
#include <utility>

#include "gnuplot.hpp"
#include "graph/analysis/analysis.hpp"
#include "report/pictures/pictures.hpp"

namespace starling {

namespace {

constexpr Client most_cells = 200;  ///< in a row
constexpr std::size_t most_phases = 6;
constexpr std::size_t phases_in_row = 3;

/// Clients 0, 1, … in cells of equal size.
class Grid {
 public:
  explicit Grid(Client clients) : clients_(clients), size_((clients + most_cells - 1) / most_cells) {}
  [[nodiscard]] Client of(Client u) const { return u / size_; }
  [[nodiscard]] Client first(Client cell) const { return cell * size_; }
  [[nodiscard]] Client end(Client cell) const { return std::min(clients_, (cell + 1) * size_); }

 private:
  Client clients_;
  Client size_;
};

Panel matrix_of(const Topology& topology, std::size_t phase, std::string title) {
  Panel panel{std::move(title), "sender", false, {}, ""};
  panel.matrix = true;
  const Grid cells(topology.clients());
  std::map<std::pair<Client, Client>, double> sums;
  for (Client u = 0; u < topology.clients(); ++u) {
    const Links links = topology.phase_links(phase, u);
    sums[{cells.of(u), cells.of(u)}] += links.own;
    for (const Arc& arc : links.out) sums[{cells.of(u), cells.of(arc.peer)}] += arc.weight;
  }
  for (const auto& [cell, sum] : sums) {
    const auto& [row, column] = cell;
    const Client senders = cells.end(row) - cells.first(row);
    panel.boxes.push_back({cells.first(column) - 0.5, cells.end(column) - 0.5, cells.first(row) - 0.5,
                           cells.end(row) - 0.5, sum / senders});
  }
  panel.range = {topology.clients() - 0.5, -0.5};  // from the bottom to the top
  return panel;
}

}  // namespace

std::string draw_graph(const std::string& folder, const GraphSample& sample, PictureFormats formats) {
  const Topology& topology = sample.topology();
  Picture picture{"graph", {}, {"receiver", false}};
  for (std::size_t phase = 0; phase < std::min(topology.phases(), most_phases); ++phase) {
    const std::string title = topology.phases() == 1 ? "weights" : "weights, " + name_of_phase(sample, phase);
    picture.panels.push_back(matrix_of(topology, phase, title));
  }
  picture.columns = std::min(picture.panels.size(), phases_in_row);
  return draw(folder, "graph.gp", {picture}, formats);
}

}  // namespace starling
