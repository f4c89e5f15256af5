#include "starling/record/progress_printer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "starling/record/rounds.hpp"

namespace starling {

namespace {

constexpr std::size_t usual_columns = 80;
constexpr std::size_t wide_bar = 24;
constexpr std::size_t narrow_bar = 8;

/// The current width of the terminal, which may be resized during a run.
std::size_t columns_of_terminal() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual_columns;
}

std::string in_time(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.0f} h", seconds / 3600);
}

/// Figures, each of which begins with two blanks.
std::vector<std::string> split_figures(const std::string& text) {
  std::vector<std::string> figures;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find("  ", from + 2), text.size());
    figures.push_back(text.substr(from, end - from));
    from = end;
  }
  return figures;
}

}  // namespace

std::string progress_bar(const ProgressMoment& moment, std::size_t columns) {
  const double share = moment.rounds > 0
                           ? std::clamp(static_cast<double>(moment.done) / static_cast<double>(moment.rounds), 0.0, 1.0)
                           : 1;
  const std::size_t room = columns > 0 ? columns - 1 : 0;  // a full line makes some terminals begin another
  const std::size_t width = columns >= usual_columns ? wide_bar : narrow_bar;
  const auto full = static_cast<std::size_t>(share * static_cast<double>(width));
  std::string line =
      fmt::format("[{}{}] {:3.0f} %", std::string(full, '#'), std::string(width - full, '.'), 100 * share);
  std::size_t length = line.size();
  std::string end;
  const auto fits = [&](const std::string& part) {
    if (length + part.size() > room) return false;
    length += part.size();
    return true;
  };
  const std::string round = fmt::format("  round {}/{}", moment.done, moment.rounds);
  if (fits(round)) line += round;
  std::string speed;
  if (moment.done > moment.before && moment.seconds > 0) {
    const double rate = static_cast<double>(moment.done - moment.before) / moment.seconds;
    const std::string left = fmt::format("  {} left", in_time(static_cast<double>(moment.rounds - moment.done) / rate));
    if (fits(left)) end = left;
    speed = fmt::format("  {:.0f} rounds/s", rate);
  }
  for (const std::string& figure : split_figures(moment.figures)) {
    if (!fits(figure)) break;
    line += figure;
  }
  if (fits(speed)) line += speed;
  return (line + end).substr(0, room);
}

ProgressPrinter::ProgressPrinter(ProgressStyle style, Round rounds, double epsilon_per_release)
    : style_(style),
      rounds_(rounds),
      epsilon_(epsilon_per_release),
      start_(std::chrono::steady_clock::now()),
      drawn_(start_) {}

double ProgressPrinter::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::string ProgressPrinter::describe(const NetworkFigures& figures) const {
  std::string text;
  const auto add = [&text](const char* name, double value, const char* format) {
    if (std::isnan(value)) return;
    text += fmt::format("  {} {}", name, fmt::vformat(format, fmt::make_format_args(value)));
  };
  if (learning_ends_ && figures.done > *learning_ends_) text += fmt::format("  budget spent, no learning");
  add("loss", figures.loss, "{:.4f}");
  add("accuracy", 100 * figures.accuracy, "{:.2f} %");
  add("test", 100 * figures.test_accuracy, "{:.2f} %");
  if (std::isnan(figures.test_accuracy)) add("test loss", figures.test_loss, "{:.4f}");
  add("consensus", figures.consensus_error, "{:.2e}");
  add("mass", figures.mass, "{:.10g}");
  if (epsilon_ > 0 && std::isfinite(epsilon_)) add("eps/release", epsilon_, "{:g}");
  return text;
}

void ProgressPrinter::tick(Round done) {
  if (style_ != ProgressStyle::bar || (done & 15) != 0) return;
  if (std::chrono::steady_clock::now() - drawn_ > std::chrono::milliseconds(200)) draw_bar(done);
}

void ProgressPrinter::draw_bar(Round done) {
  drawn_ = std::chrono::steady_clock::now();
  open_ = true;
  fmt::print(stderr, "\r{}\033[K",
             progress_bar({done, rounds_, before_, seconds(), describe(latest_)}, columns_of_terminal()));
  std::fflush(stderr);
}

void ProgressPrinter::show(const NetworkFigures& figures, bool last) {
  const double test = latest_.test_accuracy;
  const double test_loss = latest_.test_loss;
  latest_ = figures;
  if (std::isnan(latest_.test_loss)) {  // the last known one stays on the bar
    latest_.test_accuracy = test;
    latest_.test_loss = test_loss;
  }
  if (figures.done <= before_ && before_ > 0) return;
  if (style_ == ProgressStyle::bar) {
    draw_bar(figures.done);
  } else if (style_ == ProgressStyle::lines && (last || is_landmark(figures.done))) {
    const double rate = static_cast<double>(figures.done - before_) / std::max(seconds(), 1e-9);
    fmt::print(stderr, "round {:>9}/{}{}  {:.0f} rounds/s\n", figures.done, rounds_, describe(figures), rate);
  }
}

void ProgressPrinter::close() {
  if (open_) fmt::print(stderr, "\n");
  open_ = false;
}

}  // namespace starling
