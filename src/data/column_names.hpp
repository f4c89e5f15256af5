/// Usual names of columns with labels and with row numbers, and what the layout of a table says of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/constants.hpp"
#include "data/settings.hpp"

namespace starling {

/// Whether a column of this name has the labels by default: y or label, in any case.
[[nodiscard]] bool is_label_name(std::string_view name);

/// One note for each feature whose name says that it is probably none: a label, or a row number. Among named features,
/// one without a name is such a row number: data frames write these so. `names` is empty, or has one name per feature.
[[nodiscard]] std::vector<std::string> notes_on_names(const std::vector<std::string>& names);

/// A note for features whose three or more categories become numbers, which have an order; none without such.
[[nodiscard]] std::vector<std::string> notes_on_codes(const PublicConstants& constants);

/// One note "FILE: what" for each point where a source's tables of text are read otherwise than they stand there: a
/// line `sep=;`, comments, names in a comment, row names without a name. Throws the errors of open_reader.
[[nodiscard]] std::vector<std::string> notes_on_layout(const std::string& source, const ReadSettings& settings);

}  // namespace starling
