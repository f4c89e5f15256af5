/// What a run reads before its first round: its clients, their records, and those of --test.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/boundary.hpp"
#include "core/clients/membership.hpp"
#include "core/links.hpp"
#include "data/serving/dataset.hpp"
#include "net/agreement.hpp"
#include "net/world.hpp"
#include "owners_notes.hpp"
#include "privacy/statement/terms.hpp"

namespace starling {

class Configuration;
class FirstReading;
class Introductions;
struct LearningConfig;
struct ServedRounds;

/// Rounds of a run over streams without end that says no number.
inline constexpr Round rounds_of_endless_streams = 1000;

/// Records of the client that has most; none for a source without end. **Collective.**
[[nodiscard]] std::optional<std::int64_t> most_records_of_clients(Agreement& agreement, const Dataset& dataset);

/// What a run that goes on keeps of its earlier starts.
struct EarlierStarts {
  Layout layout;             ///< of its clients on the present ranks
  Round rounds_of_pass = 0;  ///< of records that are dealt evenly; 0 where nothing says it
};

/// The inputs of a run on one rank. Functions stand in the order in which they are called.
class RunInputs {
 public:
  /// Notes for the user are added to `notes`. Keeps references.
  RunInputs(World& world, const Configuration& configuration, std::vector<std::string>& notes);
  ~RunInputs();

  std::optional<EarlierStarts> earlier;  ///< of a run that goes on
  Membership members;                    ///< of a run that goes on: its clients, and those that are lost or have joined
  std::string rewired;  ///< spec of the graph of those that are there; empty for that of all, without the lost ones
  std::string members_before;                    ///< of a run that goes on: its list of members; empty if it had none
  std::optional<Layout> layout;                  ///< once clients are placed
  SealedMessages sealed = SealedMessages::none;  ///< of runs with --members
  std::shared_ptr<const Introductions> introductions;  ///< of runs with --members, once introduce() is through
  std::shared_ptr<FirstReading> first_reading;         ///< of all files of the run
  Dataset dataset;
  std::vector<std::string> more_files;      ///< what the run learns from beside sources()
  std::vector<std::string> source_digests;  ///< digests_of_sources() of the records that were read
  std::optional<Batch> test;
  std::optional<Batching> batching;  ///< of records that are dealt evenly
  OwnersNotes for_owner;

  /// Assigns the clients of a topology to ranks, or those asked for, or one client per rank. Throws UsageError if a
  /// rank would host several clients and nobody asked for that.
  void place_clients(std::optional<Client> of_topology = std::nullopt);
  /// The members of the run prove to each other who they are, if it has --members: before any record is read. From then
  /// on messages are sealed (--seal). **Collective.** Throws UsageError and FailureError, which name a member or a
  /// client.
  void introduce();
  [[nodiscard]] Client first_client() const { return layout->first(world_.rank()); }
  [[nodiscard]] Client client_count() const { return layout->count(world_.rank()); }
  /// Number of clients with which the run began.
  [[nodiscard]] Client clients_at_first() const { return earlier ? members.at_first() : layout->clients(); }
  /// Whether each of this rank's clients is lost.
  [[nodiscard]] std::vector<char> lost_here() const;

  /// Opens this rank's streams. `data` belongs to the configuration, and is completed. Features of sources with names
  /// are matched by name: the first client's order is that of the run. **Collective.**
  void open_streams(DataSettings& data);
  /// Checks that ranks read the same content of a common file, and joins the shapes of the clients' own files.
  /// **Collective.**
  void agree_on_data();
  /// Reads the test set before anything is released. Owners are to learn which of its records they have. `harmless`:
  /// nobody is protected. Rank-local.
  void open_test(bool harmless);
  /// Opens streams and test set again, with the constants for columns that the configuration has now. Rank-local.
  void read_again_with_other_constants();
  /// Opens streams again, whose missing features are NaN until the next opening. Rank-local.
  void read_again_with_missing_values();
  /// Deals the records of every client into as many batches of a pass as the client with most records fills, where the
  /// configuration wants that. **Collective.**
  void deal_records();

  /// The records of this rank's clients once more, in the same batches. Rank-local.
  [[nodiscard]] Dataset opened_again(const DataSettings& data) const;
  /// For each local client, which has one of these streams, the factor m T/N_k. It makes the mean over a batch of m one
  /// over the client's own batches of N_k/T records on average. 1 for streams without a known end, and for clients
  /// without records.
  [[nodiscard]] Vector factors_of_own_means(const std::vector<std::unique_ptr<Stream>>& streams) const;
  /// N_k of all clients, in a pass; 0 for streams without a known end. **Collective.**
  [[nodiscard]] Vector records_of_clients();
  /// The number of rounds that was asked for, or that the streams give. Throws UsageError for more than they give.
  [[nodiscard]] Round rounds_of(std::optional<Round> available) const;

  /// The source of every client of this rank, or the one that they all share.
  [[nodiscard]] std::vector<std::string> sources() const;
  /// SHA-256 of every byte of the files and memory of each of sources(), then of `more_files`. Pipes are left out.
  [[nodiscard]] std::vector<std::string> digests_of_sources() const;
  /// Digests of each client's records, the same for any layout; of generated records one for all clients.
  [[nodiscard]] std::vector<std::string> digests_of_data() const;
  /// What each of this rank's clients serves.
  [[nodiscard]] std::vector<ServedRounds> served() const;

  /// Throws UsageError if a file of --test, or records in memory, are a source of this rank's clients.
  void require_other_records(const std::vector<std::string>& of_test) const;

 private:
  [[nodiscard]] const LearningConfig& config() const;
  [[nodiscard]] Client number_of_clients(std::optional<Client> of_topology) const;
  void open_again(const DataSettings& data);
  void open_records(const DataSettings& data);
  void append_joined(const DataSettings& data);
  void agree_on_joined();
  void note_clients_without_records();
  void note_clipped_labels();
  void read_test();

  World& world_;
  Agreement agreement_;
  const Configuration& configuration_;
  std::vector<std::string>& notes_;
};

}  // namespace starling
