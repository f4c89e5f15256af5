// run.h5, which joins the files of all ranks.
#include <algorithm>
#include <ctime>
#include <filesystem>

#include <fmt/chrono.h>

#include "hdf5/file.hpp"
#include "output/choices.hpp"
#include "output/model_recorder.hpp"
#include "spread.hpp"

namespace starling {

std::vector<std::pair<std::string, std::string>> score_sets(Scores scores, Figures figures) {
  std::vector<std::pair<std::string, std::string>> sets;
  if (scores == Scores::none) return sets;
  const std::string who = figures == Figures::of_all ? "client" : "listed client";
  sets.emplace_back("/loss", "mean progressive loss per record since the record before: record x " + who);
  if (scores == Scores::losses_and_accuracies) {
    sets.emplace_back("/accuracy", "progressive accuracy since the record before: record x " + who);
  }
  return sets;
}

namespace {

/// The time in the form 2030-01-31T23:59:59Z.
std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

using Part = hdf5::File::Part;

/// The ranks with `wanted` clients (ascending), and the position of these clients in the ranks' files.
std::vector<Part> parts_of(const Layout& layout, const std::vector<Client>& wanted) {
  std::vector<Part> parts;
  for (int r = 0; r < layout.ranks(); ++r) {
    const auto from = std::lower_bound(wanted.begin(), wanted.end(), layout.first(r));
    const auto count = std::lower_bound(from, wanted.end(), layout.first(r) + layout.count(r)) - from;
    if (count > 0) parts.push_back({RunDirectory::clients_name(r), static_cast<hsize_t>(count)});
  }
  return parts;
}

/// The rows of all clients in each rank's file: one for each client, or a single row.
std::vector<Part> parts_of_ranks(const Layout& layout, bool one_each) {
  std::vector<Part> parts;
  for (int r = 0; r < layout.ranks(); ++r) {
    if (layout.count(r) == 0) continue;
    parts.push_back({RunDirectory::clients_name(r), one_each ? 1 : static_cast<hsize_t>(layout.count(r))});
  }
  return parts;
}

/// Figures of clients one by one: of all, or of those listed.
void join_figures(const hdf5::File& file, const RunLayout& run) {
  const bool of_all = run.recorded.figures == Figures::of_all;
  const std::vector<Part> parts =
      of_all ? parts_of_ranks(run.layout, false) : parts_of(run.layout, run.recorded.listed);
  if (parts.empty()) return;
  const auto who = of_all ? static_cast<hsize_t>(run.layout.clients()) : run.recorded.listed.size();
  const std::string axes = of_all ? "record x client" : "record x listed client";
  file.join("/mass", {0, who}, 1, true, parts);
  file.join("/presence", {0, who}, 1, true, parts);
  file.attribute("/mass", "meaning", "push-sum mass: " + axes);
  file.attribute("/presence", "meaning",
                 "share of the rounds since the record before in which a client took part: " + axes);
  for (const auto& [name, meaning] : score_sets(run.shared_scores, run.recorded.figures)) {
    file.join(name, {0, who}, 1, true, parts);
    file.attribute(name, "meaning", meaning);
  }
}

/// Writes the virtual data sets of the spreads of figures over the clients of each rank.
void join_spreads(const hdf5::File& file, const RunLayout& run) {
  if (run.recorded.figures == Figures::of_all) return;
  const std::vector<Part> ranks = parts_of_ranks(run.layout, true);
  file.join("/spread", {0, ranks.size(), spread_figures, numbers_of_a_spread}, 1, true, ranks);
  file.attribute("/spread", "meaning",
                 "how figures are spread over the clients of a rank (NaN where they are private or there are none): "
                 "record x rank x figure x number");
  file.attribute("/spread", "figures", std::string(figures_of_a_spread));
  file.attribute("/spread", "numbers", std::string(names_of_a_spread));
}

}  // namespace

void write_run_file(const RunDirectory& directory, const RunLayout& run,
                    const std::vector<std::pair<std::string, std::string>>& provenance) {
  std::filesystem::remove(directory.run_file());  // of a run that goes on
  const hdf5::File file(directory.run_file(), hdf5::File::Mode::create);
  const std::vector<Part> clients = parts_of_ranks(run.layout, false);
  const std::vector<Client>& recorded = run.recorded.clients;
  const auto all = static_cast<hsize_t>(run.layout.clients());
  file.link_external("/rounds", clients.front().file);
  if (!recorded.empty()) {
    file.join("/model", {0, recorded.size(), run.dimension}, 1, true, parts_of(run.layout, recorded));
    file.attribute("/model", "meaning", "released model: record x recorded client x coordinate");
  }
  join_figures(file, run);
  join_spreads(file, run);
  if (run.recorded.final_models) {
    file.join("/final_model", {all, run.dimension}, 0, false, clients);
    file.attribute("/final_model", "meaning",
                   "released model at the end: client x coordinate (0 until the run has ended)");
  } else {
    file.attribute("/", "clients", std::to_string(run.layout.clients()));
    file.attribute("/", "dimension", std::to_string(run.dimension));
  }
  if (run.shared_scores != Scores::none && !file.has("/loss")) file.attribute("/", "shares_losses", "yes");
  file.write<std::int64_t>("/recorded_clients", {recorded.size()}, {recorded.begin(), recorded.end()});
  if (run.recorded.figures == Figures::of_some) {
    const std::vector<Client>& listed = run.recorded.listed;
    file.write<std::int64_t>("/listed_clients", {listed.size()}, {listed.begin(), listed.end()});
  }
  file.attribute("/", "started", utc_now());
  for (const auto& [name, value] : provenance) file.attribute("/", name, value);
}

}  // namespace starling
