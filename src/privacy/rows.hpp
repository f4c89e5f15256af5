/// Rows of the mechanism table. Each row is defined in the mechanism's own file in mechanism/.
#pragma once

#include <string>
#include <vector>

#include "privacy/mechanism.hpp"

namespace starling {

MechanismRow none_row();
MechanismRow laplace_row();
MechanismRow gaussian_row();
MechanismRow dissertation_row();

/// All rows, in the order of --help. To add a mechanism, declare its row above and list it here.
inline std::vector<MechanismRow> mechanism_rows() {
  return {none_row(), laplace_row(), gaussian_row(), dissertation_row()};
}

/// "0.1", or "between 0.1 and 0.2" where a run has several prices.
std::string size_range(double least, double most);

}  // namespace starling
