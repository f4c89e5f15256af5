#include "output/progress_printer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "files/tell_user.hpp"

namespace starling {

namespace {

constexpr std::size_t wide_bar = 24;
constexpr std::size_t narrow_bar = 8;

std::string in_time(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.0f} h", seconds / 3600);
}

std::string in_speed(double rate) {
  return rate < 10 ? fmt::format("{:.2g}", rate) : fmt::format("{:.0f}", rate);
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

LinePace pace_of(ProgressStyle style) {
  switch (style) {
    case ProgressStyle::bar:
      return {0, 0.2, 0.2};
    case ProgressStyle::json:
      return {0, 1, 1};
    case ProgressStyle::lines:
    case ProgressStyle::off:
      break;
  }
  return {1, 2, 60};
}

nlohmann::ordered_json number_or_null(std::optional<double> value) {
  return value && std::isfinite(*value) ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

}  // namespace

std::optional<double> ProgressMoment::rate() const {
  if (done <= before || seconds <= 0) return std::nullopt;
  return static_cast<double>(done - before) / seconds;
}

std::optional<double> ProgressMoment::seconds_left() const {
  const auto rate = this->rate();
  return rate ? std::optional(static_cast<double>(rounds - done) / *rate) : std::nullopt;
}

bool LinePace::due(double seconds) {
  if (seconds < next_) return false;
  next_ = seconds + gap_;
  gap_ = std::min(1.5 * gap_, longest_);
  return true;
}

std::string progress_bar(const ProgressMoment& moment, std::size_t columns) {
  const double share = moment.rounds > 0
                           ? std::clamp(static_cast<double>(moment.done) / static_cast<double>(moment.rounds), 0.0, 1.0)
                           : 1;
  const std::size_t room = columns > 0 ? columns - 1 : 0;  // a full line makes some terminals begin another
  const std::size_t width = columns >= Terminal::usual_columns ? wide_bar : narrow_bar;
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
  if (const auto rate = moment.rate()) {
    const std::string left = fmt::format("  {} left", in_time(*moment.seconds_left()));
    if (fits(left)) end = left;
    speed = fmt::format("  {} rounds/s", in_speed(*rate));
  }
  for (const std::string& figure : split_figures(moment.figures)) {
    if (!fits(figure)) break;
    line += figure;
  }
  if (fits(speed)) line += speed;
  return (line + end).substr(0, room);
}

std::string progress_line(const ProgressMoment& moment) {
  std::string line = fmt::format("round {:>9}/{}{}", moment.done, moment.rounds, moment.figures);
  if (const auto rate = moment.rate()) line += fmt::format("  {} rounds/s", in_speed(*rate));
  if (moment.done < moment.rounds && moment.rate()) line += fmt::format("  {} left", in_time(*moment.seconds_left()));
  return line;
}

ProgressPrinter::ProgressPrinter(ProgressStyle style, Round rounds, double epsilon_per_release)
    : style_(style),
      rounds_(rounds),
      epsilon_(epsilon_per_release),
      terminal_(style == ProgressStyle::bar ? Terminal::of_standard_error() : std::nullopt),
      pace_(pace_of(style)),
      start_(std::chrono::steady_clock::now()) {}

ProgressPrinter::~ProgressPrinter() {
  if (open_) tell_user("\n");
}

double ProgressPrinter::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::string ProgressPrinter::describe(Round done) const {
  std::string text;
  const auto add = [&text](const char* name, double value, const char* format) {
    if (std::isnan(value)) return;
    text += fmt::format("  {} {}", name, fmt::vformat(format, fmt::make_format_args(value)));
  };
  if (learning_ended(done)) text += fmt::format("  budget spent, no learning");
  add("loss", latest_.loss, "{:.4f}");
  add("accuracy", 100 * latest_.accuracy, "{:.2f} %");
  add("test", 100 * latest_.test_accuracy, "{:.2f} %");
  if (std::isnan(latest_.test_accuracy)) add("test loss", latest_.test_loss, "{:.4f}");
  if (epsilon_spent_) add("eps spent", *epsilon_spent_, "{:.3g}");
  if (slowest_) text += fmt::format("  slowest rank {} ({:.1f}x)", slowest_->rank, slowest_->times_mean);
  add("consensus", latest_.consensus_error, "{:.2e}");
  add("mass", latest_.mass, "{:.10g}");
  if (epsilon_ > 0 && std::isfinite(epsilon_)) add("eps/release", epsilon_, "{:g}");
  return text;
}

void ProgressPrinter::tick(Round done) {
  if (style_ != ProgressStyle::off && pace_.due(seconds())) write(done, false);
}

/// Composing many releases takes time: at most some 2 % of a run's.
void ProgressPrinter::look_at_epsilon(bool last) {
  const double begin = seconds();
  if (!last && begin < next_spent_) return;
  epsilon_spent_ = spent_();
  const double end = seconds();
  next_spent_ = end + 50 * (end - begin);
}

void ProgressPrinter::write(Round done, bool last) {
  look_at_epsilon(last);
  const ProgressMoment moment{done, rounds_, before_, seconds(), describe(done)};
  if (style_ == ProgressStyle::json) return write_json(moment, last);
  if (style_ == ProgressStyle::lines) return tell_user("{}\n", progress_line(moment));
  tell_user("\r{}\033[K", progress_bar(moment, terminal_ ? terminal_->columns() : Terminal::usual_columns));
  std::fflush(stderr);
  open_ = true;
}

void ProgressPrinter::write_json(const ProgressMoment& moment, bool last) {
  nlohmann::ordered_json json{{"round", moment.done},
                              {"rounds", moment.rounds},
                              {"last", last},
                              {"seconds", moment.seconds},
                              {"rounds_per_second", number_or_null(moment.rate())},
                              {"seconds_left", number_or_null(moment.seconds_left())},
                              {"figures_round", latest_.done},
                              {"loss", number_or_null(latest_.loss)},
                              {"accuracy", number_or_null(latest_.accuracy)},
                              {"test_loss", number_or_null(latest_.test_loss)},
                              {"test_accuracy", number_or_null(latest_.test_accuracy)},
                              {"consensus_error", number_or_null(latest_.consensus_error)},
                              {"mass", number_or_null(latest_.mass)},
                              {"epsilon_per_release", number_or_null(epsilon_)},
                              {"epsilon_spent", number_or_null(epsilon_spent_)},
                              {"learning_ended", learning_ended(moment.done)},
                              {"slowest_rank", nullptr},
                              {"slowest_times_mean", nullptr}};
  if (slowest_) {
    json["slowest_rank"] = slowest_->rank;
    json["slowest_times_mean"] = slowest_->times_mean;
  }
  tell_user("{}\n", json.dump());
}

void ProgressPrinter::show(const NetworkFigures& figures, const std::optional<SlowestRank>& slowest) {
  const double test = latest_.test_accuracy;
  const double test_loss = latest_.test_loss;
  latest_ = figures;
  slowest_ = slowest;
  if (std::isnan(latest_.test_loss)) {  // the last known one stays
    latest_.test_accuracy = test;
    latest_.test_loss = test_loss;
  }
  if (style_ == ProgressStyle::bar && (figures.done > before_ || before_ == 0)) write(figures.done, false);
}

void ProgressPrinter::close() {
  if (style_ == ProgressStyle::off || (before_ > 0 && latest_.done <= before_)) return;
  write(latest_.done, true);
  if (open_) tell_user("\n");
  open_ = false;
}

}  // namespace starling
