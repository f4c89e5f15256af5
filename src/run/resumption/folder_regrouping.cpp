#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

#include "console/version.hpp"
#include "core/text/exact_number.hpp"
#include "core/text/spec.hpp"
#include "output/directory/journal.hpp"
#include "privacy/ledger/ledger_regrouping.hpp"
#include "resumption.hpp"
#include "run/privacy/noise_keys.hpp"

namespace starling {

namespace {

std::string path_of(const CheckpointFolder& folder, const Companion& file) {
  return (std::filesystem::path(folder.folder()) / file.name).lexically_normal().string();
}

std::vector<NoiseKey> random_keys(Client count) {
  std::vector<NoiseKey> keys;
  for (Client k = 0; k < count; ++k) keys.push_back(NoiseKey::random());
  return keys;
}

/// One table of the rows of several that are about clients of the group, in order of rounds and clients. Rows begin
/// with a round and a client. Rows about all clients of a rank together are left out: the rank has others now.
std::string join_tables(const std::vector<std::string>& tables, const ClientGroup& group) {
  std::string head;
  std::vector<std::tuple<std::int64_t, std::int64_t, std::string>> rows;
  for (const std::string& table : tables) {
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
      const std::vector<std::string_view> fields = split_at(line, ",");
      const auto round = exact_number<std::int64_t>(fields[0]);
      const auto client = exact_number<std::int64_t>(fields.size() > 1 ? fields[1] : "");
      if (!round && &table == &tables.front()) head += line + "\n";
      if (round && client && group.has(static_cast<Client>(*client))) rows.emplace_back(*round, *client, line);
    }
  }
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
  });
  for (const auto& row : rows) head += std::get<2>(row) + "\n";
  return head;
}

}  // namespace

FolderRegrouping::FolderRegrouping(const RunDirectory& directory, std::string run_id, const Layout& before,
                                   const Layout& after, int rank, const std::vector<int>& gone)
    : directory_(directory),
      run_id_(std::move(run_id)),
      before_(before),
      after_(after),
      rank_(rank),
      gone_(gone),
      group_{after.first(rank), after.count(rank)} {
  for (int r = 0; r < before.ranks(); ++r) {
    const ClientGroup group = group_of(r);
    if (std::ranges::binary_search(gone, r)) {
      for (Client u = group.first; u < group.end(); ++u) stateless_.push_back(u);
      continue;
    }
    if (!directory.place().sees(r)) continue;  // it stays on its host, with its clients
    usable_.push_back(r);
    if (group.meets(group_)) parts_.push_back(r);
  }
  for (Client u = before.clients(); u < after.clients(); ++u) stateless_.push_back(u);
  if (parts_.empty() && !usable_.empty())
    parts_.push_back(usable_.front());  // a rank without clients has what is the same on all
}

ClientGroup FolderRegrouping::group_of(int before) const {
  return {before_.first(before), before_.count(before)};
}

void FolderRegrouping::make_folder(std::optional<Round> round) const {
  const std::string folder = directory_.make_next_folder(rank_);
  if (usable_.empty()) return;
  if (group_.count > 0) make_keys(folder);
  fill(folder, round);
}

/// All but the keys.
void FolderRegrouping::fill(const std::string& folder, std::optional<Round> round) const {
  if (group_.count > 0) {
    make_ledger(folder);
    make_notes(folder);
  }
  if (round) make_checkpoint(folder, *round);
}

std::string FolderRegrouping::make_folder_without_keys(std::optional<Round> round) const {
  const std::string folder = directory_.make_next_folder(rank_);
  fill(folder, round);
  return folder;
}

void FolderRegrouping::make_new_keys(const std::string& folder) const {
  store_noise_keys(random_keys(group_.count), group_.first, folder);
}

bool FolderRegrouping::has_keys() const {
  return std::ranges::any_of(
      parts_, [this](int r) { return has_stored_keys(group_of(r).first, directory_.place().earlier_folder(r)); });
}

/// Keys that the operating system gave. Others are the owners', or made of the seed.
void FolderRegrouping::make_keys(const std::string& folder) const {
  if (!has_keys()) return;
  std::vector<std::optional<NoiseKey>> known(static_cast<std::size_t>(group_.count));
  for (const int r : parts_) {
    const ClientGroup group = group_of(r);
    if (!has_stored_keys(group.first, directory_.place().earlier_folder(r))) continue;
    const std::vector<NoiseKey> keys = read_stored_keys(group.first, group.count, directory_.place().earlier_folder(r));
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const Client u = group.first + static_cast<Client>(k);
      if (group_.has(u)) known[static_cast<std::size_t>(u - group_.first)].emplace(keys[k]);
    }
  }
  std::vector<NoiseKey> own = random_keys(group_.count);
  for (std::size_t k = 0; k < own.size(); ++k) {
    if (known[k]) own[k] = *known[k];
  }
  store_noise_keys(own, group_.first, folder);
}

/// The ledger of the run. Owners' ledgers are elsewhere.
void FolderRegrouping::make_ledger(const std::string& folder) const {
  std::optional<JoiningClients> joining;
  if (before_.clients() < after_.clients()) {
    joining.emplace(JoiningClients{run_id_, ClientRange(before_.clients(), after_.clients() - 1)});
  }
  std::vector<std::string> ledgers;
  std::string of_others;  // says how the run began
  for (const int r : usable_) {
    const std::string ledger = directory_.place().earlier_folder(r) + "/ledger";
    if (!std::filesystem::exists(ledger)) continue;
    if (group_of(r).meets(group_)) ledgers.push_back(ledger);
    of_others = ledger;
  }
  if (ledgers.empty() && joining && !of_others.empty()) ledgers.push_back(of_others);
  if (ledgers.empty()) return;
  regroup_ledgers(ledgers, ClientRange(group_.first, group_.end() - 1), folder + "/ledger", joining);
}

/// What the owners of records were told. It names clients, and goes where the first of them goes.
void FolderRegrouping::make_notes(const std::string& folder) const {
  for (const char* name : {"/errors.txt", "/left-out.txt"}) {
    for (const int r : parts_) {
      const std::string file = directory_.place().earlier_folder(r) + name;
      if (!group_.has(before_.first(r)) || !std::filesystem::exists(file)) continue;
      const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(file));
      OwnersFile(folder + name).append(OwnersFile(file).read(0, bytes));
    }
  }
}

void FolderRegrouping::make_checkpoint(const std::string& folder, Round round) const {
  std::vector<CheckpointFile> parts;
  std::vector<Secret<std::string>> states;
  for (const int r : parts_) {
    parts.push_back(folder_of(r).read(round));
    states.push_back(parts.back().state);
  }
  const CheckpointFolder next(folder, {version(), run_id_, rank_, after_.ranks(), group_.first, group_.count});
  std::vector<Companion> files;
  for (std::size_t i = 0; i < parts.front().files.size(); ++i) {
    const std::string file = path_of(next, parts.front().files[i]);
    if (file.ends_with(".csv")) {
      make_table(file, i, parts);
    } else {
      make_journal(file, i, parts);
    }
    GrowingDigest digest(file);
    files.push_back(next.describe(digest));
  }
  next.write(round, rows_of(states, group_, stateless_), files);
}

/// File `number` of the checkpoints: the k-th entry is made of the k-th entries of all parts.
void FolderRegrouping::make_journal(const std::string& file, std::size_t number,
                                    const std::vector<CheckpointFile>& parts) const {
  std::vector<JournalReader> readers;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const Companion& part = parts[p].files.at(number);
    readers.emplace_back(path_of(folder_of(parts_[p]), part), part.bytes);
  }
  const Journal journal(file);
  while (true) {
    std::vector<Secret<std::string>> entries;
    for (JournalReader& reader : readers) {
      if (auto entry = reader.next()) entries.push_back(std::move(*entry));
    }
    if (entries.empty()) break;
    check<DataError>(entries.size() == parts.size(), "journals '{}' of different ranks have different records", file);
    journal.append(rows_of(entries, group_, stateless_));
  }
  static_cast<void>(journal.settle());
}

void FolderRegrouping::make_table(const std::string& file, std::size_t number,
                                  const std::vector<CheckpointFile>& parts) const {
  Secret<std::vector<std::string>> tables;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const Companion& part = parts[p].files.at(number);
    tables.update([](std::vector<std::string>& all, const std::string& one) { all.push_back(one); },
                  OwnersFile(path_of(folder_of(parts_[p]), part)).read(0, part.bytes));
  }
  OwnersFile::replace(file, tables.map([this](const auto& all) { return join_tables(all, group_); }));
}

}  // namespace starling
