#include "output/directory/private_place.hpp"

#include <algorithm>
#include <cstddef>
#include <random>
#include <set>
#include <utility>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "files/durable_file.hpp"
#include "net/probes/latency_probes.hpp"
#include "output/directory/owners_file.hpp"
#include "output/directory/private_folders.hpp"

namespace starling {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view host_place = "{host}";

std::string on_host(std::string pattern, const std::string& host) {
  for (std::size_t at = 0; (at = pattern.find(host_place, at)) != std::string::npos; at += host.size()) {
    pattern.replace(at, host_place.size(), host);
  }
  check(pattern.find_first_of("{}\n") == std::string::npos,
        "--private '{}': only {} can stand in braces there: a rank has one folder for all its clients. Name a folder, "
        "as in /scratch/{}/run.",
        pattern, host_place, host_place);
  return pattern;
}

void write(const std::string& file, const std::string& text, mode_t mode) {
  require_written(replace_file(file, text, mode), file);
}

}  // namespace

/// Throws UsageError if a folder is there twice and one of them is older: what it lacks would be played or charged
/// anew.
void PrivatePlace::refuse_copies(const std::string& run, const std::vector<FolderSight>& sights) {
  std::map<int, FolderSight> first;
  for (const FolderSight& sight : sights) {
    const auto [at, is_new] = first.emplace(sight.rank, sight);
    const FolderSight& other = at->second;
    if (is_new || sight.id == other.id || sight.age() == other.age()) continue;
    const bool newer = sight.age() > other.age();
    throw UsageError(fmt::format(
        "--resume '{}': the private folder of rank {} is there twice, and of different age: {} is newer, {} is older. "
        "Remove the older one, or move it away.",
        run, sight.rank, (newer ? sight : other).shown(), (newer ? other : sight).shown()));
  }
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

std::string PrivatePlace::folder_here(int rank) const {
  return fmt::format("{}/{}", path_, FolderName{rank, moves()}.text());
}

std::string PrivatePlace::earlier_folder(int rank) const {
  const auto found = found_.find(rank);
  return found != found_.end() ? found->second : fmt::format("{}/{}", path_, FolderName{rank, moves_}.text());
}

/// The content of private-folders, as rank 0 reads it; empty without the file. **Collective.**
FolderIndex PrivatePlace::take_index(Agreement& agreement) {
  std::string text;
  if (agreement.rank() == 0) text = read_whole_file(run_ + folder_index_file).value_or("");
  const FolderIndex index = FolderIndex::of(agreement.broadcast(declare_public(text)));
  token_ = index.token;
  return index;
}

void PrivatePlace::clear(Agreement& agreement, bool never_began) {
  if (!own_) return;
  static_cast<void>(take_index(agreement));
  agreement.together([&] {
    const std::string folder = fmt::format("{}/{}", path_, agreement.rank());
    if (never_began && has_token(folder, token_)) fs::remove_all(folder);
  });
  agreement.together([&] {
    std::error_code error;
    was_there_ = fs::exists(path_, error);
    const bool empty = !was_there_ || fs::is_empty(path_, error);
    check(empty && !error,
          "--private '{}' on {} is not an empty folder: keys and ledgers of another run may be there. Name another, or "
          "empty it.",
          path_, host_);
  });
  is_cleared_ = true;
  token_ = agreement.broadcast(declare_public(agreement.rank() == 0 ? make_token() : std::string()));
}

void PrivatePlace::remove(int rank) const {
  if (!is_cleared_) return;
  std::error_code ignored;
  if (has_token(folder(rank), token_)) {
    fs::remove_all(folder(rank), ignored);
  } else {
    fs::remove(folder(rank), ignored);  // if it is empty: files without the token are another run's
  }
  if (!was_there_) fs::remove(path_, ignored);  // unless other ranks have folders in it
}

void PrivatePlace::begin(Agreement& agreement) {
  if (!own_) return;
  agreement.together([&] { mark(folder(agreement.rank())); });
  note(agreement);
}

void PrivatePlace::mark(const std::string& folder) const {
  if (own_) write(folder + "/" + token_file, token_ + "\n", S_IRUSR | S_IWUSR);
}

/// This rank's view, for all: a line for each folder of the run that it sees; and for each in the place that is no such
/// folder, of an earlier state or of another run.
PrivatePlace::View PrivatePlace::look(const FolderIndex& index) {
  std::vector<std::string> places;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(path_, none)) places.push_back(entry.path().string());
  std::ranges::sort(places);
  for (const FolderIndex::Line& line : index.folders) {
    if (fs::path(line.path).parent_path() != path_) places.push_back(line.path);
  }
  View view;
  for (const std::string& place : places) {
    const std::optional<FolderName> name = FolderName::of(place);
    if (!name || !fs::exists(place + "/" + token_file, none)) continue;
    const bool is_current = name->moves == moves_ && has_token(place, token_);
    if (is_current) found_.emplace(name->rank, place);
    (is_current ? view.folders : view.others) += FolderSight::of(name->rank, host_, place).text();
  }
  return view;
}

/// Each rank sees its own folder; where clients move, each folder is on some host.
void PrivatePlace::require(const FolderIndex& index, int ranks, const std::vector<FolderSight>& all,
                           const std::vector<FolderSight>& others, bool move) const {
  std::set<int> seen;
  for (const FolderSight& sight : all) seen.insert(sight.rank);
  for (int r = move ? 0 : rank_; r < (move ? ranks : rank_ + 1); ++r) {
    if (move ? seen.contains(r) : found_.contains(r)) continue;
    const auto at = static_cast<std::size_t>(r);
    const bool known = at < index.folders.size();
    const std::string last = known ? fmt::format("'{}' on {}", index.folders[at].path, index.folders[at].host) : "lost";
    const auto other = std::ranges::find_if(
        others, [&](const FolderSight& sight) { return sight.rank == r && (move || sight.host == host_); });
    const std::string of_other = other == others.end() ? ""
                                                       : fmt::format(
                                                             "; {} is of an earlier state of the run, before its "
                                                             "private folders were made anew for other ranks or "
                                                             "clients, or of another run",
                                                             other->shown());
    throw UsageError(fmt::format(
        "--resume '{}': the private folder of rank {} is not on {}: it was last {}{}. Start {} there, or copy the "
        "folder to '{}'.",
        run_, r, move ? "any of these hosts" : host_, last, of_other, move ? "a rank" : "that rank", folder_here(r)));
  }
}

/// Calls f on one rank of each place, one after the other. **Collective.**
void PrivatePlace::in_turns(Agreement& agreement, const std::function<void()>& f) const {
  std::set<std::string> had;
  const std::vector<std::string> all = agreement.all_gather(declare_public(host_ + " " + path_));
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (!had.insert(all[r]).second) continue;
    agreement.together([&] {
      if (static_cast<int>(r) == agreement.rank()) f();
    });
  }
}

/// Folders from before a move stay unless it is known that their clients have left them: they may be of a lost host.
void PrivatePlace::remove_others_here() const {
  std::error_code none;
  std::vector<fs::path> places;
  for (const auto& entry : fs::directory_iterator(path_, none)) places.push_back(entry.path());
  for (const auto& [rank, place] : found_) places.emplace_back(place);
  for (const fs::path& place : places) {
    const std::optional<FolderName> name = FolderName::of(place);
    if (!name || name->moves == moves_ || (name->moves < moves_ && !removes_earlier_)) continue;
    if (!own_ || has_token(place.string(), token_)) fs::remove_all(place);
  }
}

void PrivatePlace::remove_others(Agreement& agreement) {
  in_turns(agreement, [&] { remove_others_here(); });
}

void PrivatePlace::find(Agreement& agreement, int ranks, int moves, std::optional<Membership::Change::Kind> change) {
  moves_ = moves;
  removes_earlier_ = true;
  if (!own_) return;
  rank_ = agreement.rank();
  const FolderIndex index = take_index(agreement);
  agreement.together([&] {
    check(!token_.empty(), "'{}{}' is gone: it says where private folders are. Bring it back.", run_,
          folder_index_file);
  });
  removes_earlier_ = index.moves < moves_;  // a crash came before the latest folders were noted
  View view;
  agreement.together([&] { view = look(index); });
  const std::vector<FolderSight> all = note_places(agreement, view.folders);
  const std::vector<std::string> others = agreement.all_gather(declare_public(view.others));
  agreement.together([&] { refuse_copies(run_, all); });
  const bool move = change || ranks != agreement.ranks();
  agreement.together([&] {
    if (change != Membership::Change::Kind::loss)
      require(index, ranks, all, FolderSight::in(fmt::format("{}", fmt::join(others, ""))), move);
  });
  all_see_own_ = ranks == agreement.ranks() && agreement.all(declare_public(sees(rank_)));
}

/// Finds out which ranks see the same folders. Returns what one rank of each place sees. **Collective.**
std::vector<FolderSight> PrivatePlace::note_places(Agreement& agreement, const std::string& seen) {
  std::string key;
  for (const FolderSight& sight : FolderSight::in(seen)) key += fmt::format("{} {} ", sight.rank, sight.id);
  const std::vector<std::string> keys = agreement.all_gather(declare_public(sha256(key + path_)));
  const std::vector<std::string> hosts = agreement.all_gather(declare_public(host_));
  std::map<std::string, int> first;
  for (std::size_t r = 0; r < keys.size(); ++r) first.emplace(keys[r], static_cast<int>(r));
  const bool speaks = first.at(keys[static_cast<std::size_t>(rank_)]) == rank_;
  const std::vector<std::string> texts = agreement.all_gather(declare_public(speaks ? seen : std::string()));
  std::vector<FolderSight> all;
  for (const std::string& text : texts) {
    const std::vector<FolderSight> here = FolderSight::in(text);
    all.insert(all.end(), here.begin(), here.end());
  }
  turns_.clear();
  for (std::size_t r = 0; r < keys.size(); ++r) {
    if (keys[r] == keys[static_cast<std::size_t>(rank_)]) turns_.push_back(static_cast<int>(r));
    if (r > 0 && keys[r] == keys[r - 1]) {
      ++places_.back().ranks;
      continue;
    }
    places_.push_back({1, hosts[r], {}});
    std::set<int> folders;
    for (const FolderSight& sight : FolderSight::in(texts[static_cast<std::size_t>(first.at(keys[r]))]))
      folders.insert(sight.rank);
    places_.back().folders.assign(folders.begin(), folders.end());
  }
  return all;
}

std::vector<int> PrivatePlace::share(int ranks, int rank, int size) const {
  std::vector<int> all;
  for (int r = 0; r < ranks; ++r) {
    if (sees(r)) all.push_back(r);
  }
  const bool own = !turns_.empty();
  const std::size_t turns = own ? turns_.size() : static_cast<std::size_t>(size);
  const auto turn = own ? std::ranges::find(turns_, rank) - turns_.begin() : std::ptrdiff_t{rank};
  std::vector<int> some;
  for (auto k = static_cast<std::size_t>(turn); k < all.size(); k += turns) some.push_back(all[k]);
  return some;
}

Layout PrivatePlace::layout(const Layout& before, const std::vector<int>& gone, Client clients, int ranks) const {
  if (places_.size() <= 1) return {clients, ranks};
  return layout_of_folders(before, gone, clients, places_);
}

void PrivatePlace::end_move(Agreement& agreement) {
  moves_ = std::exchange(moving_, false) ? moves_ + 1 : moves_;
  removes_earlier_ = true;
  remove_others(agreement);
  found_.clear();
}

void PrivatePlace::note(Agreement& agreement) const {
  if (!own_) return;
  const std::string here = fmt::format("{} {}", host_, folder(agreement.rank()));
  const std::vector<std::string> lines = agreement.all_gather(declare_public(here));
  agreement.together([&] {
    if (agreement.rank() != 0) return;
    std::string text = fmt::format("{} {}\n", token_, moves_);
    for (std::size_t r = 0; r < lines.size(); ++r) text += fmt::format("{} {}\n", r, lines[r]);
    write(run_ + folder_index_file, text, readable_by_all);
  });
}

}  // namespace starling
