/// Patterns of file names with one file per client: `part-{client}.csv`, or `part-{client:1}.csv` where client 0 has
/// number 1.
#pragma once

#include <string>
#include <string_view>

#include "core/links.hpp"

namespace starling {

/// Whether the name contains a placeholder for the client's number.
[[nodiscard]] bool is_per_client(std::string_view pattern);

/// Name of client u's file: every `{client}` or `{client:FIRST}` is replaced by u + FIRST (FIRST is 0 by default).
/// Throws UsageError for braces of any other form.
[[nodiscard]] std::string name_of_client(std::string_view pattern, Client client);

}  // namespace starling
