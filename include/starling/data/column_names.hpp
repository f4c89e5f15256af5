/// Usual names of columns with labels and with row numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace starling {

/// Whether a column of this name has the labels by default: y or label, in any case.
[[nodiscard]] bool is_label_name(std::string_view name);

/// One note for each feature whose name says that it is probably none: a label, or a row number. Among named features,
/// one without a name is such a row number: data frames write these so. `names` is empty, or has one name per feature.
[[nodiscard]] std::vector<std::string> notes_on_names(const std::vector<std::string>& names);

}  // namespace starling
