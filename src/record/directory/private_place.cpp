#include "starling/record/directory/private_place.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <random>
#include <sstream>
#include <string_view>
#include <sys/stat.h>
#include <tuple>
#include <utility>

#include "starling/core/check.hpp"
#include "starling/files/durable_file.hpp"
#include "starling/net/probes/latency_probes.hpp"

namespace starling {

namespace fs = std::filesystem;

namespace {

constexpr const char* index_name = "/private-folders";
constexpr const char* mark_name = "/of-run";
constexpr std::string_view checkpoint_name = "checkpoint-";
constexpr std::string_view host_place = "{host}";
constexpr mode_t mode_of_index = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH;

std::string on_host(std::string pattern, const std::string& host) {
  for (std::size_t at = 0; (at = pattern.find(host_place, at)) != std::string::npos; at += host.size()) {
    pattern.replace(at, host_place.size(), host);
  }
  check(pattern.find_first_of("{}\n") == std::string::npos,
        "--private '{}': only {} can stand in braces there (a rank has one folder for all its clients). Name a folder, "
        "as in /scratch/{}/run.",
        pattern, host_place, host_place);
  return pattern;
}

void write(const std::string& file, const std::string& text, mode_t mode) {
  const int error = replace_file(file, text, mode);
  check<FailureError>(error == 0, "cannot write '{}' ({})", file, std::strerror(error));
}

/// A private folder that a host sees.
struct Sight {
  int rank = 0;
  std::string host;
  std::string path;
  std::string id;        ///< the same of two sights of one folder, different of a copy
  long long round = 0;   ///< of the newest checkpoint
  long long ledger = 0;  ///< bytes of the ledger
  [[nodiscard]] auto age() const { return std::tie(round, ledger); }
  [[nodiscard]] std::string text() const {
    return fmt::format("{} {} {} {} {} {}\n", rank, host, id, round, ledger, path);
  }
  [[nodiscard]] std::string shown() const {
    return fmt::format("'{}' on {} (checkpoint of round {}, {} bytes of ledger)", path, host, round, ledger);
  }
};

Sight sight_of(int rank, const std::string& host, const std::string& folder) {
  Sight sight{rank, host, folder, "", 0, 0};
  struct stat status {};
  if (::stat(folder.c_str(), &status) == 0) {
    sight.id = fmt::format("{}.{}.{}", status.st_ino, status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
  }
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    long long round = 0;
    const char* const end = name.data() + name.size();
    if (!name.starts_with(checkpoint_name)) continue;
    const auto [rest, error] = std::from_chars(name.data() + checkpoint_name.size(), end, round);
    if (error == std::errc() && rest == end) sight.round = std::max(sight.round, round);
  }
  const auto bytes = fs::file_size(folder + "/ledger", ignored);
  if (!ignored) sight.ledger = static_cast<long long>(bytes);
  return sight;
}

std::vector<Sight> sights_in(const std::vector<std::string>& texts) {
  std::vector<Sight> sights;
  for (const std::string& text : texts) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      Sight sight;
      words >> sight.rank >> sight.host >> sight.id >> sight.round >> sight.ledger;
      std::getline(words >> std::ws, sight.path);
      sights.push_back(sight);
    }
  }
  return sights;
}

/// Throws UsageError if a folder is there twice and one of them is older: what it lacks would be played or charged
/// anew.
void refuse_copies(const std::string& run, const std::vector<Sight>& sights) {
  std::map<int, Sight> first;
  for (const Sight& sight : sights) {
    const auto [at, is_new] = first.emplace(sight.rank, sight);
    const Sight& other = at->second;
    if (is_new || sight.id == other.id || sight.age() == other.age()) continue;
    const bool newer = sight.age() > other.age();
    throw UsageError(fmt::format(
        "--resume '{}': the private folder of rank {} is there twice, and of different age: {} is newer, {} is older. "
        "Remove the older one, or move it away.",
        run, sight.rank, (newer ? sight : other).shown(), (newer ? other : sight).shown()));
  }
}

}  // namespace

struct PrivatePlace::Index {
  struct Line {
    std::string host;
    std::string path;
  };
  std::string token;
  std::vector<Line> folders;  ///< by rank

  static Index of(const std::string& text);
};

PrivatePlace::Index PrivatePlace::Index::of(const std::string& text) {
  std::istringstream lines(text);
  Index index;
  std::getline(lines, index.token);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Index::Line folder;
    std::string rank;
    words >> rank >> folder.host;
    std::getline(words >> std::ws, folder.path);
    index.folders.push_back(folder);
  }
  return index;
}

std::string PrivatePlace::make_token() {
  std::random_device source;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", source(), source(), source(), source());
}

void check_private_place(const std::string& pattern) {
  static_cast<void>(on_host(pattern, "host"));
}

PrivatePlace::PrivatePlace(std::string run, const std::string& pattern)
    : run_(std::move(run)), path_(run_ + "/private"), own_(!pattern.empty()) {
  if (!own_) return;
  host_ = host_name();
  path_ = fs::absolute(on_host(pattern, host_)).lexically_normal().string();
}

std::string PrivatePlace::folder(int rank) const {
  const auto found = found_.find(rank);
  return found != found_.end() ? found->second : fmt::format("{}/{}", path_, rank);
}

bool PrivatePlace::is_of_run(const std::string& folder, const std::string& token) const {
  return !token.empty() && read_whole_file(folder + mark_name) == token + "\n";
}

std::vector<std::string> private_folders_of(const std::string& run) {
  std::vector<std::string> folders;
  if (const auto text = read_whole_file(run + index_name)) {
    for (const auto& each : PrivatePlace::Index::of(*text).folders) folders.push_back(each.path);
    return folders;
  }
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(run + "/private", ignored)) folders.push_back(entry.path().string());
  std::sort(folders.begin(), folders.end());
  return folders;
}

/// What private-folders says, as rank 0 reads it; nothing without the file. **Collective.**
PrivatePlace::Index PrivatePlace::take_index(Agreement& agreement) {
  std::string text;
  if (agreement.rank() == 0) text = read_whole_file(run_ + index_name).value_or("");
  const Index index = Index::of(agreement.broadcast(declare_public(text)));
  token_ = index.token;
  return index;
}

void PrivatePlace::clear(Agreement& agreement, bool never_began) {
  if (!own_) return;
  static_cast<void>(take_index(agreement));
  agreement.together([&] {
    const std::string folder = fmt::format("{}/{}", path_, agreement.rank());
    if (never_began && is_of_run(folder, token_)) fs::remove_all(folder);
  });
  agreement.together([&] {
    std::error_code error;
    const bool empty = !fs::exists(path_, error) || fs::is_empty(path_, error);
    check(empty && !error,
          "--private '{}' on {} is not an empty folder (keys and ledgers of another run may be there) name another, or "
          "empty it",
          path_, host_);
  });
  token_ = agreement.broadcast(declare_public(agreement.rank() == 0 ? make_token() : std::string()));
}

void PrivatePlace::begin(Agreement& agreement) {
  if (!own_) return;
  agreement.together([&] { mark(folder(agreement.rank())); });
  note(agreement);
}

void PrivatePlace::mark(const std::string& folder) const {
  if (own_) write(folder + mark_name, token_ + "\n", S_IRUSR | S_IWUSR);
}

/// This host's view, for all: a line for each folder that it sees. One rank of each host has some.
std::string PrivatePlace::look(const Index& index, int ranks) {
  std::string seen;
  for (int r = 0; r < ranks; ++r) {
    std::vector<std::string> places{fmt::format("{}/{}", path_, r)};
    const auto at = static_cast<std::size_t>(r);
    if (at < index.folders.size() && index.folders[at].path != places.front()) places.push_back(index.folders[at].path);
    for (const std::string& place : places) {
      if (!is_of_run(place, index.token)) continue;
      found_.emplace(r, place);
      seen += sight_of(r, host_, place).text();
    }
  }
  return seen;
}

void PrivatePlace::require(const Index& index, int ranks, int rank, bool other_ranks) const {
  for (int r = 0; r < ranks; ++r) {
    if (found_.contains(r) || (r != rank && !other_ranks)) continue;
    const auto at = static_cast<std::size_t>(r);
    const bool known = at < index.folders.size();
    const std::string last = known ? fmt::format("'{}' on {}", index.folders[at].path, index.folders[at].host) : "lost";
    check(!other_ranks,
          "--resume '{}': the run had {} ranks, and the private folder of rank {} is not on {} (it was last {}; with "
          "another number of ranks all hosts must see all private folders). Start {} ranks on the hosts that "
          "'{}{}' names, or copy the folder to '{}/{}'.",
          run_, ranks, r, host_, last, ranks, run_, index_name, path_, r);
    throw UsageError(fmt::format(
        "--resume '{}': the private folder of rank {} is not on {} (it was last {}). Start that rank there, "
        "or copy the folder to '{}/{}'.",
        run_, r, host_, last, path_, r));
  }
}

void PrivatePlace::find(Agreement& agreement, int ranks, bool lost) {
  if (!own_) return;
  const std::vector<std::string> hosts = agreement.all_gather(declare_public(host_));
  const auto speaker = std::find(hosts.begin(), hosts.end(), host_) - hosts.begin();
  const Index index = take_index(agreement);
  std::string seen;
  agreement.together([&] {
    check(!token_.empty(), "'{}{}' is gone (it says where private folders are) bring it back", run_, index_name);
    seen = look(index, ranks);
  });
  const bool speaks = speaker == agreement.rank();
  const std::vector<Sight> all = sights_in(agreement.all_gather(declare_public(speaks ? seen : std::string())));
  agreement.together([&] { refuse_copies(run_, all); });
  const bool other_ranks = ranks != agreement.ranks();
  agreement.together([&] {
    if (!lost) require(index, ranks, agreement.rank(), other_ranks);
  });
  std::string ids;
  for (const Sight& sight : sights_in({seen})) ids += sight.id + " ";
  const bool one_place = agreement.alike(declare_public(ids + path_));
  agreement.together([&] {
    check(one_place || !lost,
          "--lost '{}': private folders that are left are on disks of several hosts (clients move only between ranks "
          "that see one folder, under one name) start all ranks on one host that has all of them",
          run_);
    check(
        one_place || !other_ranks,
        "--resume '{}': the run had {} ranks, and private folders are on disks of several hosts (clients move only "
        "between ranks that see one folder, under one name). Start {} ranks on the hosts that '{}{}' names, or all on "
        "one host that has all folders.",
        run_, ranks, ranks, run_, index_name);
  });
}

void PrivatePlace::note(Agreement& agreement) const {
  if (!own_) return;
  const std::string here = fmt::format("{} {}", host_, folder(agreement.rank()));
  const std::vector<std::string> lines = agreement.all_gather(declare_public(here));
  agreement.together([&] {
    if (agreement.rank() != 0) return;
    std::string text = token_ + "\n";
    for (std::size_t r = 0; r < lines.size(); ++r) text += fmt::format("{} {}\n", r, lines[r]);
    write(run_ + index_name, text, mode_of_index);
  });
}

}  // namespace starling
