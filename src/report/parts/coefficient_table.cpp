// The table of coefficients at the end of `starling infer`.
#include <algorithm>
#include <limits>

#include "parts.hpp"

namespace starling {

namespace {

constexpr std::size_t most_coefficients = 12;
constexpr std::size_t most_clients = 4;  ///< that are shown in full
constexpr std::size_t most_levels = 2;   ///< side by side
constexpr std::size_t cell_width = 12;
constexpr std::size_t z_width = 9;
constexpr int most_decimals = 8;

/// Intervals of one level: by coefficient.
struct Column {
  double level = 0;
  std::vector<Interval> cells;
};

/// The intervals of one method, and of one client if clients have their own.
struct Block {
  std::string method;
  std::optional<Client> client;
  std::vector<Column> columns;
};

/// The first item with the property, or a new item at the end.
template <class Item, class Predicate>
Item& found_or_new(std::vector<Item>& items, Predicate is_it, Item item) {
  const auto found = std::ranges::find_if(items, is_it);
  return found != items.end() ? *found : items.emplace_back(std::move(item));
}

/// In the order in which clients and, within a client, methods and levels come first.
std::vector<Block> blocks_of(const std::vector<Interval>& intervals) {
  std::vector<std::vector<Block>> clients;
  for (const Interval& each : intervals) {
    auto& own = found_or_new(
        clients, [&](const auto& blocks) { return blocks.front().client == each.client; },
        std::vector<Block>{{each.method, each.client, {}}});
    Block& block = found_or_new(own, [&](const Block& other) { return other.method == each.method; },
                                {each.method, each.client, {}});
    found_or_new(block.columns, [&](const Column& other) { return other.level == each.level; }, {each.level, {}})
        .cells.push_back(each);
  }
  std::vector<Block> blocks;
  for (auto& own : clients) blocks.insert(blocks.end(), own.begin(), own.end());
  return blocks;
}

/// Decimals that show three digits of the narrowest interval's half, or of an estimate that has no interval; none where
/// columns would be too narrow for them.
std::optional<int> decimals_of(const std::vector<Interval>& cells) {
  double narrowest = std::numeric_limits<double>::infinity();
  double largest = 1;
  for (const Interval& each : cells) {
    const double shown = std::isfinite(each.high - each.low) ? (each.high - each.low) / 2 : std::abs(each.estimate);
    if (shown > 0) narrowest = std::min(narrowest, shown);
    for (const double value : {each.estimate, each.low, each.high}) {
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    }
  }
  if (!std::isfinite(narrowest)) return std::nullopt;
  const int decimals = std::max(0, 2 - static_cast<int>(std::floor(std::log10(narrowest))));
  const int digits = decimals + 3 + static_cast<int>(std::log10(largest));  // with sign and point
  if (decimals > most_decimals || digits >= static_cast<int>(cell_width)) return std::nullopt;
  return decimals;
}

std::string number_cell(double value, std::optional<int> decimals) {
  const std::string text = !std::isfinite(value) ? "-"
                           : decimals            ? fmt::format("{:.{}f}", value, *decimals)
                                                 : fmt::format("{:.6g}", value);
  return fmt::format(" {:>{}}", text, cell_width - 1);  // a blank parts numbers of any length
}

/// The estimate over its standard error.
std::string z_cell(const Interval& interval) {
  return fmt::format(" {:>{}}", shown(interval.estimate / interval.standard_error, "{:.2f}"), z_width - 1);
}

std::string verdict(const Interval& interval, const Unsettled& unsettled) {
  const std::optional<bool> excludes = excludes_zero(interval);
  if (excludes && unsettled.contains(interval.client)) return " not settled";
  return fmt::format("  {:<10}", !excludes ? "  -" : *excludes ? "* yes" : "  no");
}

std::string more_text(std::size_t hidden) {
  return hidden == 0 ? "" : indented_line(fmt::format("... {} more, in summary.json and coefficients.csv", hidden));
}

/// A few levels of a block: columns from `first` on.
std::string part_of(const Block& block, std::size_t first, const Unsettled& unsettled) {
  const auto begin = block.columns.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = begin + static_cast<std::ptrdiff_t>(std::min(most_levels, block.columns.size() - first));
  const std::vector<Interval>& rows = begin->cells;
  const std::size_t listed = std::min(rows.size(), most_coefficients);
  const bool has_errors =
      std::ranges::any_of(rows, [](const Interval& each) { return std::isfinite(each.standard_error); });
  const std::string heading = block.client ? fmt::format("client {}, {}", *block.client, block.method) : block.method;
  std::size_t width = heading.size();
  for (std::size_t j = 0; j < listed; ++j) width = std::max(width, rows[j].name.size());
  std::string text = fmt::format("{:<{}}{:>{}}", heading, width, "estimate", cell_width);
  if (has_errors) text += fmt::format("{:>{}}{:>{}}", "std. error", cell_width, "z", z_width);
  for (auto column = begin; column != end; ++column) {
    const std::string level = shown(100 * column->level, "{:.4g} %");
    text += fmt::format("{:>{}}{:>{}}  {:<10}", level + " low", cell_width, "high", cell_width, "excludes 0");
  }
  text = indented_line(text);
  const std::optional<int> decimals = decimals_of(rows);
  for (std::size_t j = 0; j < listed; ++j) {
    std::string row = fmt::format("{:<{}}{}", rows[j].name, width, number_cell(rows[j].estimate, decimals));
    if (has_errors) row += number_cell(rows[j].standard_error, decimals) + z_cell(rows[j]);
    for (auto column = begin; column != end && j < column->cells.size(); ++column) {
      const Interval& cell = column->cells[j];
      row += number_cell(cell.low, decimals) + number_cell(cell.high, decimals) + verdict(cell, unsettled);
    }
    text += indented_line(row);
  }
  return text + more_text(rows.size() - listed);
}

std::string text_of(const Block& block, const Unsettled& unsettled) {
  std::string text;
  for (std::size_t first = 0; first < block.columns.size(); first += most_levels) {
    text += (first == 0 ? "" : "\n") + part_of(block, first, unsettled);
  }
  return text;
}

/// The cell with the number of clients whose intervals exclude 0, of those whose paths have settled.
std::string exclusions(int excluding, std::size_t clients, std::size_t unsettled) {
  if (unsettled == clients) return "not settled";
  return fmt::format("{} of {}{}", excluding, clients - unsettled,
                     unsettled == 0 ? "" : fmt::format(", {} not settled", unsettled));
}

/// Range of the estimates of all clients, and the number of their intervals that exclude 0. Of each client the first
/// block's first level counts.
std::string range_of(const std::vector<const Block*>& clients, const Unsettled& unsettled) {
  const std::vector<Interval>& first = clients.front()->columns.front().cells;
  const std::size_t listed = std::min(first.size(), most_coefficients);
  const std::string heading = fmt::format("estimates of all {} clients", clients.size());
  std::size_t width = heading.size();
  for (std::size_t j = 0; j < listed; ++j) width = std::max(width, first[j].name.size());
  std::string text =
      indented_line(fmt::format("{:<{}}{:>{}}{:>{}}  {} %, {}: excludes 0", heading, width, "least", cell_width,
                                "greatest", cell_width, 100 * first.front().level, first.front().method));
  const std::optional<int> decimals = decimals_of(first);
  for (std::size_t j = 0; j < listed; ++j) {
    double least = std::numeric_limits<double>::infinity();
    double greatest = -least;
    int excluding = 0;
    std::size_t open = 0;
    for (const Block* block : clients) {
      const std::vector<Interval>& cells = block->columns.front().cells;
      if (j >= cells.size()) continue;
      least = std::min(least, cells[j].estimate);
      greatest = std::max(greatest, cells[j].estimate);
      const bool is_open = unsettled.contains(cells[j].client);
      open += is_open ? 1 : 0;
      excluding += !is_open && excludes_zero(cells[j]).value_or(false) ? 1 : 0;
    }
    text += indented_line(fmt::format("{:<{}}{}{}  {}", first[j].name, width, number_cell(least, decimals),
                                      number_cell(greatest, decimals), exclusions(excluding, clients.size(), open)));
  }
  return text + more_text(first.size() - listed);
}

std::string privacy_text(const SummaryView& summary) {
  const double epsilon = summary.number("privacy.epsilon");
  const double mu = summary.number("privacy.mu");
  const double delta = summary.number("privacy.delta");
  if (!std::isfinite(epsilon)) return "no privacy";
  return fmt::format("privacy per {}: {}epsilon = {:.6g}{}{}", summary.text("privacy.unit"),
                     std::isfinite(mu) ? fmt::format("mu = {:.6g}, ", mu) : "", epsilon,
                     delta > 0 ? fmt::format(" at delta = {:.3g}", delta) : "",
                     summary.flag("privacy.private") ? "" : ", but see below");
}

std::string heading_of(const SummaryView& summary) {
  const std::string records = shown(summary.number("interval_records"), "{:.0f}");
  const char* const each = summary.text("privacy.unit") == "person" ? "persons" : "records";
  return indented_line(fmt::format("Coefficients{}, {} steps; {}",
                                   records == "-" ? "" : fmt::format(" from {} {}", records, each),
                                   summary.count("rounds"), privacy_text(summary)));
}

/// Whether all coefficients but the intercept are zero.
std::string joint_test_text(const SummaryView& summary) {
  if (!summary.has("joint.statistic")) return "";
  const double statistic = summary.number("joint.statistic");
  const double critical = summary.number("joint.critical");
  return fmt::format(
      "  All but the intercept zero? Statistic {:.5g}, exceeds {:.5g} in {:.3g} % of cases if so: {}\n\n", statistic,
      critical, 100 * (1 - summary.number("joint.level")),
      !unsettled_of(summary).empty() ? "not settled"
      : statistic > critical         ? "rejected"
                                     : "not rejected");
}

/// The blocks of these intervals; of many clients that of the first, and the range of all.
std::string blocks_text(const SummaryView& summary, const std::vector<Interval>& intervals) {
  const Unsettled unsettled = unsettled_of(summary);
  const std::vector<Block> blocks = blocks_of(intervals);
  std::vector<const Block*> clients;  // the first block of each
  for (const Block& block : blocks) {
    if (clients.empty() || clients.back()->client != block.client) clients.push_back(&block);
  }
  const bool all = clients.size() <= most_clients;
  std::string text;
  for (const Block& block : blocks) {
    if (all || block.client == clients.front()->client) text += "\n" + text_of(block, unsettled);
  }
  if (all) return text;
  return text + "\n" + range_of(clients, unsettled) +
         indented_line("Each client's own are in coefficients.csv and, under per_client, in summary.json.");
}

std::string regression_table(const SummaryView& summary) {
  const std::vector<Interval> intervals = intervals_of(summary);
  if (summary.text("command") != "infer" || intervals.empty()) return "";
  const std::vector<Interval> own_units = intervals_of(summary, "own_units");
  if (own_units.empty()) return heading_of(summary) + blocks_text(summary, intervals);
  return heading_of(summary) + "\n" + indented_line("In the data's own units:") + blocks_text(summary, own_units) +
         "\n" + indented_line("Standardised, as the model has them:") + blocks_text(summary, intervals);
}

}  // namespace

Unsettled unsettled_of(const SummaryView& summary) {
  Unsettled unsettled;
  for (const SummaryView& client : summary.list("per_client")) {
    if (client.has("settled") && !client.flag("settled")) unsettled.insert(static_cast<Client>(client.count("client")));
  }
  const bool tells =
      summary.has("settling.drift") || summary.has("settling.knows_scales") || summary.has("settling.step");
  if (unsettled.empty() && tells && !summary.flag("settled")) unsettled.insert(std::nullopt);
  return unsettled;
}

std::string coefficient_table(const SummaryView& summary) {
  const std::string table = regression_table(summary);
  return (table.empty() ? "" : table + "\n") + joint_test_text(summary);
}

}  // namespace starling
