#include "output/directory/run_directory.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "core/text/exact_number.hpp"
#include "files/tell_user.hpp"
#include "net/probes/latency_probes.hpp"
#include "output/directory/file_gathering.hpp"
#include "output/directory/history.hpp"
#include "output/directory/private_folders.hpp"

namespace starling {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view finished_line = "finished\n";
constexpr const char* released_folder = "/released";
constexpr auto between_looks_for_it = std::chrono::milliseconds(100);
constexpr int most_looks_for_it = 30;  ///< network file systems show a new file to other hosts with a delay
constexpr auto longest_end = std::chrono::seconds(10);  ///< of ranks whose launcher was killed, on a busy machine

/// A file that is there for a moment.
class SignOfLife {
 public:
  explicit SignOfLife(std::string path) : path_(std::move(path)), file_(path_, O_CREAT | O_EXCL | O_WRONLY) {}
  ~SignOfLife() { ::unlink(path_.c_str()); }
  SignOfLife(const SignOfLife&) = delete;
  SignOfLife& operator=(const SignOfLife&) = delete;
  [[nodiscard]] bool is_there() const { return file_.get() >= 0; }

 private:
  std::string path_;
  Descriptor file_;
};

/// Opens the folder and locks it. False, with no folder, if another process's lock excludes this one. Where there are
/// no locks, nothing excludes one.
bool lock(std::optional<Descriptor>& folder, const std::string& path, int kind) {
  folder.emplace(path, O_RDONLY | O_DIRECTORY);
  const bool by_another = folder->get() >= 0 && ::flock(folder->get(), kind | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (by_another) folder.reset();
  return !by_another;
}

bool is_held(const std::string& path) {
  std::optional<Descriptor> folder;
  return !lock(folder, path, LOCK_SH);
}

/// Files of the first round, or of the step right before it.
bool has_traces_of_rounds(const std::string& path) {
  for (const char* name : {"/run-id", "/history.csv", "/run.h5", "/summary.json"}) {
    if (fs::exists(path + name)) return true;
  }
  return fs::is_directory(path + "/clients") && !fs::is_empty(path + "/clients");
}

/// Stands in a directory that starling has found empty, or has made, until the run begins.
constexpr const char* beginning = "/run-is-beginning";

bool is_of_a_run_that_never_began(const std::string& path) {
  return fs::exists(path + beginning) && fs::is_regular_file(path + "/config.ini") && !has_traces_of_rounds(path);
}

/// The last line of a config.ini. One that is cut off lacks it: options that are lost would be options not given.
constexpr std::string_view last_line = "# the end";

/// A configuration whose `output`, if it has one, leads to the directory; with its last line.
std::string with_output(const std::string& configuration, const std::string& path) {
  constexpr std::string_view key = "output = ";
  std::string result;
  std::istringstream lines(configuration);
  for (std::string line; std::getline(lines, line);) {
    if (line == last_line) continue;
    std::error_code error;
    const bool moved = line.starts_with(key) && !fs::equivalent(line.substr(key.size()), path, error);
    result += (moved ? std::string(key) + path : line) + "\n";
  }
  return fmt::format("{}{}\n", result, last_line);
}

void require_whole_configuration(const std::string& path) {
  const std::string text = read_whole_file(path + "/config.ini").value_or("");
  check(text.ends_with(fmt::format("{}\n", last_line)),
        "'{}/config.ini' is cut off: its last line is not '{}'. Bring the whole file back", path, last_line);
}

void write_configuration(const std::string& path, const std::string& configuration) {
  const std::string file = path + "/config.ini";
  require_written(replace_file(file, with_output(configuration, path), readable_by_all), file);
}

}  // namespace

RunDirectory::RunDirectory(const std::string& path, const std::string& configuration, Before before,
                           Agreement& agreement, const std::string& place)
    : path_(path), place_(path_, place) {
  try {
    make(configuration, before, agreement);
  } catch (const PeerError&) {
    throw;  // a run whose ranks were killed can begin from what is there
  } catch (const Error&) {
    if (before == Before::nothing) remove(agreement.rank());
    throw;
  }
}

/// A folder of the run that another process holds, or its history; empty if there is none. What is free is held by
/// rank 0 from now on.
std::string RunDirectory::held_by_another(int rank) {
  if (rank == 0) {
    if (!held_ && !lock(held_, path_, LOCK_EX)) return path_;
    if (holding_of(path_ + "/history.csv") == Holding::held) return path_ + "/history.csv";
  }
  if (rank != 0 && !place_.is_own()) return "";  // rank 0 sees all folders
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(place_.path(), none)) {
    if (is_held(entry.path().string())) return entry.path().string();
  }
  return "";
}

/// Holds the run. Waits for ranks of an earlier start, which outlive a launcher that was killed for a moment.
/// Afterwards the run goes on without the folders of ranks other than rank 0: a host that is cut off has such ranks for
/// longer, and they reach nobody. **Collective.**
void RunDirectory::hold(Agreement& agreement) {
  const auto until = std::chrono::steady_clock::now() + longest_end;
  for (bool told = false;; told = true) {
    std::string held;
    agreement.together([&] { held = held_by_another(agreement.rank()); });
    if (!agreement.any(declare_public(!held.empty()))) return;
    const bool waits = agreement.broadcast(declare_public(std::chrono::steady_clock::now() < until));
    agreement.together([&] {
      const bool of_first_rank = agreement.rank() == 0 && (!held_ || held == path_ + "/history.csv");
      check(waits || !of_first_rank, "the run in '{}' goes on: a process holds '{}'. Wait for its end, or end it.",
            path_, held);
    });
    if (!waits) {
      if (!held.empty())
        tell_user("note: a rank of an earlier start holds '{}' still: the run goes on without it\n", held);
      return;
    }
    if (!told && !held.empty()) {
      tell_user(
          "note: ranks of an earlier start have not ended (one holds '{}'): their end is waited for, up to {} s\n",
          held, longest_end.count());
    }
    std::this_thread::sleep_for(between_looks_for_it);
  }
}

/// Rank-local.
void RunDirectory::hold_private_folder(int rank) {
  static_cast<void>(lock(held_private_, private_folder(rank), LOCK_EX));  // a rank that hold() left may have it
}

void RunDirectory::make(const std::string& configuration, Before before, Agreement& agreement) {
  if (before == Before::a_run_that_never_began) hold(agreement);
  place_.clear(agreement, before == Before::a_run_that_never_began);
  bool never_began = false;
  agreement.together([&] {
    if (agreement.rank() != 0) return;
    std::error_code error;
    const bool exists = fs::exists(path_, error);
    check(!exists || fs::is_directory(path_, error),
          "--output '{}' is not a directory: a run needs one of its own. Name another.", path_);
    make_folder(path_);
    check(held_ || lock(held_, path_, LOCK_EX),
          "the run in '{}' goes on: a process holds it. Wait for its end, or end it.", path_);
    never_began = before == Before::a_run_that_never_began && is_of_a_run_that_never_began(path_);
    const bool is_empty = fs::is_empty(path_, error);
    check<FailureError>(never_began || !error, "cannot read --output '{}': {}. Check its owner and permissions.", path_,
                        error.message());
    const std::string has_run = fs::exists(path_ + "/config.ini", error)
                                    ? fmt::format(", or go on with the run in it by --resume {}", path_)
                                    : "";
    check(never_began || is_empty, "--output '{}' is not empty: nothing that exists is overwritten. Name another{}.",
          path_, has_run.empty() ? " or empty it" : has_run);
    was_ = exists ? Was::empty : Was::not_there;
  });
  look(agreement);
  agreement.together([&] {
    if (agreement.rank() != 0) return;
    if (never_began) fs::remove_all(path_ + "/private");
    static_cast<void>(Descriptor(path_ + beginning, O_CREAT | O_WRONLY, readable_by_all));
    write_configuration(path_, configuration);
    make_folder(place_.path());
  });
  agreement.together([&] {
    make_folder(place_.path());
    const std::string folder = private_folder(agreement.rank());
    check<FailureError>(mkdir(folder.c_str(), S_IRWXU) == 0, "cannot make '{}': {}. See to its permissions.", folder,
                        std::strerror(errno));
    hold_private_folder(agreement.rank());
  });
  place_.begin(agreement);
}

void RunDirectory::remove(int rank) const {
  place_.remove(rank);
  std::error_code ignored;
  if (was_ == Was::not_there) fs::remove_all(path_, ignored);
  if (was_ != Was::empty) return;
  for (const auto& entry : fs::directory_iterator(path_, ignored)) fs::remove_all(entry.path(), ignored);
}

void RunDirectory::has_begun() const {
  std::error_code error;
  fs::remove(path_ + beginning, error);
}

bool RunDirectory::never_began(const std::string& path, Agreement& agreement) {
  bool never = false;
  agreement.together([&] { never = agreement.rank() == 0 && is_of_a_run_that_never_began(path); });
  return agreement.broadcast(declare_public(never));
}

RunDirectory RunDirectory::again(const std::string& path, Agreement& agreement, const std::string& place,
                                 std::optional<Membership::Change::Kind> change) {
  RunDirectory directory(path, place);
  directory.hold(agreement);
  directory.look(agreement);
  agreement.together([&] {
    if (agreement.rank() != 0) return;
    require_whole_configuration(path);
    static_cast<void>(directory.identity());
  });
  directory.tell_identity(agreement);
  const RunIdentity identity = directory.identity();
  directory.place_.find(agreement, identity.ranks, identity.moves, change);
  agreement.together([&] { directory.require_folders(change == Membership::Change::Kind::loss); });
  directory.place_.remove_others(agreement);
  directory.hold_private_folder(agreement.rank());
  return directory;
}

/// **Collective.**
void RunDirectory::tell_identity(Agreement& agreement) {
  identity_elsewhere_ = agreement.broadcast(declare_public(agreement.rank() == 0 ? identity_text() : std::string()));
}

/// Finds out whether this rank sees the directory. Without own private folders it must. **Collective.**
void RunDirectory::look(Agreement& agreement) {
  const bool first = agreement.rank() == 0;
  std::string name = fmt::format(".seen-{}", PrivatePlace::make_token());
  std::optional<SignOfLife> sign;
  if (first) sign.emplace(path_ + "/" + name);
  if (first && !sign->is_there()) name.clear();  // nothing can be written here: results are only read
  name = agreement.broadcast(declare_public(name));
  std::error_code unseen;
  const auto is_there = [&] { return first || name.empty() || fs::exists(path_ + "/" + name, unseen); };
  const int looks = place_.is_own() ? 1 : most_looks_for_it;
  for (int look = 1; look < looks && !is_there(); ++look) std::this_thread::sleep_for(between_looks_for_it);
  seen_ = is_there();
  const std::string host = agreement.broadcast(declare_public(host_name()));
  agreement.together([&] {
    check(seen_ || place_.is_own(),
          "the run directory '{}' of rank 0 on {} is not seen from here: each host has a folder of its own there, or "
          "none. Name one on a disk that all hosts share, or begin the run with --private DIR, a folder on each host's "
          "own disk: then only rank 0 needs the run directory.",
          path_, host);
  });
}

std::string RunDirectory::file(const std::string& name, int rank) const {
  return fmt::format("{}/{}", seen_ ? path_ : private_folder(rank) + released_folder, name);
}

void RunDirectory::bring_in(Agreement& agreement) const {
  gather_files(agreement, seen_ ? "" : private_folder(agreement.rank()) + released_folder, {path_});
}

void RunDirectory::require_folders(bool lost) const {
  if (place_.is_own()) return;
  check(
      fs::is_directory(path_ + "/private"),
      "'{}' has no folder 'private': it holds what the run would go on from, and was not copied along. Bring it back.",
      path_);
  for (int r = 0; r < identity().ranks && !lost; ++r) {
    check(fs::is_directory(private_folder(r)),
          "'{}' is gone: clients would go on from it. Bring it back, or go on without these clients: --lost missing.",
          private_folder(r));
  }
}

std::string RunDirectory::make_next_folder(int rank) const {
  make_folder(place_.path());  // a host that is new to the run has none
  const std::string folder = place_.folder(rank);
  std::error_code error;
  fs::remove_all(folder, error);
  const bool made = !error && mkdir(folder.c_str(), S_IRWXU) == 0;
  check<FailureError>(made, "cannot make '{}' ({})", folder, error ? error.message() : std::strerror(errno));
  place_.mark(folder);
  return folder;
}

// Writing the identity is the step that counts. After a crash before it the earlier folders count, after one behind it
// the new ones. The next start removes the others.
void RunDirectory::take_next_folders(Agreement& agreement, RunIdentity next) {
  next.moves = place_.moves();
  agreement.together([&] { require_written(sync_folder_of(place_.folder(agreement.rank())), place_.path()); });
  agreement.together([&] {
    if (agreement.rank() != 0) return;
    fs::remove_all(path_ + "/clients");  // made again from the journals
    write_identity(next, "");
  });
  place_.end_move(agreement);
  hold_private_folder(agreement.rank());
  tell_identity(agreement);
}

void RunDirectory::settle_determination(const std::string& digest) const {
  RunIdentity now = identity();
  now.determined_by = digest;
  write_identity(now, "");
}

std::optional<Round> RunDirectory::finished_rounds() const {
  const std::optional<std::string> text = read_whole_file(summary_file());
  if (!text) return std::nullopt;
  const auto summary = nlohmann::json::parse(*text, nullptr, false);
  if (!summary.is_object() || !summary.contains("rounds") || !summary.contains("rounds_planned")) return std::nullopt;
  const auto rounds = whole_number<Round>(summary["rounds"]);
  if (!rounds || summary["rounds"] != summary["rounds_planned"]) return std::nullopt;
  const bool whole = read_whole_file(path_ + "/run-id").value_or("").ends_with(finished_line);
  // Else it was killed while it wrote its results, which are made again from its last checkpoint, if it has one.
  if (!whole && fs::exists(fmt::format("{}/{}{}", private_folder(0), checkpoint_prefix, *rounds))) return std::nullopt;
  return rounds;
}

bool RunDirectory::has_checkpoints(int rank) const {
  const auto is_one = [](const auto& entry) { return entry.path().filename().string().starts_with(checkpoint_prefix); };
  return std::any_of(fs::directory_iterator(private_folder(rank)), fs::directory_iterator(), is_one);
}

std::string RunDirectory::members_list() const {
  return read_whole_file(path_ + "/members").value_or("");
}

void RunDirectory::keep_members(const std::string& list) const {
  const std::string file = path_ + "/members";
  require_written(replace_file(file, list, readable_by_all), file);
}

std::string RunDirectory::notes() const {
  return read_whole_file(notes_file()).value_or("");
}

void RunDirectory::keep_notes(const std::string& text) const {
  require_written(replace_file(notes_file(), text, readable_by_all), notes_file());
}

void RunDirectory::replace_configuration(const std::string& configuration) const {
  write_configuration(path_, configuration);
}

void RunDirectory::set_configuration(const std::string& configuration, const std::vector<std::string>& keys) const {
  const auto has_one = [&](const std::string& line) {
    return std::ranges::any_of(keys, [&](const std::string& key) { return line.starts_with(key + " = "); });
  };
  const std::string before = read_whole_file(path_ + "/config.ini").value_or("");
  std::string after;
  std::istringstream old_lines(before);
  for (std::string line; std::getline(old_lines, line);) {
    if (!has_one(line)) after += line + "\n";
  }
  std::istringstream new_lines(configuration);
  for (std::string line; std::getline(new_lines, line);) {
    if (has_one(line)) after += line + "\n";
  }
  write_configuration(path_, after);
}

void RunDirectory::forget_results() const {
  for (const std::string& file : {summary_file(), path_ + "/privacy.txt"}) fs::remove(file);
}

void RunDirectory::write_identity(const RunIdentity& identity, const std::string& state) const {
  const std::string file = path_ + "/run-id";
  const std::string text = identity.text() + (state.empty() ? "" : state + "\n");
  require_written(replace_file(file, text, readable_by_all), file);
}

std::string RunDirectory::identity_text() const {
  return seen_ ? read_whole_file(path_ + "/run-id").value_or("") : identity_elsewhere_;
}

RunIdentity RunDirectory::identity() const {
  return RunIdentity::parse(identity_text(), path_);
}

std::string RunDirectory::clients_name(int rank) {
  return fmt::format("clients/{}.h5", rank);
}

}  // namespace starling
