#include "page.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/view/json.hpp"

namespace starling {

namespace {

/// Browsers obey the policy: they fetch nothing and run nothing, whatever a page holds.
constexpr const char* head = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
)";

constexpr const char* style = R"(<style>
:root { color-scheme: light; --ink: #1b2733; --soft: #5a6875; --line: #dbe2e8; --shade: #f4f7f9; --accent: #0072b2; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1.2rem 3rem; background: #fff; color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.7rem; line-height: 1.2; }
h1 + p { margin: .3rem 0 1.2rem; color: var(--soft); }
h2 { margin: 2.2rem 0 .7rem; padding-bottom: .3rem; border-bottom: 2px solid var(--accent); font-size: 1.2rem; }
ul { margin: 0; padding: 0; list-style: none; }
li { margin: .4rem 0; padding: .5rem .8rem; border-left: 4px solid var(--accent); background: var(--shade); }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .7rem; margin: 1rem 0; }
.figures div { padding: .7rem .9rem; border: 1px solid var(--line); border-radius: .4rem; background: var(--shade); }
.figures b { display: block; font-size: 1.25rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
.figures span { color: var(--soft); font-size: .85rem; }
.wide { overflow-x: auto; margin: .6rem 0; }
table { width: 100%; border-collapse: collapse; font-size: .93rem; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .7rem .35rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { color: var(--soft); font-weight: 600; }
tbody th { font-weight: 400; }
.rows th { width: 11rem; color: var(--soft); }
.rows td { white-space: pre-wrap; }
.grid { overflow-wrap: normal; }
.grid th, .grid td { white-space: nowrap; }
.grid th + th, .grid td { padding-left: .8rem; }
.grid th.figure, .grid td { text-align: right; }
pre { margin: 0; padding: .8rem; background: var(--shade); font: .82rem/1.45 ui-monospace, "DejaVu Sans Mono", monospace;
  overflow-wrap: normal; }
pre.words { white-space: pre-wrap; }
figure { margin: 1.2rem 0; }
figcaption { margin-bottom: .3rem; font-weight: 600; }
svg { display: block; width: 100%; min-width: 34rem; height: auto; }
details { margin: .8rem 0; border: 1px solid var(--line); border-radius: .4rem; padding: 0 .9rem; }
summary { padding: .55rem 0; cursor: pointer; color: var(--accent); font-weight: 600; }
footer { margin-top: 2.5rem; color: var(--soft); font-size: .85rem; }
@media (max-width: 36rem) {
  .rows, .rows tbody, .rows tr, .rows th, .rows td { display: block; width: auto; }
  .rows th { padding-bottom: 0; border: 0; }
  .rows td { padding-top: 0; }
}
@media print { body { max-width: none; } figure, tr { break-inside: avoid; } }
</style>
)";

/// The text as HTML shows it; characters that HTML does not know are left out.
std::string html(const std::string& text) {
  const Json::string_t valid =
      Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
  std::string result;
  for (const char c : valid) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t') result += c;
    }
  }
  return result;
}

/// Takes out the names of plots, which gnuplot gives again in each panel and refers to nowhere.
void leave_out_names(std::string& drawing) {
  const std::string attribute = " id=\"gnuplot_plot_";
  for (std::size_t at = 0; (at = drawing.find(attribute, at)) != std::string::npos;) {
    drawing.erase(at, drawing.find('"', at + attribute.size()) + 1 - at);
  }
}

}  // namespace

Page::Page(const std::string& name) : title_(html(name)), body_(fmt::format("<h1>{}</h1>\n", html(name))) {}

void Page::section(const std::string& heading) {
  body_ += fmt::format("<h2>{}</h2>\n", html(heading));
}

void Page::paragraph(const std::string& text) {
  body_ += fmt::format("<p>{}</p>\n", html(text));
}

void Page::list(const std::vector<std::string>& items) {
  if (items.empty()) return;
  body_ += "<ul>\n";
  for (const std::string& item : items) body_ += fmt::format("<li>{}</li>\n", html(item));
  body_ += "</ul>\n";
}

void Page::figures(const std::vector<std::pair<std::string, std::string>>& named) {
  if (named.empty()) return;
  body_ += "<div class=\"figures\">\n";
  for (const auto& [name, value] : named) {
    body_ += fmt::format("<div><b>{}</b><span>{}</span></div>\n", html(value), html(name));
  }
  body_ += "</div>\n";
}

void Page::rows(const std::vector<std::pair<std::string, std::string>>& named) {
  body_ += "<table class=\"rows\"><tbody>\n";
  for (std::size_t i = 0; i < named.size(); ++i) {
    body_ += fmt::format("<tr><th scope=\"row\">{}</th><td>{}", html(named[i].first), html(named[i].second));
    for (; i + 1 < named.size() && named[i + 1].first.empty(); ++i) body_ += "\n" + html(named[i + 1].second);
    body_ += "</td></tr>\n";
  }
  body_ += "</tbody></table>\n";
}

void Page::table(const TextTable& table) {
  body_ += "<div class=\"wide\"><table class=\"grid\"><thead><tr>";
  const std::size_t names = std::max<std::size_t>(table.names, 1);
  for (std::size_t k = 0; k < table.head.size(); ++k) {
    body_ += fmt::format("<th scope=\"col\"{}>{}</th>", k < names ? "" : " class=\"figure\"", html(table.head[k]));
  }
  body_ += "</tr></thead><tbody>\n";
  for (const Cells& row : table.rows) {
    body_ += "<tr>";
    for (std::size_t k = 0; k < row.size(); ++k) {
      const std::string cell = html(row[k]);
      body_ += k < names ? "<th scope=\"row\">" + cell + "</th>" : "<td>" + cell + "</td>";
    }
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table></div>\n";
}

void Page::columns(const std::string& text) {
  body_ += fmt::format("<div class=\"wide\"><pre>{}</pre></div>\n", html(text));
}

void Page::command(const std::string& words) {
  body_ += fmt::format("<pre class=\"words\">{}</pre>\n", html(words));
}

// Names of parts are made different from those of other pictures, for they share one page.
void Page::picture(const std::string& caption, const std::string& svg) {
  const std::size_t begin = std::min(svg.find("<svg"), svg.size());
  std::string drawing = svg.substr(begin);
  leave_out_names(drawing);
  const std::string prefix = fmt::format("p{}-", ++pictures_);
  for (const char* reference : {" id=\"", " id='", "href=\"#", "href='#", "url(#"}) {
    replace_all(drawing, reference, reference + prefix);
  }
  replace_all(drawing, "<title>Gnuplot</title>", "");
  replace_all(drawing, "<svg", fmt::format("<svg role=\"img\" aria-label=\"{}\"", html(caption)));
  body_ += fmt::format("<figure><figcaption>{}</figcaption><div class=\"wide\">\n{}</div></figure>\n", html(caption),
                       drawing);
}

void Page::fold(const std::string& heading) {
  body_ += fmt::format("<details><summary>{}</summary>\n", html(heading));
}

void Page::unfold() {
  body_ += "</details>\n";
}

std::string Page::text(const std::string& last_line) const {
  return fmt::format("{}<title>{}</title>\n{}</head>\n<body>\n{}<footer>{}</footer>\n</body>\n</html>\n", head, title_,
                     style, body_, html(last_line));
}

}  // namespace starling
