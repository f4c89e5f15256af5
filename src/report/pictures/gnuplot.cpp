#include "gnuplot.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "files/scratch_folder.hpp"
#include "files/text_files.hpp"

namespace starling {

namespace {

namespace fs = std::filesystem;

constexpr int panel_height = 330;
constexpr int least_height = 560;
constexpr int height_of_row = 420;  ///< of a single row of more than two panels
constexpr int height_of_title = 22;
constexpr int width_of_character = 8;
constexpr double dots_per_inch = 100;
constexpr double few = 20;                        ///< ratio of an axis's ends up to which a linear axis shows more
constexpr int no_terminal = 9;                    ///< gnuplot's exit status where it cannot draw PDF
constexpr double beyond_marks = 0.06;             ///< of the length of an axis with marks, at either end
constexpr double between_marks = 0.07;            ///< of the same, at least, between two texts
constexpr std::size_t characters_of_row = 100;    ///< of marks, below the panels of a row
constexpr int markers_of_line = 8;                ///< at most, on a line whose colour another one has too
constexpr std::size_t most_titles_above = 4;      ///< of a panel; a longer key stands on the right
constexpr std::size_t longest_on_the_right = 28;  ///< characters of a title
constexpr std::size_t narrow_margin = 4;          ///< in characters
constexpr std::size_t key_margin = 8;             ///< the same of a key beside its titles
constexpr const char* key_above = "set key above left horizontal maxrows auto Left reverse samplen 2\n";
constexpr const char* key_on_the_right =
    "set key at graph 1.02, graph 1 left top vertical maxrows auto Left reverse samplen 2\n";
/// Axes on two sides, and nothing darker than the curves.
constexpr const char* look =
    "set grid lt 1 lw 1 lc rgb '#e4e9ed'\nset border 3 lw 1 lc rgb '#5a6875'\nset tics nomirror out scale 0.6\n"
    "set xtics nomirror\nset ytics nomirror\n"
    "set key noenhanced\n";

constexpr std::array<const char*, 8> colours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                             "#56B4E9", "#E69F00", "#000000", "#888888"};
constexpr std::array markers{7, 5, 9, 11, 13, 6, 4, 8};
constexpr std::size_t dash_patterns = 4;

/// Commands of gnuplot that define its line types 1 to 32. Eight colours that colour-blind readers tell apart (Okabe
/// and Ito 2008, yellow left out, grey put in) come with four dash patterns in turn; each type has a marker.
std::string palette_commands() {
  std::string commands;
  for (std::size_t i = 0; i < dash_patterns * colours.size(); ++i) {
    const std::size_t turn = i / colours.size();
    commands += fmt::format("set linetype {} lc rgb '{}' dt {} pt {}\n", i + 1, colours[i % colours.size()], turn + 1,
                            markers[(i + turn) % markers.size()]);
  }
  return commands + fmt::format("set linetype cycle {}\n", dash_patterns * colours.size());
}

/// Whether lines of this number need markers, since their colour has been used before.
bool needs_markers(std::size_t number) {
  return number > colours.size();
}

/// Commands of gnuplot for the colours of rasters, from 0 to 1: red, white, blue.
std::string raster_palette() {
  return "set palette defined (0 '#b2182b', 0.5 '#f7f7f7', 1 '#2166ac')\n";
}

/// Commands of gnuplot for the colours of matrices, from 0: white to dark blue.
std::string matrix_palette() {
  return "set palette defined (0 '#ffffff', 0.15 '#9ecae1', 0.5 '#3182bd', 1 '#08306b')\n";
}

/// Runs a program in a folder, without a shell and silently; its exit status, or -1 if it could not be started.
int run_quietly(const std::string& folder, const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t child = 0;
  const int failed = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// A text as gnuplot reads it between single quotes.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ') continue;
    result += c;
    if (c == '\'') result += c;
  }
  return result + "'";
}

/// The points that the panel's axes can show, as lines of a data block.
std::string block_of(const Curve& curve, bool logarithmic, const HorizontalAxis& axis) {
  std::string lines;
  for (const auto& [x, y] : curve.points) {
    if ((x > 0 || !axis.logarithmic) && std::isfinite(y) && (!logarithmic || y > 0)) {
      lines += fmt::format("{:.10g} {:.10g}\n", x, y);
    }
  }
  return lines;
}

/// The greatest value of a picture's horizontal axis.
double last_of(const Picture& picture) {
  double last = picture.axis.from;
  for (const Panel& panel : picture.panels) {
    for (const Curve& curve : panel.curves) {
      for (const auto& [x, y] : curve.points) last = std::max(last, x);
    }
  }
  return last;
}

/// Large numbers on a linear axis: few and short, as 150k or 1.5M, lest they run into each other.
std::string tics_of(double first, double last) {
  constexpr double large = 1e4;
  constexpr double most = 4;
  if (!(first < last) || last < large) return "set xtics nomirror autofreq\n";
  double step = std::pow(10, std::floor(std::log10((last - first) / most)));
  for (const double factor : {2.0, 2.5, 2.0}) {  // to 2, 5 and 10 times a power of ten
    if ((last - first) / step > most) step *= factor;
  }
  using Unit = std::pair<double, const char*>;
  const auto [unit, sign] = last < 1e6 ? Unit(1e3, "k") : last < 1e9 ? Unit(1e6, "M") : Unit(1e9, "G");
  std::vector<std::string> tics;
  for (double k = std::ceil(first / step); k * step <= last; ++k) {
    tics.push_back(fmt::format("'{:g}{}' {:.10g}", k * step / unit, k == 0 ? "" : sign, k * step));
  }
  return fmt::format("set xtics nomirror ({})\n", fmt::join(tics, ", "));
}

/// The ends of an axis with marks, beyond which nothing is drawn, and the marks. Texts that would run into the one
/// before are left out; where all of them do not fit side by side they are turned.
std::string marked_axis_of(const Picture& picture) {
  const HorizontalAxis& axis = picture.axis;
  const auto place = [&](double x) { return axis.logarithmic ? std::log10(x) : x; };
  double first = place(axis.marks.front().first);
  double last = place(axis.marks.back().first);
  for (const Panel& panel : picture.panels) {
    for (const Curve& curve : panel.curves) {
      for (const auto& [x, y] : curve.points) {
        first = std::min(first, place(x));
        last = std::max(last, place(x));
      }
    }
  }
  const double margin = first < last ? beyond_marks * (last - first) : 0.5;
  const auto at = [&](double x) { return axis.logarithmic ? std::pow(10, x) : x; };
  std::vector<std::string> tics;
  double written = first - (last - first);
  std::size_t length = 0;
  for (const auto& [x, text] : axis.marks) {
    const bool fits = place(x) - written >= between_marks * (last - first);
    if (fits) written = place(x);
    if (fits) length += text.size() + 2;
    tics.push_back(fmt::format("{} {:.10g}", quoted(fits ? text : ""), x));
  }
  return fmt::format("set xtics nomirror {} ({})\nset xrange [{:.10g}:{:.10g}]\n",
                     length * picture.columns > characters_of_row ? "rotate by -25" : "norotate", fmt::join(tics, ", "),
                     at(first - margin), at(last + margin));
}

/// The commands for the horizontal axis; it does not end where it begins, which would be no axis.
std::string axis_of(const Picture& picture) {
  if (!picture.axis.marks.empty()) {
    return fmt::format("set xlabel {} noenhanced\n{}set logscale x\n{}", quoted(picture.axis.label),
                       picture.axis.logarithmic ? "" : "un", marked_axis_of(picture));
  }
  double first = picture.axis.logarithmic ? picture.axis.from : std::numeric_limits<double>::infinity();
  double last = picture.axis.logarithmic ? 2 * first : -first;
  for (const Panel& panel : picture.panels) {
    for (const Curve& curve : panel.curves) {
      for (const auto& [x, y] : curve.points) {
        last = std::max(last, x);
        if (!picture.axis.logarithmic) first = std::min(first, x);
      }
    }
    for (const Box& box : panel.boxes) {
      last = std::max(last, box.right);
      if (!picture.axis.logarithmic) first = std::min(first, box.left);
    }
  }
  const std::string range = first < last ? fmt::format("set xrange [{:.10g}:{:.10g}]\n", first, last) : "";
  const std::string tics = picture.axis.logarithmic ? "set xtics nomirror autofreq\n" : tics_of(first, last);
  return fmt::format("set xlabel {} noenhanced\n{}set logscale x\nset format x '{}'\n{}{}", quoted(picture.axis.label),
                     picture.axis.logarithmic ? "" : "un", picture.axis.logarithmic ? "%.0s%c" : "% h", tics, range);
}

/// The data blocks of a picture and the commands that plot them.
class ScriptWriter {
 public:
  void add(Picture picture) {
    const double last = last_of(picture);
    const bool chosen = !picture.axis.marks.empty();
    if (!chosen && last > picture.axis.from && last <= few * picture.axis.from) picture.axis.logarithmic = false;
    std::string plots = axis_of(picture) + fmt::format("set rmargin {}\n", right_margin_of(picture));
    for (std::size_t i = 0; i < picture.panels.size(); ++i) {
      const Panel& panel = picture.panels[i];
      plots += place_of(picture, i);
      plots += panel.key_alone ? key_of(panel, has_row_of_key(picture)) : panel_of(panel, picture.axis);
    }
    pictures_.emplace_back(picture, plots);
  }

  /// For gnuplot; SVG comes first, so that it is there even where PNG cannot be drawn.
  [[nodiscard]] std::string text(PictureFormats formats) const {
    std::string script = "# drawn by gnuplot; run it again after any change\n" + blocks_ + palette_commands() + look;
    for (const auto& [picture, plots] : pictures_) {
      if (!formats.svg) break;
      script += "set terminal svg " + size_of(picture) + " dynamic background rgb 'white' font 'sans,13'\n" +
                output_of(picture, "svg", plots);
    }
    for (const auto& [picture, plots] : pictures_) {
      if (!formats.png) break;
      script += "if (strstrt(GPVAL_TERMINALS, 'pngcairo') > 0) { set terminal pngcairo " + size_of(picture) +
                " font 'sans,11' } else { set terminal png " + size_of(picture) + " }\n" +
                output_of(picture, "png", plots);
    }
    if (!formats.pdf) return script;
    script += fmt::format("if (strstrt(GPVAL_TERMINALS, 'pdfcairo') == 0) {{ exit status {} }}\n", no_terminal);
    for (const auto& [picture, plots] : pictures_) {
      script += "set terminal pdfcairo " + inches_of(picture) + " font 'sans,11'\n" + output_of(picture, "pdf", plots);
    }
    return script;
  }

 private:
  /// Whether the key has a row of its own, which is as low as it can be.
  static bool has_row_of_key(const Picture& picture) {
    return picture.panels.back().key_alone && picture.panels.size() % picture.columns == 1 % picture.columns;
  }
  static int rows_of(const Picture& picture) {
    const std::size_t panels = picture.panels.size() - (has_row_of_key(picture) ? 1 : 0);
    return static_cast<int>((panels + picture.columns - 1) / picture.columns);
  }
  static int width_of(const Picture& picture) { return picture.columns == 1 ? 900 : 1200; }
  static int height_of_key(const Picture& picture) {
    if (!has_row_of_key(picture)) return 0;
    const std::vector<std::string> titles = titles_of(picture.panels.back());
    std::size_t longest = 0;
    for (const std::string& title : titles) longest = std::max(longest, title.size());
    const int width = width_of_character * static_cast<int>(longest + key_margin);
    const int in_row = std::max(1, width_of(picture) / width);
    return height_of_title * (1 + (static_cast<int>(titles.size()) + in_row - 1) / in_row);
  }
  static int height_of(const Picture& picture) {
    const bool wide = picture.columns > 2;  // panels of a row are narrow, and need not be as high
    return std::max(wide ? height_of_row : least_height, panel_height * rows_of(picture)) + height_of_key(picture);
  }
  /// The commands that put a panel into its place.
  static std::string place_of(const Picture& picture, std::size_t i) {
    const double key = static_cast<double>(height_of_key(picture)) / height_of(picture);
    if (has_row_of_key(picture) && i + 1 == picture.panels.size()) {
      return fmt::format("set origin 0,0\nset size 1,{:.6g}\n", key);
    }
    const double width = 1 / static_cast<double>(picture.columns);
    const double height = (1 - key) / rows_of(picture);
    return fmt::format("set origin {:.6g},{:.6g}\nset size {:.6g},{:.6g}\n",
                       width * static_cast<double>(i % picture.columns),
                       1 - height * static_cast<double>(i / picture.columns + 1), width, height);
  }
  static std::string size_of(const Picture& picture) {
    return fmt::format("size {},{}", width_of(picture), height_of(picture));
  }
  static std::string inches_of(const Picture& picture) {
    return fmt::format("size {:.2f}in,{:.2f}in", width_of(picture) / dots_per_inch, height_of(picture) / dots_per_inch);
  }
  static std::string output_of(const Picture& picture, const std::string& ending, const std::string& plots) {
    return fmt::format("set output '{}.{}'\nset multiplot\n{}unset multiplot\nunset output\n", picture.name, ending,
                       plots);
  }

  std::string raster_of(const Panel& panel, const HorizontalAxis& horizontal) {
    std::string lines;
    for (const Box& box : panel.boxes) {
      const double left = horizontal.logarithmic ? std::max(box.left, 0.5) : box.left;
      if (std::isnan(box.value) || box.right <= left) continue;
      lines += fmt::format("{:.10g} {:.10g} {:.10g} {:.10g} {:.10g} {:.10g} {:.4g}\n", 0.5 * (left + box.right),
                           0.5 * (box.low + box.high), left, box.right, box.low, box.high, box.value);
    }
    const std::string name = fmt::format("$raster{}", ++count_);
    blocks_ += fmt::format("{} << END\n{}END\n", name, lines);
    const std::string range =
        panel.range ? fmt::format("[][{:.10g}:{:.10g}] ", panel.range->first, panel.range->second) : "";
    return fmt::format(
        "set title {}\nset ylabel {}\n{}set cbrange [0:{}]\n{}plot {}{} using 1:2:3:4:5:6:7 with boxxyerror fs solid "
        "noborder lc palette notitle\nset size noratio\n",
        quoted(panel.title), quoted(panel.label), panel.matrix ? "set size square\n" : "", panel.matrix ? "*" : "1",
        panel.matrix ? matrix_palette() : raster_palette(), range, name);
  }

  static std::string style_of(const Curve& curve) {
    if (curve.dashed)
      return fmt::format("lines lw 2 dt 2 lc {}", curve.colour == 0 ? "'black'" : fmt::format("{}", curve.colour));
    const std::string type = curve.colour == 0 ? "" : fmt::format(" lt {}", curve.colour);
    if (curve.dotted) return fmt::format("linespoints{} lw 2 pt 7 ps 0.5", type);
    if (needs_markers(curve.colour)) return fmt::format("linespoints{} lw 2 ps 0.8 pn {}", type, markers_of_line);
    return fmt::format("lines{} lw 2", type);
  }
  static std::string style_of(const Band& band) {
    return fmt::format("{} lc {}", band.filled ? "filledcurves fs transparent solid 0.25 noborder" : "lines lw 1.5",
                       band.colour);
  }

  static std::vector<std::string> titles_of(const Panel& panel) {
    std::vector<std::string> titles;
    for (const Band& band : panel.bands) titles.push_back(band.title);
    for (const Curve& curve : panel.curves) titles.push_back(curve.title);
    std::erase(titles, "");
    return titles;
  }
  /// Characters of the longest title of a key that stands on the right of a panel; none where it stands above.
  static std::optional<std::size_t> key_on_the_right_of(const Panel& panel) {
    std::size_t longest = 0;
    const std::vector<std::string> titles = titles_of(panel);
    for (const std::string& title : titles) longest = std::max(longest, title.size());
    const bool above = titles.size() <= most_titles_above || longest > longest_on_the_right || panel.key_alone;
    return above ? std::nullopt : std::optional(longest);
  }
  /// One margin for all panels, so that their axes stand below each other.
  static std::size_t right_margin_of(const Picture& picture) {
    std::size_t margin = narrow_margin;
    for (const Panel& panel : picture.panels) {
      if (const auto longest = key_on_the_right_of(panel)) margin = std::max(margin, *longest + key_margin);
    }
    return margin;
  }

  static std::string key_of(const Panel& panel, bool has_own_row) {
    std::vector<std::string> titles;
    for (const Band& band : panel.bands) {
      titles.push_back(fmt::format("-1 with {} title {}", style_of(band), quoted(band.title)));
    }
    for (const Curve& curve : panel.curves) {
      if (!curve.title.empty()) {
        titles.push_back(fmt::format("-1 with {} title {}", style_of(curve), quoted(curve.title)));
      }
    }
    return fmt::format(
        "set title ''\nset xlabel ''\nset ylabel ''\nunset border\nunset tics\nset margins 3,0,0,0\nset key inside "
        "left center {} maxrows auto Left reverse samplen 2\nplot [][0:1] {}\nset margins -1,-1,-1,-1\n{}",
        has_own_row ? "horizontal" : "vertical", fmt::join(titles, ", \\\n     "), look);
  }

  /// Adds what plots a band, and its data block.
  void add_band(const Band& band, std::vector<std::string>& plots) {
    std::string lines;
    std::size_t known = 0;
    for (const Band::Edge& edge : band.edges) {
      if (!std::isfinite(edge.low) || !std::isfinite(edge.high)) continue;
      ++known;
      lines += fmt::format("{:.10g} {:.10g} {:.10g}\n", edge.x, edge.low, edge.high);
    }
    if (lines.empty()) return;
    const std::string name = fmt::format("$band{}", ++count_);
    blocks_ += fmt::format("{} << END\n{}END\n", name, lines);
    const std::string title = band.title.empty() ? "notitle" : "title " + quoted(band.title);
    if (known == 1) {
      plots.push_back(
          fmt::format("{} using 1:2:(0):($3-$2) with vectors nohead lt {} lw 2 {}", name, band.colour, title));
      return;
    }
    if (band.filled) {
      plots.push_back(fmt::format("{} using 1:2:3 with {} {}", name, style_of(band), title));
      return;
    }
    plots.push_back(fmt::format("{} using 1:2 with {} {}", name, style_of(band), title));
    plots.push_back(fmt::format("{} using 1:3 with {} notitle", name, style_of(band)));
  }

  std::string panel_of(const Panel& panel, const HorizontalAxis& horizontal) {
    if (!panel.boxes.empty()) return raster_of(panel, horizontal);
    std::vector<std::string> curves;
    for (const Band& band : panel.bands) add_band(band, curves);
    for (const Curve& curve : panel.curves) {
      const std::string points = block_of(curve, panel.logarithmic, horizontal);
      if (points.empty()) continue;
      const std::string name = fmt::format("$curve{}", ++count_);
      blocks_ += fmt::format("{} << END\n{}END\n", name, points);
      curves.push_back(fmt::format("{} with {} {}", name, style_of(curve),
                                   curve.title.empty() ? "notitle" : "title " + quoted(curve.title)));
    }
    const std::string axis =
        fmt::format("set title {} noenhanced\nset ylabel {}\n{}", quoted(panel.title), quoted(panel.label),
                    key_on_the_right_of(panel) ? key_on_the_right : key_above);
    if (curves.empty()) {
      return fmt::format("{}set label 1 {} at graph 0.5,0.5 center\nplot [][0:1] -1 notitle\nunset label 1\n", axis,
                         quoted(panel.otherwise));
    }
    const std::string range =
        panel.range ? fmt::format("[][{:.10g}:{:.10g}] ", panel.range->first, panel.range->second) : "";
    const std::string plot = fmt::format("plot {}{}\n", range, fmt::join(curves, ", \\\n     "));
    if (!panel.logarithmic) return axis + plot;
    return axis + "set logscale y\nset format y '10^{%L}'\n" + plot + "unset logscale y\nset format y\n";
  }

  std::vector<std::pair<Picture, std::string>> pictures_;
  std::string blocks_;
  int count_ = 0;
};

}  // namespace

std::string draw(const std::string& folder, const std::string& script_name, const std::vector<Picture>& pictures,
                 PictureFormats formats) {
  const ScratchFolder bench(folder, ".pictures");
  if (!bench.made()) {
    return fmt::format("no pictures: cannot write in '{}' ({}); name another folder with --output", folder,
                       std::strerror(errno));
  }
  ScriptWriter writer;
  for (const Picture& picture : pictures) writer.add(picture);
  write_text(folder + "/" + script_name, writer.text(formats));
  const int status = run_quietly(bench.path(), {"gnuplot", fs::absolute(folder + "/" + script_name).string()});
  if (status == -1 || status == 127) return "no pictures: gnuplot is not installed: the CSV tables hold the curves.";
  for (const auto& entry : fs::directory_iterator(bench.path())) {
    fs::rename(entry.path(), fs::path(folder) / entry.path().filename());
  }
  if (status == 0) return "";
  if (status == no_terminal) {
    return "no PDF: this gnuplot has no terminal pdfcairo: it was built without cairo. Install gnuplot-nox or "
           "gnuplot-qt, or leave pdf out of --picture-format";
  }
  return fmt::format("not all pictures: gnuplot ended with status {}: run it on {} in {}.", status, script_name,
                     folder);
}

}  // namespace starling
