#include "output/intervals/study.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.hpp"
#include "files/text_files.hpp"

namespace starling {

void Study::Moments::add(double value) {
  ++count;
  const double step = value - mean;
  mean += step / static_cast<double>(count);
  squares += step * (value - mean);
}

MeanFigure Study::Moments::figure() const {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  if (count == 0) return {unknown, unknown};
  const auto n = static_cast<double>(count);
  return {mean, count > 1 ? std::sqrt(squares / (n - 1) / n) : unknown};
}

std::size_t Study::kind_of(const Interval& interval) {
  const std::pair kind(interval.method, interval.level);
  const auto found = std::ranges::find(kinds_, kind);
  if (found != kinds_.end()) return static_cast<std::size_t>(found - kinds_.begin());
  kinds_.push_back(kind);
  return kinds_.size() - 1;
}

void Study::add(const IntervalsAt& at, const Vector& truth) {
  std::map<std::size_t, Group> groups;
  for (const Interval& each : at.intervals) groups[kind_of(each)].push_back(&each);
  for (const auto& [kind, group] : groups) {
    Cell& cell = cells_[{kind, at.steps}];
    cell.records = at.records;
    if (at.settled == false) ++cell.not_settled;
    add_group(cell, group, truth);
  }
}

void Study::add_group(Cell& cell, const Group& group, const Vector& truth) {
  const std::size_t p = truth.size();
  std::vector<Tally> own(p);  // over clients
  Tally all;
  std::map<std::optional<Client>, std::size_t> seen;
  for (const Interval* each : group) {
    const std::size_t j = seen[each->client]++;
    check(j < p, "more intervals of '{}' than the {} coefficients that are known: they must be one for one. Name all.",
          each->method, p);
    if (cell.names.size() <= j) cell.names.push_back(each->name);
    if (!std::isfinite(each->low) || !std::isfinite(each->high)) {
      ++cell.unknown;
      continue;
    }
    for (Tally* tally : {&all, &own[j]}) {
      tally->coverage.add(each->low <= truth[j] && truth[j] <= each->high ? 1 : 0);
      tally->length.add(each->high - each->low);
      tally->bias.add(each->estimate - truth[j]);
    }
  }
  for (const auto& [client, count] : seen) {
    check(count == p, "{} intervals for {} coefficients that are known: they must be one for one. Name all.", count, p);
  }
  const auto pass_on = [](const Tally& from, Tally& to) {
    if (from.coverage.count == 0) return;
    to.coverage.add(from.coverage.mean);
    to.length.add(from.length.mean);
    to.bias.add(from.bias.mean);
  };
  cell.each.resize(p);
  for (std::size_t j = 0; j < p; ++j) pass_on(own[j], cell.each[j]);
  pass_on(all, cell.all);
  ++cell.replications;
}

std::vector<StudyCell> Study::cells() const {
  std::vector<StudyCell> result;
  for (const auto& [key, cell] : cells_) {
    const auto& [method, level] = kinds_[key.first];
    StudyCell one{method,
                  level,
                  key.second,
                  cell.records,
                  cell.replications,
                  cell.unknown,
                  cell.not_settled,
                  cell.all.coverage.figure(),
                  cell.all.length.figure(),
                  {}};
    for (std::size_t j = 0; j < cell.each.size(); ++j) {
      const Tally& tally = cell.each[j];
      one.coefficients.push_back({cell.names[j], tally.coverage.figure(), tally.length.figure(), tally.bias.figure()});
    }
    result.push_back(std::move(one));
  }
  return result;
}

namespace {

std::string csv_figure(const MeanFigure& figure) {
  return fmt::format(",{},{}", csv_exact(figure.mean), csv_exact(figure.error));
}

}  // namespace

void write_study(const std::string& folder, const std::vector<StudyCell>& cells) {
  std::string text =
      "method,level,steps,records,coefficient,replications,unknown,not_settled,coverage,coverage_error,length,length_"
      "error,bias,bias_error\n";
  for (const StudyCell& cell : cells) {
    const std::string where =
        fmt::format("{},{},{},{},", csv_text(cell.method), csv_exact(cell.level), cell.steps, csv_exact(cell.records));
    text += fmt::format("{},{},{},{}{}{},,\n", where, cell.replications, cell.unknown, cell.not_settled,
                        csv_figure(cell.coverage), csv_figure(cell.length));
    for (const CoefficientFigures& one : cell.coefficients) {
      text += fmt::format("{}{},{},,{}{}{}\n", where, csv_text(one.name), cell.replications, csv_figure(one.coverage),
                          csv_figure(one.length), csv_figure(one.bias));
    }
  }
  write_text(folder + "/study.csv", text);
}

}  // namespace starling
