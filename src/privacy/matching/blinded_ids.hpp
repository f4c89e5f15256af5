/// Points of ristretto255 (RFC 9496) that stand for ids where records are matched in private
/// (docs/methods/matching.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/boundary.hpp"
#include "privacy/keys/keys.hpp"
#include "privacy/mechanism.hpp"

namespace starling {

/// Words of 64 bits of one point.
inline constexpr std::size_t words_of_point = 4;

/// One party of a matching: its ids, and the secret scalar and the secret order of this matching. Both come from the
/// operating system and are wiped when it goes.
class IdBlinder : Release {
 public:
  /// Throws FailureError if the cryptographic library does not start.
  explicit IdBlinder(std::vector<std::string> ids);
  ~IdBlinder();
  IdBlinder(IdBlinder&& other) noexcept;
  IdBlinder(const IdBlinder&) = delete;
  IdBlinder& operator=(const IdBlinder&) = delete;
  IdBlinder& operator=(IdBlinder&&) = delete;

  [[nodiscard]] std::size_t size() const { return order_.size(); }
  [[nodiscard]] const std::vector<std::string>& ids() const { return ids_; }
  /// The party's own ids in the secret order, from `first` on, as points that are blinded by this party:
  /// words_of_point words each.
  [[nodiscard]] Masked own(std::size_t first, std::size_t count) const;
  /// Points that came from others, blinded by this party too, in the order in which they came. Throws FailureError for
  /// words that are no points.
  [[nodiscard]] Masked blinded(std::span<const std::uint64_t> points) const;
  /// The rows of the ids that `marks_of_common` has marked, ascending. Throws FailureError for another number of words.
  [[nodiscard]] std::vector<std::size_t> rows(std::span<const std::uint64_t> marks) const;

 private:
  using Scalar = std::array<unsigned char, 32>;
  void blind(const unsigned char* point, unsigned char* result) const;

  std::vector<std::string> ids_;
  std::vector<std::size_t> order_;  ///< the row of each place in the secret order
  Scalar scalar_{};
};

/// Comparison of lists of points that all parties have blinded.
class BlindedIds : Release {
 public:
  /// For each list a bit for each of its points, 64 in a word from the lowest on: whether all lists have the point.
  [[nodiscard]] static std::vector<Masked> marks_of_common(const std::vector<std::vector<std::uint64_t>>& lists);
};

/// The words of a key under another that is used for nothing else: its own inverse.
class HiddenKey : Release {
 public:
  [[nodiscard]] static Masked under(const NoiseKey& pad, const NoiseKey& key);
};

/// The order of matched records: their rows sorted by digests of the ids, which are keyed by `secret`, by `seed` and by
/// all the ids. Whoever has the same ids, key and seed makes the same order.
class MatchedOrder {
 public:
  MatchedOrder(std::vector<std::size_t> rows, const std::vector<std::string>& ids, const NoiseKey& secret,
               std::uint64_t seed);
  [[nodiscard]] const std::vector<std::size_t>& rows() const { return rows_; }
  /// A digest that is the same for the same ids in the same order, under the same keys.
  [[nodiscard]] const std::string& digest() const { return digest_; }

 private:
  std::vector<std::size_t> rows_;
  std::string digest_;
};

}  // namespace starling
