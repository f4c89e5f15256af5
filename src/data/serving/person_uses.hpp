/// Uses of the persons whose records come through pipes, for `--person-rounds`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

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
  [[nodiscard]] bool empty() const { return pipes_.empty(); }
  void persist(Snapshot& snapshot) {
    snapshot.each_client(pipes_.size(), [&](std::size_t k) { snapshot(*pipes_[k]); });
  }

 private:
  std::vector<std::shared_ptr<Secret<PersonUses>>> pipes_;
};

}  // namespace starling
