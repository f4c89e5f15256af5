/// The members of a run, who have proved to each other who they are (`--identity`, `--members`).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "identity_options.hpp"
#include "privacy/identity/introduction.hpp"

namespace starling {

class Agreement;
class World;
struct SealTerms;
enum class SealedMessages;

/// Names of a rank's files.
struct IdentityFiles {
  std::string identity;  ///< `--identity`: may contain {client} and {host}
  std::string members;   ///< `--members`
};

/// Introductions of one start of a run. Every rank makes a fresh X25519 key. The members of its clients sign all terms
/// of the start (IntroductionTerms), every such key among them, and every rank verifies all signatures.
class Introductions {
 public:
  /// **Collective.** `configuration` is the same on all ranks. Throws UsageError for lists and keys that do not fit,
  /// and FailureError for signatures that are not those of the members; each names a member or a client.
  Introductions(Agreement& agreement, const Layout& layout, const std::vector<Client>& lost, const IdentityFiles& files,
                const std::string& configuration);

  [[nodiscard]] const Members& members() const { return terms_.members; }
  /// The nonce of this start, the same on all ranks.
  [[nodiscard]] const std::string& session() const { return session_; }
  /// A key that this rank and another share, for one purpose of this start.
  [[nodiscard]] NoiseKey pair_key(int rank, std::string_view purpose) const;
  /// A key that only the owner of a client of this rank can make, the same at every start. Rank-local. Throws
  /// FailureError for a client that nobody here vouches for.
  [[nodiscard]] NoiseKey lasting_key(Client u, std::string_view purpose) const;
  /// Compares the run with the consent of each member of this rank's clients that has one. Throws UsageError that names
  /// file and line. Rank-local.
  void require_consent(const std::string& configuration) const;
  /// Keys and names for sealed messages between the ranks; with `within_hosts` between those of one host too. None
  /// where no two ranks would seal any.
  [[nodiscard]] std::optional<SealTerms> seal_terms(bool within_hosts) const;
  /// A relay of this rank's texts in which every rank's members sign them, and every rank verifies all. `purpose` is
  /// not used twice. **Collective.**
  [[nodiscard]] std::vector<std::string> relayed(Agreement& agreement, const std::string& purpose,
                                                 const std::string& own) const;

 private:
  struct Voucher {
    std::size_t member;
    SigningKey key;
    std::string file;
  };
  void read_members(Agreement& agreement, const IdentityFiles& files, Client clients);
  void read_identities(const IdentityFiles& files, int rank);
  void add_voucher(const std::string& file, const std::string& place, Client u, std::size_t wanted);
  void introduce(Agreement& agreement);

  int rank_ = 0;
  IntroductionTerms terms_;
  std::vector<Voucher> vouchers_;
  MaskKey exchange_ = MaskKey::random();
  std::string session_;
};

/// What follows introductions: each owner's consent to the configuration, and seals of all messages from then on.
/// Returns which are sealed. **Collective.** Throws UsageError that names the line of a consent.
SealedMessages seal_messages(World& world, Agreement& agreement, const Introductions& introductions,
                             const std::string& configuration, SealChoice choice);

/// A relay of public keys: one in which members sign, if they have introduced themselves (`introductions` is not null).
/// Keeps references. **Collective**, as calls of it are.
[[nodiscard]] KeyRelay relay_of(Agreement& agreement, const Introductions* introductions, const std::string& purpose);

/// Throws UsageError if a client that a run had before, and has not lost, has another member or key in `now`. `before`
/// is the text of its list, empty if it had none.
void require_same_members(const std::string& before, const Members& now, const std::vector<Client>& lost,
                          const std::string& place);

}  // namespace starling
