/// What the runs of a sweep cost the owners of the data together.
#pragma once

#include <string>
#include <vector>

namespace starling {

/// A text with a line for each ledger that the owner keeps, and one for each source of private records whose runs have
/// ledgers of their own. Their charges are composed as if every record had been in all of these runs. Empty where
/// nothing was released about private records.
[[nodiscard]] std::string total_price(const std::vector<std::string>& runs);

}  // namespace starling
