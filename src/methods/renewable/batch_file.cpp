#include "batch_file.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "files/number_rows.hpp"

namespace starling {

namespace {

constexpr double most_of_row = 1e9;

}  // namespace

BatchFile::BatchFile(const std::string& path) : path_(path) {
  std::size_t number = 0;
  for (const std::vector<double>& row : read_number_rows(path, fmt::format("--batch '{}'", path))) {
    const std::string where = fmt::format("{}: row {}", path, ++number);
    const auto is_whole = [](double value) { return value >= 0 && value <= most_of_row && value == std::floor(value); };
    check(row.size() == 3 && std::all_of(row.begin(), row.end(), is_whole),
          "{} is not client, round and records, three whole numbers of at most 10^9. Write it as 0,0,20.", where);
    std::vector<BatchSizes::Step>& steps = steps_[static_cast<Client>(row[0])];
    const auto round = static_cast<Round>(row[1]);
    check(steps.empty() ? round == 0 : round > steps.back().round,
          "{}: client {}, round {}: rounds of a client ascend, from 0. Sort the rows.", where, row[0], round);
    check(row[2] >= 1, "{}: a batch of no record: it would be paid for, and tell nothing. Give 1 or more.", where);
    steps.push_back({round, static_cast<std::int64_t>(row[2])});
  }
  check(!steps_.empty(), "'{}' holds no numbers: rows of client, round and records are needed, as in 0,0,20.", path);
}

std::size_t BatchFile::most() const {
  std::int64_t most = 0;
  for (const auto& [client, steps] : steps_) {
    for (const BatchSizes::Step& step : steps) most = std::max(most, step.size);
  }
  return static_cast<std::size_t>(most);
}

std::shared_ptr<const BatchSizes> BatchFile::of(Client u) const {
  return std::make_shared<const BatchSizes>(steps_.at(u));
}

void BatchFile::require_clients(Client clients) const {
  for (Client u = 0; u < clients; ++u) {
    check(steps_.count(u) > 0, "'{}' has no batch sizes of client {}: each client needs a row. Add {},0,20.", path_, u,
          u);
  }
  check(steps_.rbegin()->first < clients,
        "'{}' has batch sizes of client {}: there are {} clients, from 0. Correct it.", path_, steps_.rbegin()->first,
        clients);
}

}  // namespace starling
