/// The digest of a topology, from its rows in order: the same for a table of them and for rows worked out one by one.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "core/digest.hpp"
#include "core/links.hpp"

namespace starling {

class DigestWriter {
 public:
  explicit DigestWriter(Client clients) {
    bytes_ = "starling topology 1\n";
    add(static_cast<std::uint64_t>(clients));
  }
  void begin_phase(Round rounds) { add(static_cast<std::uint64_t>(rounds)); }
  /// Begins the row of the next client; its arcs follow.
  void begin_row(double own, std::size_t arcs) {
    add(std::bit_cast<std::uint64_t>(own));
    add(arcs);
  }
  void add_arc(Client peer, double weight) {
    add(static_cast<std::uint64_t>(peer));
    add(std::bit_cast<std::uint64_t>(weight));
  }
  [[nodiscard]] std::string digest() {
    pass_on();
    return sum_.digest();
  }

 private:
  void add(std::uint64_t value) {
    constexpr std::size_t enough = 1 << 16;
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>((value >> shift) & 0xff);
    if (bytes_.size() >= enough) pass_on();
  }
  void pass_on() {
    sum_.add(bytes_);
    bytes_.clear();
  }

  Sha256 sum_;
  std::string bytes_;
};

}  // namespace starling
