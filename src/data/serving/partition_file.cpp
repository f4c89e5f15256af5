#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/check.hpp"
#include "core/text/exact_number.hpp"
#include "data/cells/number.hpp"
#include "data/serving/partition.hpp"
#include "data/tables/line_reader.hpp"
#include "files/durable_file.hpp"

namespace starling {

namespace {

constexpr std::string_view heading = "record,client";

/// The client on the line of record `expected`.
Client read_owner(std::string_view line, std::int64_t expected, const LineReader& lines) {
  const std::size_t comma = std::min(line.find(','), line.size());
  const auto record = exact_number<std::int64_t>(line.substr(0, comma));
  const auto client = exact_number<Client>(line.substr(std::min(comma + 1, line.size())));
  check<DataError>(record && client, "{}: the line is not record,client: two whole numbers. Correct the line.",
                   lines.where());
  check<DataError>(*record == expected,
                   "{}: record {} where {} is due: records stand in order, from 0. Sort the lines.", lines.where(),
                   *record, expected);
  return *client;
}

}  // namespace

std::vector<Client> read_owners(const std::string& path, std::int64_t records, Client clients) {
  refuse_stream(path);
  LineReader lines(path);
  std::string_view line;
  check<DataError>(lines.next(line) && line == heading,
                   "{}: the first line is not '{}': so it is no partition. See --save-partition.", path, heading);
  std::vector<Client> owner;
  while (lines.next(line)) {
    if (line.empty()) continue;
    const Client client = read_owner(line, static_cast<std::int64_t>(owner.size()), lines);
    check<DataError>(client >= 0 && client < clients, "{}: client {}: there are {} clients, from 0. Correct the line.",
                     lines.where(), client, clients);
    owner.push_back(client);
  }
  check<DataError>(static_cast<std::int64_t>(owner.size()) == records,
                   "{}: it deals out {} records: the source has {}. It was saved for another source.", path,
                   owner.size(), records);
  return owner;
}

void write_owners(const std::string& path, const std::vector<Client>& owner) {
  const std::string unfinished = path + ".part";
  std::ofstream file(unfinished, std::ios::binary);
  file << heading << '\n';
  for (std::size_t i = 0; i < owner.size(); ++i) file << i << ',' << owner[i] << '\n';
  file.close();
  std::error_code problem;
  // A new name for a complete file: what exists stays, even if it came meanwhile.
  if (file.good()) std::filesystem::create_hard_link(unfinished, path, problem);
  const bool written = file.good() && !problem;
  const std::string reason = problem ? problem.message() : std::strerror(errno);
  std::filesystem::remove(unfinished, problem);
  if (!written) {
    throw FailureError(fmt::format("cannot write '{}': {}. Check the folder and its permissions.", path, reason));
  }
}

}  // namespace starling
