/// Weights of the links of all clients of one rank, in little memory.
#pragma once

#include <cstdint>
#include <vector>

#include "core/columns.hpp"
#include "core/links.hpp"
#include "graph/schedule.hpp"

namespace starling {

/// One row of weights per client. Most graphs give many clients equal rows, and an equal row is stored once.
class WeightRows {
 public:
  void clear(std::size_t clients);
  /// Adds the row of the next client.
  void add(const std::vector<Arc>& arcs);
  [[nodiscard]] View operator[](std::size_t k) const {
    return View(values_).subspan(begin_[row_[k]], begin_[row_[k] + 1] - begin_[row_[k]]);
  }

 private:
  std::vector<double> values_;        ///< all distinct rows, one after the other
  std::vector<std::uint32_t> begin_;  ///< where each row begins, and the end of the last
  std::vector<std::uint32_t> row_;    ///< number of each client's row
  std::vector<std::uint32_t> seen_;   ///< hash table of some of the rows
};

/// The weights of all local clients' links.
struct LinkWeights {
  WeightRows in;
  WeightRows out;
  std::vector<std::uint32_t> own_place;  ///< number of in-neighbours before the client itself
  std::vector<double> own;
  std::vector<double> share;

  void clear(std::size_t clients);
  /// Adds the links of the next client, which is u.
  void add(const Links& links, Client u);
  [[nodiscard]] bool is_alone(std::size_t k) const { return in[k].empty() && out[k].empty(); }
};

}  // namespace starling
