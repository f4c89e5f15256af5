/// Which option an unknown one was meant to be.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace starling {

/// The known option that was probably meant by an unknown one: what other programs call it (`lr` is `step`), the
/// nearest name, or the only one that begins with it (`out`), or that it begins or ends with (`label-column`). None if
/// there is no such option.
[[nodiscard]] std::optional<std::string> meant_option(std::string_view name, const std::vector<std::string>& known);

}  // namespace starling
