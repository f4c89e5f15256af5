#include "files/foreign_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/check.hpp"
#include "files/text.hpp"

namespace starling {

namespace {

/// Whether the text begins with `beginning`, which is in small letters, in any case.
bool begins_with(std::string_view text, std::string_view beginning) {
  return text.size() >= beginning.size() &&
         std::ranges::equal(text.substr(0, beginning.size()), beginning,
                            [](unsigned char x, unsigned char y) { return std::tolower(x) == y; });
}

/// The first character after `at` that is no blank; 0 at the end.
char character_after(std::string_view text, std::size_t at) {
  const std::size_t next = text.find_first_not_of(" \t\r\n", at + 1);
  return next == std::string_view::npos ? '\0' : text[next];
}

bool is_json_object(std::string_view text) {
  constexpr std::string_view first = "\"}";
  return text.starts_with('{') && first.find(character_after(text, 0)) != std::string_view::npos;
}

/// [a] may be the name of a column, and no value of JSON begins so but true, false and null.
bool is_json_array(std::string_view text) {
  constexpr std::string_view first = "{[]\"-0123456789";
  return text.starts_with('[') && first.find(character_after(text, 0)) != std::string_view::npos;
}

bool is_markup(std::string_view text) {
  constexpr std::array<std::string_view, 5> beginnings{"<!doctype", "<?xml", "<html", "<table", "<graphml"};
  return std::ranges::any_of(beginnings, [text](std::string_view each) { return begins_with(text, each); });
}

bool is_arff(std::string_view text) {
  while (text.starts_with('%') && !begins_with(text, "%%matrixmarket")) {
    text = trimmed(text.substr(std::min(text.find('\n'), text.size())));
  }
  return begins_with(text, "@relation") || begins_with(text, "@attribute");
}

struct Kind {
  bool (*is_it)(std::string_view text);
  ForeignText text;
};

constexpr std::array kinds{
    Kind{is_json_object, {"JSON", "pandas.read_json('{0}', lines=True)", ""}},
    Kind{is_json_array, {"JSON", "pandas.read_json('{0}')", ""}},
    Kind{is_markup, {"XML or a page of the web", "", "If it came by a link, get the file that the page shows."}},
    Kind{is_arff, {"an ARFF file", "pandas.DataFrame(__import__('scipy.io.arff').io.arff.loadarff('{0}')[0])", ""}},
    Kind{[](std::string_view text) { return begins_with(text, "%%matrixmarket"); },
         {"a MatrixMarket file",
          "pandas.DataFrame(__import__('scipy.sparse').sparse.coo_matrix(__import__('scipy.io').io.mmread('{0}'))"
          ".toarray()).add_prefix('x')",
          ""}},
    Kind{[](std::string_view text) { return text.starts_with("version https://git-lfs."); },
         {"a pointer of Git LFS, not the file", "", "Get the file itself: git lfs pull."}},
};

std::string without_ending(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos || path.find('/', dot) != std::string::npos ? path : path.substr(0, dot);
}

}  // namespace

std::optional<ForeignText> foreign_text(std::string_view head) {
  if (head.starts_with(byte_order_mark)) head.remove_prefix(byte_order_mark.size());
  head = trimmed(head);
  const auto* const found = std::ranges::find_if(kinds, [head](const Kind& kind) { return kind.is_it(head); });
  return found == kinds.end() ? std::nullopt : std::optional(found->text);
}

void refuse_foreign_records(std::string_view head, const std::string& path) {
  const auto kind = foreign_text(head);
  if (!kind) return;
  const std::string remedy = kind->reading.empty()
                                 ? std::string(kind->remedy)
                                 : fmt::format(
                                       "Make a CSV of it: python3 -c \"import pandas; {}.to_csv('{}-table.csv', "
                                       "index=False)\"",
                                       fmt::format(fmt::runtime(kind->reading), path), without_ending(path));
  fail<DataError>("{}: it is {}, which is not read as a table. {}", path, kind->name, remedy);
}

void refuse_foreign_graph(std::string_view text, const std::string& path) {
  const auto kind = foreign_text(text);
  if (!kind) return;
  const bool is_graph = kind->remedy.empty() || kind->name.starts_with("XML");
  fail<UsageError>("{}: it is {}, and no topology file. {}", path, kind->name,
                   is_graph ? "Read it by NetworkX or SciPy, and write it by networkx.write_edgelist, or as .mtx by "
                              "scipy.io.mmwrite."
                            : kind->remedy);
}

}  // namespace starling
