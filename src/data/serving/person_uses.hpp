/// Uses of the persons whose records come through pipes, for `--person-rounds`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/batch.hpp"
#include "core/boundary.hpp"
#include "core/snapshot.hpp"

namespace starling {

/// The number of rounds that used each person of one pipe. Persons are stored as keyed hashes, under a key of this
/// object. Memory: about 100 bytes for each person so far, without bound.
class PersonUses {
 public:
  /// Draws the key from the operating system.
  PersonUses();

  /// Identifies a person: 32 hexadecimal digits of SHA-256 over the key and the value of the person's column. Two
  /// persons share it with a probability of 2^-128; they would be one person.
  [[nodiscard]] std::string identify(std::string_view value) const;
  /// Counts one more round for this person, unless `most` have used the person already. Whether it counted.
  [[nodiscard]] bool use(const std::string& person, std::int64_t most);

  void persist(Snapshot& snapshot) { snapshot(key_, rounds_); }

 private:
  std::string key_;
  std::unordered_map<std::string, std::int64_t> rounds_;
};

/// The uses of a rank's pipes, for checkpoints. A resumed run goes on counting where the checkpoint was written.
class KeptPersonUses {
 public:
  void add(std::shared_ptr<Secret<PersonUses>> uses) { pipes_.push_back(std::move(uses)); }
  void persist(Snapshot& snapshot) {
    snapshot.each_client(pipes_.size(), [&](std::size_t k) { snapshot(*pipes_[k]); });
  }

 private:
  std::vector<std::shared_ptr<Secret<PersonUses>>> pipes_;
};

/// The slots of one round. Each has the record of a person, or nothing: a row that cannot be read, or is left out.
///
/// Sensitivity of a run. Let two streams differ in the slots of one person p alone. A slot of p has in each stream any
/// record of p, or nothing; the other slots are the same. Every other person is used in the same rounds of both
/// streams, with the same records, because uses are counted by a person's own slots. So in each round only p's
/// contribution differs. It has a norm of at most C where p is used, and is zero elsewhere. Let A and B be the sets of
/// rounds that use p in the two streams, each of K rounds at most. A round of A ∩ B moves by at most 2C, and any other
/// round of A ∪ B by at most C. With the price p_t of a movement by 2C, Laplace noise costs
///
///   Σ_{A ∩ B} p_t + ½ Σ_{A ∪ B − A ∩ B} p_t = ½ Σ_A p_t + ½ Σ_B p_t,
///
/// and Gaussian noise, in squares of μ, costs Σ_{A ∩ B} p_t² + ¼ Σ_{A ∪ B − A ∩ B} p_t² <= ½ Σ_A p_t² + ½ Σ_B p_t².
/// Both are at most the cost of the K dearest releases. For K = 1 this holds under correlated noise too, by the
/// triangle inequality.
class PersonSlots {
 public:
  void clear();
  /// `value` is that of the person's column.
  void add(const std::string& value, const Row& row, double label);
  /// Writes the persons that are used in this round to `batch`, in the order of their first slots. Persons that `most`
  /// rounds have used add nothing.
  void serve(PersonUses& uses, std::int64_t most, Batch& batch);

 private:
  std::vector<std::string> values_;
  Batch records_;
};

}  // namespace starling
