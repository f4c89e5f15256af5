// Parcels in order of arrival and in the format of messages; at most one per edge.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>

#include "core/numerics/kernels.hpp"
#include "net/mailboxes/mailboxes.hpp"

namespace starling {

/// Numbers before each vector: from, to and round as doubles, which hold them exactly (rounds up to 2^53).
constexpr std::size_t parcel_head = 3;

/// Calls visit(parcel) for all parcels of `packed`, whose vectors have `length` doubles.
template <class Visit>
void for_each_parcel(View packed, std::size_t length, Visit&& visit) {
  for (; !packed.empty(); packed = packed.subspan(parcel_head + length)) {
    visit(Mailboxes::Parcel{static_cast<Client>(packed[0]), static_cast<Client>(packed[1]),
                            static_cast<Round>(packed[2]), packed.subspan(parcel_head, length)});
  }
}

class Pile {
 public:
  /// Appends the parcel, or merges it with the waiting parcel of its edge. Returns whether it was appended.
  bool put(const Mailboxes::Parcel& parcel, Mailboxes::Merge merge) {
    const auto [place, opened] = places_.try_emplace(edge_of(parcel), packed_.size());
    if (opened) {
      for (const auto head : {static_cast<Round>(parcel.from), static_cast<Round>(parcel.to), parcel.round}) {
        packed_.push_back(static_cast<double>(head));
      }
      packed_.insert(packed_.end(), parcel.vector.begin(), parcel.vector.end());
      return true;
    }
    double* earlier = packed_.data() + place->second;
    earlier[parcel_head - 1] = static_cast<double>(parcel.round);
    const MutableView vector(earlier + parcel_head, parcel.vector.size());
    if (merge == Mailboxes::Merge::add) {
      axpy(1, parcel.vector, vector);
    } else {
      std::copy(parcel.vector.begin(), parcel.vector.end(), vector.begin());
    }
    return false;
  }
  [[nodiscard]] bool empty() const { return places_.empty(); }
  [[nodiscard]] std::size_t size() const { return places_.size(); }
  /// Moves all parcels to `packed`. The former memory of `packed` serves the next parcels.
  void hand_over(Vector& packed) {
    packed.clear();
    packed.swap(packed_);
    places_.clear();
  }

 private:
  static std::uint64_t edge_of(const Mailboxes::Parcel& parcel) {
    return static_cast<std::uint64_t>(parcel.from) << 32 | static_cast<std::uint64_t>(parcel.to);
  }

  Vector packed_;
  std::unordered_map<std::uint64_t, std::size_t> places_;  ///< by edge: offset in `packed_`
};

}  // namespace starling
