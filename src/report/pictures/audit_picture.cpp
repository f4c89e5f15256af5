#include <cmath>

#include <fmt/format.h>

#include "files/text_files.hpp"
#include "gnuplot.hpp"
#include "privacy/audit/audit.hpp"
#include "report/pictures/pictures.hpp"

namespace starling {

namespace {

/// A value per bin as the outline of its bars.
template <class Value>
Curve outline(const std::string& title, const AuditHistogram& histogram, Value value) {
  Curve curve{title, {}};
  for (std::size_t b = 0; b + 1 < histogram.edges.size(); ++b) {
    curve.points.emplace_back(histogram.edges[b], value(b));
    curve.points.emplace_back(histogram.edges[b + 1], value(b));
  }
  return curve;
}

Curve level(const std::string& title, const AuditHistogram& histogram, double height, std::size_t colour) {
  Curve curve{title, {{histogram.edges.front(), height}, {histogram.edges.back(), height}}};
  curve.colour = colour;
  return curve;
}

double log_ratio(const AuditHistogram& histogram, std::size_t b) {
  const auto count = [&](std::size_t side) { return static_cast<double>(histogram.counts[side][b]) + 0.5; };
  return std::log(count(1) / count(0));
}

}  // namespace

void write_histogram(const std::string& folder, const AuditHistogram& histogram) {
  std::string text = "from,to,side 0,side 1\n";
  for (std::size_t b = 0; b + 1 < histogram.edges.size(); ++b) {
    text += fmt::format("{},{},{},{}\n", csv_field(histogram.edges[b]), csv_field(histogram.edges[b + 1]),
                        histogram.counts[0][b], histogram.counts[1][b]);
  }
  write_text(folder + "/audit-histogram.csv", text);
}

std::string draw_audit(const std::string& folder, const AuditResult& result) {
  const AuditHistogram& histogram = result.histogram;
  const auto n = static_cast<double>(result.samples);
  Panel seen{result.subject, "share of observations", false, {}, ""};
  for (const std::size_t side : {0U, 1U}) {
    seen.curves.push_back(outline(fmt::format("side {}", side), histogram,
                                  [&](std::size_t b) { return static_cast<double>(histogram.counts[side][b]) / n; }));
  }
  Panel ratio{"likelihood ratio of side 1 to side 0", "natural logarithm", false, {}, ""};
  ratio.curves.push_back(outline("observed", histogram, [&](std::size_t b) { return log_ratio(histogram, b); }));
  if (std::isfinite(result.epsilon_claimed)) {
    const std::string at = result.delta > 0 ? fmt::format(" (but for delta = {:.3g})", result.delta) : "";
    ratio.curves.push_back(level("claimed epsilon" + at, histogram, result.epsilon_claimed, 8));
    ratio.curves.push_back(level("", histogram, -result.epsilon_claimed, 8));
  }
  return draw(folder, "audit.gp", {{"audit", {std::move(seen), std::move(ratio)}, {histogram.statistic, false}}}, {});
}

}  // namespace starling
