/// The place of a run's private folders: in the run directory, or on the disk of each host (`--private`).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/clients/membership.hpp"
#include "core/links.hpp"
#include "net/agreement.hpp"

namespace starling {

/// Ranks that follow one another and see the same private folders.
struct RanksOfPlace {
  int ranks = 0;
  std::string host;          ///< of the first of them
  std::vector<int> folders;  ///< numbers of the private folders that they see, ascending
};

/// A layout of `clients` clients, the first of which have private folders with the layout `before`. Folders `gone`
/// (ascending) are of no use. The clients of each other folder are on ranks that see it; ranks of one place share
/// theirs evenly. Clients of gone folders go with their neighbours. New clients are on the places behind those of the
/// others, or on the last of these. Throws UsageError if no such layout exists, since each rank has one contiguous
/// block, or if a place has no folder of use and gets no new client.
[[nodiscard]] Layout layout_of_folders(const Layout& before, const std::vector<int>& gone, Client clients,
                                       const std::vector<RanksOfPlace>& places);

struct FolderIndex;
struct FolderSight;

/// Throws UsageError unless the text is a value of `--private`.
void check_private_place(const std::string& pattern);

/// The places of the ranks' private folders, as one rank sees them. A folder is never replaced: its name has the number
/// of its rank, and how often the run's clients have moved to other folders (`2`, then `2.1`, `2.2`, …). The identity
/// of the run has that number too, so every host can tell the folders that count. A folder outside of the run directory
/// holds the run's token, a random name, in its file `of-run`. The file private-folders of the run directory holds the
/// token too, with the host and the path of each rank's folder.
class PrivatePlace {
 public:
  /// The place that `pattern` names on this host: {host} stands for the host's name. Empty: the folder `private` of the
  /// run directory. Throws UsageError for other braces.
  PrivatePlace(std::string run, const std::string& pattern);

  /// A random name. It is not secret.
  [[nodiscard]] static std::string make_token();

  /// Whether the folders are outside of the run directory.
  [[nodiscard]] bool is_own() const { return own_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Number of moves after which clients came to the folders: 0 at first.
  [[nodiscard]] int moves() const { return moves_ + (moving_ ? 1 : 0); }
  /// The private folder of a rank: where it was found, else where it is to be made.
  [[nodiscard]] std::string folder(int rank) const { return moving_ ? folder_here(rank) : earlier_folder(rank); }
  /// The folder that a rank had before clients began to move.
  [[nodiscard]] std::string earlier_folder(int rank) const;

  // Unless they say otherwise, the following do nothing in the run directory. All are **collective**.

  /// Requires an empty place for a run that begins. What a run has left that never began, is removed. Throws
  /// UsageError.
  void clear(Agreement& agreement, bool never_began);
  /// Marks the rank's folder, which has been made, and notes where the folders of all ranks are.
  void begin(Agreement& agreement);
  /// Removes this rank's folder after clear(), and the place if it was not there. Rank-local.
  void remove(int rank) const;
  /// Finds the folders of the `ranks` ranks of an earlier start, in the run directory too, after so many moves.
  /// `change` is that of the clients. Throws UsageError if there are copies of different age, or if a folder is on no
  /// host, unless clients are lost. With as many ranks as before, and the same clients, each rank must see its own
  /// folder.
  void find(Agreement& agreement, int ranks, int moves, std::optional<Membership::Change::Kind> change);
  /// Removes folders of the run that do not count, in the run directory too: a crash left them before or after a move.
  void remove_others(Agreement& agreement);
  /// Notes where the folders of all ranks are from now on.
  void note(Agreement& agreement) const;
  /// Clients are going to move: folder() gives the folders that are made for them. Rank-local.
  void begin_move() { moving_ = true; }
  /// Ends a move, once the run directory says that it counts. Removes the earlier folders, in the run directory too.
  void end_move(Agreement& agreement);

  /// Whether this rank sees the folder that `rank` had before this start; always in the run directory.
  [[nodiscard]] bool sees(int rank) const { return !own_ || found_.contains(rank); }
  /// Whether each rank sees its own folder, and there are as many as before; always in the run directory.
  [[nodiscard]] bool all_see_own() const { return !own_ || all_see_own_; }
  /// The folders that `rank` reads, of `size` ranks now, where ranks that see the same folders divide them among
  /// themselves. The run had `ranks` folders.
  [[nodiscard]] std::vector<int> share(int ranks, int rank, int size) const;
  /// A layout of `clients` clients on `ranks` ranks, after that of the folders (layout_of_folders()); in the run
  /// directory, and where all ranks see the same folders, one of even lengths. Throws UsageError.
  [[nodiscard]] Layout layout(const Layout& before, const std::vector<int>& gone, Client clients, int ranks) const;
  /// Marks a folder that has been made for a rank. Rank-local.
  void mark(const std::string& folder) const;

 private:
  struct View {
    std::string folders;  ///< those of the run as it is now
    std::string others;   ///< those of an earlier state, or of another run
  };
  [[nodiscard]] FolderIndex take_index(Agreement& agreement);
  [[nodiscard]] std::string folder_here(int rank) const;
  [[nodiscard]] View look(const FolderIndex& index);
  static void refuse_copies(const std::string& run, const std::vector<FolderSight>& sights);
  void require(const FolderIndex& index, int ranks, const std::vector<FolderSight>& all,
               const std::vector<FolderSight>& others, bool move) const;
  [[nodiscard]] std::vector<FolderSight> note_places(Agreement& agreement, const std::string& seen);
  void in_turns(Agreement& agreement, const std::function<void()>& f) const;
  void remove_others_here() const;

  std::string run_;
  std::string path_;
  std::string host_;
  std::string token_;
  int moves_ = 0;                 ///< before clients came to the folders that were found
  bool moving_ = false;           ///< clients are going to move to other folders
  bool removes_earlier_ = false;  ///< folders that clients have left are still there, and known as such
  bool own_ = false;
  bool all_see_own_ = false;
  bool is_cleared_ = false;
  bool was_there_ = false;            ///< before this run, on this host
  int rank_ = 0;                      ///< of this process, once it has looked
  std::map<int, std::string> found_;  ///< by rank
  std::vector<int> turns_;            ///< ranks that see the same folders as this one, ascending
  std::vector<RanksOfPlace> places_;  ///< of all ranks, in their order
};

}  // namespace starling
