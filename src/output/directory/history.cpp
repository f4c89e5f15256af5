#include "output/directory/history.hpp"

#include <cerrno>
#include <cmath>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

#include "core/check.hpp"
#include "core/text/exact_number.hpp"
#include "files/text_files.hpp"

namespace starling {

namespace {

constexpr auto between_flushes_of_history = std::chrono::milliseconds(200);

/// The first line.
std::string header() {
  std::string line = "rounds";
  for (const HistoryFigure& each : history_figures) line += fmt::format(",{}", each.column);
  return line;
}

std::string line_of(const NetworkFigures& figures) {
  std::string line = fmt::format("{}", figures.done);
  for (const HistoryFigure& each : history_figures) line += "," + csv_field(figures.*each.figure);
  return line + "\n";
}

/// A lock on the whole file, for or against writing.
struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

/// Whether the line is one of a history after round `before`.
bool parse_line(std::string_view line, Round before, NetworkFigures& figures) {
  std::array<std::string_view, history_figures.size() + 1> fields;
  for (std::size_t k = 0; k < fields.size(); ++k) {
    const std::size_t end = line.find(',');
    if ((end == std::string_view::npos) != (k + 1 == fields.size())) return false;
    fields[k] = line.substr(0, end);
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  }
  const auto round = exact_number<Round>(fields[0]);
  if (!round || *round < before) return false;
  figures.done = *round;
  for (std::size_t k = 1; k < fields.size(); ++k) {
    if (fields[k].empty()) continue;
    const auto figure = exact_number<double>(fields[k]);
    if (!figure || std::isnan(*figure)) return false;
    figures.*history_figures[k - 1].figure = *figure;
  }
  return true;
}

}  // namespace

void HistoryWriter::append(const NetworkFigures& figures) {
  take(figures);
  waits_ = true;
  flush_if_due();
}

void HistoryWriter::flush_if_due() {
  if (waits_ && std::chrono::steady_clock::now() - flushed_ >= between_) flush();
}

void HistoryWriter::flush() {
  if (!waits_) return;
  write();
  waits_ = false;
  flushed_ = std::chrono::steady_clock::now();
}

void HistoryWriter::finish() noexcept {
  try {
    flush();
  } catch (const std::exception&) {  // the error that ends the run is the one to report
  }
}

HistoryFile::HistoryFile(std::string path)
    : HistoryWriter(between_flushes_of_history),
      path_(std::move(path)),
      file_(path_, O_WRONLY | O_CREAT | O_APPEND, 0666),
      waiting_(header() + "\n") {
  require_written(file_.get() < 0 ? errno : 0, path_);
  struct flock lock = whole_file();
  const bool held = ::fcntl(file_.get(), F_OFD_SETLK, &lock) != 0 && (errno == EAGAIN || errno == EACCES);
  check(!held, "'{}' is in use: the run goes on in another process. Wait for its end, or end it.", path_);
  // Where there are no locks, readers go by the file's age.
  require_written(::ftruncate(file_.get(), 0) == 0 ? 0 : errno, path_);
  write();
}

void HistoryFile::take(const NetworkFigures& figures) {
  waiting_ += line_of(figures);
}

void HistoryFile::write() {
  const std::string text = std::exchange(waiting_, {});
  require_written(write_all(file_.get(), text), path_);
}

std::vector<NetworkFigures> read_history(const std::string& path) {
  const std::string text = read_text(path);
  std::vector<NetworkFigures> history;
  std::size_t from = 0;
  for (int number = 1;; ++number) {
    const std::size_t end = text.find('\n', from);
    if (end == std::string::npos) break;
    const std::string_view line = std::string_view(text).substr(from, end - from);
    from = end + 1;
    if (number == 1) {
      check<DataError>(line == header(), "'{}' is not the history of a run: its first line is not '{}'. Restore it.",
                       path, header());
      continue;
    }
    NetworkFigures figures;
    check<DataError>(parse_line(line, history.empty() ? 0 : history.back().done, figures),
                     "'{}' line {} is not a line of a history, which has a round not before the last one, then eight "
                     "numbers or empty fields. Restore it.",
                     path, number);
    history.push_back(figures);
  }
  return history;
}

std::string to_csv(const std::vector<NetworkFigures>& history) {
  std::string text = header() + "\n";
  for (const NetworkFigures& figures : history) text += line_of(figures);
  return text;
}

std::vector<NetworkFigures> one_line_each(const std::vector<NetworkFigures>& history) {
  std::vector<NetworkFigures> lines;
  for (const NetworkFigures& line : history) {
    if (lines.empty() || lines.back().done != line.done) {
      lines.push_back(line);
      continue;
    }
    for (const HistoryFigure& each : history_figures) {
      if (!std::isnan(line.*each.figure)) lines.back().*each.figure = line.*each.figure;
    }
  }
  return lines;
}

Holding holding_of(const std::string& path) {
  const Descriptor file(path, O_RDONLY);
  struct flock lock = whole_file();
  // Asks only: no lock is taken that the run could meet.
  if (file.get() < 0 || ::fcntl(file.get(), F_OFD_GETLK, &lock) != 0) return Holding::no_locks;
  return lock.l_type == F_UNLCK ? Holding::free : Holding::held;
}

}  // namespace starling
