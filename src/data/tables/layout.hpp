/// Layouts of tables of text: what stands above the records, and what the first lines tell of all.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/column_roles.hpp"
#include "data/settings.hpp"
#include "delimited.hpp"
#include "line_reader.hpp"

namespace starling {

/// The head of a table.
struct TableHead {
  char delimiter = ',';
  NumberRules rules;               ///< with decimal commas where the first lines tell, or --decimal
  ColumnNames columns;             ///< of no column where the file has no line
  bool last_is_empty = false;      ///< whether each line ends with a delimiter, behind which no column has a name
  std::vector<std::string> notes;  ///< on what is read otherwise than it stands there
};

/// Whether the fields of a first line are names, beside numbers with decimal commas or points.
using IsHeader = std::function<bool(const Fields&, const NumberRules&)>;

/// Reads the lines above the first record: `sep=;` as Excel writes it, comments after #, and the names of the columns,
/// which may stand in the last of the comments. With the delimiter `auto`, it is the most frequent of , ; and tab in
/// the first line outside quotes, else runs of spaces; or that of them which gives the first 50 lines (of 64 kB at
/// most) as many fields each. A first column that has no name where all others have one holds row names: it is no
/// feature. Throws DataError "FILE: what the first lines are. What to do." for texts that are no tables, and where no
/// row could be read for a reason that all have in common. With the decimals `auto`, and by a model whose records may
/// have had commas, they stand behind commas where semicolons or tabs delimit columns and the first lines have numbers
/// with a comma and none with a point; with `comma`, they stand behind points where nothing but commas delimits
/// columns. Of a pipe, the first line after comments is all that can be seen.
[[nodiscard]] TableHead read_head(LineReader& lines, const ReadSettings& settings, const IsHeader& is_header);

/// Whether the fields of the line that comes next are names. Throws RecordError where they may be a record, too.
[[nodiscard]] bool are_names(const LineReader& lines, const Fields& fields, const std::vector<bool>& may_be_text,
                             const NumberRules& rules);

/// Throws DataError where the label or a feature is the column behind the delimiters that end all lines.
void refuse_empty_last(const TableHead& head, const ColumnRoles& roles);

/// Throws RecordError where a field begins with a quote that nothing closes: its text goes on in the next line.
void refuse_open_quote(const LineReader& lines, const Fields& fields);

/// Throws RecordError for a row with another number of fields than the table has.
[[noreturn]] void throw_ragged(const LineReader& lines, const Fields& fields, const TableHead& head);

}  // namespace starling
