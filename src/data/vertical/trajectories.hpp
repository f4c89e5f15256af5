/// Paths of receivers and transmitters of the spectrum source, from a file (`trajectory=FILE`).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/links.hpp"
#include "data/vertical/vertical.hpp"

namespace starling {

/// Rows of mover, round, x and y, in metres. Receivers are movers 0 to K − 1, transmitters K to K + N − 1. Between its
/// rows a mover goes straight on at one speed; before the first and after the last it stands still.
class Trajectories {
 public:
  Trajectories() = default;  ///< of nobody
  /// Throws UsageError, which names the file and the row, for `movers` movers in a square of this side.
  Trajectories(const std::string& path, std::size_t movers, double side);

  [[nodiscard]] bool has(std::size_t mover) const { return paths_.count(mover) > 0; }
  /// The place in round t, from 0, of a mover that the file has.
  [[nodiscard]] Place at(std::size_t mover, Round t) const;

 private:
  struct Stop {
    Round round = 0;
    Place place;
  };
  std::map<std::size_t, std::vector<Stop>> paths_;
};

}  // namespace starling
