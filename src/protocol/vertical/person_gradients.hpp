/// Clipped gradients of persons of a round of vertical learning, for `--unit person`.
#pragma once

#include <span>

#include "model/network/network_block.hpp"

namespace starling {

/// A network on the rows of a round, M × inputs, with the derivatives of the loss by its outputs, M × outputs.
struct PlayedRows {
  View parameters;
  View inputs;
  View d_outputs;
};

/// The persons of a round: each has `places` rows, of which the first ones hold its records.
struct PersonRows {
  std::span<const std::size_t> records;  ///< of each person
  std::size_t places = 1;
};

/// Writes Σ_p clip(g_p) into `gradient` (resized to the network's dimension), where g_p is the mean of the gradients of
/// person p's records. Records out of range add nothing to the mean. A person without a record, or whose mean is out of
/// range, adds zero. Returns the number of records and persons out of range.
///
/// Sensitivity. A person's part depends on this person's rows alone, and is a vector of doubles that clip_rows has
/// clipped to the bound. Parts are added in double. So the requirements of privacy/noise/grid.hpp hold with persons in
/// place of records.
std::size_t add_persons(NetworkBlock& network, const PlayedRows& rows, const PersonRows& persons, const Clip& clip,
                        Vector& gradient);

}  // namespace starling
