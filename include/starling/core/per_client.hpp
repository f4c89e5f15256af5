/// File names that stand for one file per client: `part-{client}.csv`, or `part-{client:1}.csv` where client 0's is
/// number 1.
#pragma once

#include <string>
#include <string_view>

#include "starling/core/links.hpp"

namespace starling {

/// Whether the name has a place for the client's number.
[[nodiscard]] bool is_per_client(std::string_view pattern);

/// The name of client u's file: every `{client}` or `{client:FIRST}` is replaced by u + FIRST (FIRST is 0 if not
/// written). Throws UsageError for braces that are neither.
[[nodiscard]] std::string name_of_client(std::string_view pattern, Client client);

}  // namespace starling
