/// Self-contained HTML pages: no script, and nothing from outside.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tables.hpp"

namespace starling {

/// A page that grows from top to bottom. All texts are escaped, and bytes that are no UTF-8 are replaced.
class Page {
 public:
  /// `name` is the first heading, and the page's title.
  explicit Page(const std::string& name);

  void section(const std::string& heading);
  void paragraph(const std::string& text);
  void list(const std::vector<std::string>& items);
  /// A row of large figures, each with its name. Nothing is shown for no figures.
  void figures(const std::vector<std::pair<std::string, std::string>>& named);
  /// Names and values. A row without a name continues the one before.
  void rows(const std::vector<std::pair<std::string, std::string>>& named);
  /// The first columns (`names` of them, at least one) hold names, the others figures.
  void table(const TextTable& table);
  /// Text in columns, as in a terminal.
  void columns(const std::string& text);
  /// Words of a command line, in as many lines as they need.
  void command(const std::string& words);
  /// A picture drawn by gnuplot as SVG becomes a part of the page.
  void picture(const std::string& caption, const std::string& svg);
  /// Begins a part of the page that is shown on request; `unfold` ends it.
  void fold(const std::string& heading);
  void unfold();

  /// The whole page, with a last line.
  [[nodiscard]] std::string text(const std::string& last_line) const;

 private:
  std::string title_;
  std::string body_;
  int pictures_ = 0;
};

}  // namespace starling
