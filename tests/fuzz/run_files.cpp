// What a run that goes on reads of its directory, beside checkpoints and ledgers, which have targets of their own. The
// first byte chooses what the others are: "0" config.ini; "1" a journal (or reports, which are one); "2" two bytes that
// choose a place, then a line for each entry of a journal, of which one bit is turned there; "3" the same, cut there.
#include <cctype>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "core/check.hpp"
#include "files/durable_file.hpp"
#include "options/options.hpp"
#include "output/directory/journal.hpp"
#include "target.hpp"

namespace {

using namespace starling;

struct Values {
  std::optional<std::string> topology;
  std::optional<std::string> output;
  std::optional<std::string> resume;
  std::string checkpoint_every;
  double step = 0;
  std::int64_t rounds = 0;
  bool json = false;
};

Options options_into(Values& values) {
  Options options("omd");
  options.group("All");
  options.add({.name = "topology", .argument = "FILE"}, values.topology);
  options.add({.name = "step", .argument = "C", .initial = "1", .range = {1e-300, 1e12}}, values.step);
  options.add(
      {.name = "rounds", .argument = "T", .initial = "10", .range = {1, 1'000'000}, .effect = Option::Effect::length},
      values.rounds);
  options.add({.name = "json", .effect = Option::Effect::none}, values.json);
  options.add({.name = "checkpoint-every", .argument = "K", .initial = "0", .effect = Option::Effect::none},
              [&](const std::string& text) { values.checkpoint_every = text; });
  options.add({.name = "output", .argument = "DIR"}, values.output);
  options.add({.name = "resume", .argument = "DIR", .about_configuration = true}, values.resume);
  options.add({.name = "config", .argument = "FILE", .about_configuration = true});
  return options;
}

/// A directory that holds a config.ini, while it exists.
class RunFolder {
 public:
  explicit RunFolder(std::string_view configuration) : path_(fuzz::MemoryFile("").path() + "-run") {
    std::filesystem::create_directory(path_);
    std::ofstream(path_ + "/config.ini", std::ios::binary) << configuration;
  }
  ~RunFolder() { std::filesystem::remove_all(path_); }
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// What a run goes on with is what the file says, and a file that is refused is named.
void read_configuration(std::string_view bytes) {
  const RunFolder run(bytes);
  Values values;
  Options options = options_into(values);
  try {
    options.parse({"--resume", run.path()});
  } catch (const UsageError& error) {
    fuzz::require(std::string(error.what()).find(run.path() + "/config.ini") != std::string::npos,
                  "the file is not named");
    throw;
  }
  Values as_file;
  Options same = options_into(as_file);
  same.parse({"--config", run.path() + "/config.ini"});
  fuzz::require(options.configuration() == same.configuration(), "a run that goes on with other options");
  fuzz::require(values.rounds == as_file.rounds && values.step == as_file.step, "values that are others");

  Values changed;
  Options more = options_into(changed);
  more.parse({"--resume", run.path(), "--rounds", "77"});
  fuzz::require(changed.rounds == 77 && changed.step == values.step,
                "rounds that may be given, and change nothing else");
  bool refused = false;
  try {
    Values other;
    options_into(other).parse({"--resume", run.path(), "--step", "0.123"});
  } catch (const UsageError&) {
    refused = true;
  }
  fuzz::require(refused || values.step == 0.123, "a step that is another was taken");
}

using Texts = std::vector<std::string>;

/// The entries of the first `size` bytes; with an error, what was handed out before it.
Texts entries_of(const std::string& path, std::int64_t size, Texts& before) {
  const Journal journal(path);
  try {
    journal.go_back(size, [&](Snapshot& entry) {
      std::string text;
      entry(text);
      before.push_back(text);
    });
  } catch (const DataError& error) {
    fuzz::require(std::string(error.what()).find(path) != std::string::npos, "the file is not named");
    throw;
  }
  return before;
}

void read_journal(std::string_view bytes) {
  const fuzz::MemoryFile file(bytes);
  Texts before;
  const auto size = static_cast<std::int64_t>(bytes.size());
  const Texts entries = entries_of(file.path(), size, before);
  fuzz::require(read_whole_file(file.path()) == std::string(bytes), "a journal that reading changes");
  fuzz::require(bytes.empty() == entries.empty(), "bytes without an entry");
}

Texts lines_of(std::string_view bytes) {
  Texts lines;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    lines.emplace_back(bytes.substr(0, end));
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
  }
  return lines;
}

bool is_beginning(const Texts& some, const Texts& all) {
  return some.size() <= all.size() && std::equal(some.begin(), some.end(), all.begin());
}

/// A journal as the program writes it, then with a bit turned (or cut) at the place that the first two bytes choose.
void damage_journal(std::string_view bytes, bool cut) {
  if (bytes.size() < 3) return;
  const std::size_t place = static_cast<unsigned char>(bytes[0]) * 256U + static_cast<unsigned char>(bytes[1]);
  const Texts lines = lines_of(bytes.substr(2));
  const fuzz::MemoryFile file("");
  const Journal journal(file.path());
  for (std::string line : lines) {
    Snapshot entry;
    entry(line);
    journal.append(entry);
  }
  const std::int64_t size = journal.settle();
  Texts read;
  fuzz::require(entries_of(file.path(), size, read) == lines, "entries that are others when they are read");

  std::string text = read_whole_file(file.path()).value_or("");
  if (cut) {
    text.resize(place % text.size());
  } else {
    const std::size_t bit = place % (8 * text.size());
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
  }
  const fuzz::MemoryFile damaged(text);
  Texts before;
  bool refused = false;
  try {
    static_cast<void>(entries_of(damaged.path(), size, before));
  } catch (const DataError& error) {
    refused = true;
    const std::string message = error.what();
    const std::size_t at = message.find("byte ");
    const bool named = at != std::string::npos && std::isdigit(message[at + 5]) != 0;
    fuzz::require(cut || named, "no place is named: " + message);
  }
  fuzz::require(refused, "a damaged journal was taken");
  fuzz::require(is_beginning(before, lines), "an entry that nobody has written");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.empty()) return -1;
  const std::size_t kind = fuzz::choose(bytes, 4);
  fuzz::answers([&] {
    if (kind == 0) read_configuration(bytes);
    if (kind == 1) read_journal(bytes);
    if (kind >= 2) damage_journal(bytes, kind == 3);
  });
  return 0;
}
