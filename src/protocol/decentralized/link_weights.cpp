#include <algorithm>
#include <bit>
#include <limits>

#include "core/check.hpp"
#include "synchronous_mixer.hpp"

namespace starling {

namespace {

/// Size of the table of rows that a new row is compared with: a power of two.
constexpr int bits_of_rows_remembered = 6;
constexpr std::size_t rows_remembered = std::size_t{1} << bits_of_rows_remembered;
constexpr std::uint32_t no_row = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void WeightRows::clear(std::size_t clients) {
  values_.clear();
  row_.clear();
  row_.reserve(clients);
  begin_.assign(1, 0);
  seen_.assign(rows_remembered, no_row);
}

void WeightRows::add(const std::vector<Arc>& arcs) {
  std::uint64_t hash = arcs.size();
  for (const Arc& arc : arcs) hash = (hash ^ std::bit_cast<std::uint64_t>(arc.weight)) * 0x9e3779b97f4a7c15U;
  std::uint32_t& seen = seen_[hash >> (64 - bits_of_rows_remembered)];
  const auto same = [](double weight, const Arc& arc) {
    return std::bit_cast<std::uint64_t>(weight) == std::bit_cast<std::uint64_t>(arc.weight);
  };
  const auto is_seen = [&] {
    const auto begin = values_.begin() + begin_[seen];
    return std::equal(begin, values_.begin() + begin_[seen + 1], arcs.begin(), arcs.end(), same);
  };
  if (seen == no_row || !is_seen()) {
    seen = static_cast<std::uint32_t>(begin_.size() - 1);
    for (const Arc& arc : arcs) values_.push_back(arc.weight);
    constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
    check(values_.size() <= most, "{} edges at the clients of one rank: a rank holds at most {}. Start more ranks.",
          values_.size(), most);
    begin_.push_back(static_cast<std::uint32_t>(values_.size()));
  }
  row_.push_back(seen);
}

void LinkWeights::clear(std::size_t clients) {
  in.clear(clients);
  out.clear(clients);
  for (std::vector<double>* each : {&own, &share}) {
    each->clear();
    each->reserve(clients);
  }
  own_place.clear();
  own_place.reserve(clients);
}

void LinkWeights::add(const Links& links, Client u) {
  own.push_back(links.own);
  share.push_back(links.share);
  const auto before = [u](const Arc& arc) { return arc.peer < u; };
  own_place.push_back(static_cast<std::uint32_t>(std::count_if(links.in.begin(), links.in.end(), before)));
  in.add(links.in);
  out.add(links.out);
}

}  // namespace starling
