/// Help texts from the declarations of options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "options/option.hpp"

namespace starling {

/// Columns of all help texts.
constexpr std::size_t help_width = 100;

/// The words of the text in lines of `help_width` columns at most. Lines after the first begin with `indent` spaces;
/// the first has that many columns before it.
[[nodiscard]] std::string filled(std::string_view text, std::size_t indent);
/// The text with lines of `help_width` columns at most. Lines that begin with a space stay as they are, the others
/// between them are filled.
[[nodiscard]] std::string paragraphs(std::string_view text);

/// All options under the headings of their groups; each group once, where its first option stands. Explanations of
/// values follow.
[[nodiscard]] std::string help_on_all(const std::vector<Option>& options);
/// The common options, without headings.
[[nodiscard]] std::string help_on_common(const std::vector<Option>& options);
/// One option: meaning, values, unit, default, what it needs and excludes, and an example. `command` stands before the
/// options in the example.
[[nodiscard]] std::string help_on(const Option& option, const std::vector<Option>& options, std::string_view command);

/// "--option VALUE", or the placeholder alone of a positional option.
[[nodiscard]] std::string head_of(const Option& option);
/// The options in groups, each in their order, groups in the order of their first options.
[[nodiscard]] std::vector<std::vector<Option>> grouped(const std::vector<Option>& options);
/// The explanations of the options' values, each title once.
[[nodiscard]] std::vector<OptionValues> explained_values(const std::vector<Option>& options);
/// Words of a command line with this option, and with all options that it needs.
[[nodiscard]] std::vector<std::string> example_of(const Option& option, const std::vector<Option>& options);

}  // namespace starling
