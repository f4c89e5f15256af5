#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "core/text/exact_number.hpp"
#include "output/checkpoints/checkpoint.hpp"

namespace starling {

namespace {

using Json = nlohmann::ordered_json;

constexpr int format = 3;
constexpr std::string_view before_digest = ",\"sha256\":\"";
constexpr std::string_view after_digest = "\"}\n";

/// The line up to the digest.
std::string head_of(const CheckpointFile& checkpoint, std::size_t bytes) {
  const CheckpointLabel& label = checkpoint.label;
  Json files = Json::array();
  for (const auto& [name, size, digest] : checkpoint.files) files.push_back(Json::array({name, size, digest}));
  const Json head{
      {"starling", "checkpoint"},  {"format", format},     {"build", label.build}, {"run", label.run},
      {"rank", label.rank},        {"ranks", label.ranks}, {"first", label.first}, {"clients", label.clients},
      {"round", checkpoint.round}, {"files", files},       {"bytes", bytes}};
  std::string text = head.dump();
  text.pop_back();  // the brace that follows the digest
  return text;
}

std::string digest_of(std::string_view head, std::string_view state) {
  return sha256(std::string(head) + sha256(state));
}

[[noreturn]] void refuse(std::size_t byte, const std::string& what) {
  throw DataError(fmt::format("byte {}: {}", byte, what));
}

[[noreturn]] void refuse_member(std::string_view name) {
  refuse(0, fmt::format("its first line has no fitting '{}'", name));
}

/// `value`, which stands in the member `name`.
template <class T>
T read(const Json& value, std::string_view name) {
  if constexpr (std::integral<T>) {
    if (const std::optional<T> number = whole_number<T>(value)) return *number;
  } else {
    if (value.is_string()) return value.get<T>();
  }
  refuse_member(name);
}

const Json& find(const Json& head, std::string_view name) {
  const auto found = head.find(name);
  if (found == head.end()) refuse_member(name);
  return *found;
}

template <class T>
T member(const Json& head, std::string_view name) {
  return read<T>(find(head, name), name);
}

std::vector<Companion> files_of(const Json& head) {
  const std::string_view name = "files";
  const Json& files = find(head, name);
  if (!files.is_array()) refuse_member(name);
  std::vector<Companion> result;
  for (const Json& file : files) {
    if (!file.is_array() || file.size() != 3) refuse_member(name);
    result.push_back(
        {read<std::string>(file[0], name), read<std::int64_t>(file[1], name), read<std::string>(file[2], name)});
  }
  return result;
}

}  // namespace

Secret<std::string> write_checkpoint(const CheckpointFile& checkpoint) {
  return checkpoint.state.map([&](const std::string& state) {
    const std::string head = head_of(checkpoint, state.size());
    return fmt::format("{}{}{}{}{}", head, before_digest, digest_of(head, state), after_digest, state);
  });
}

CheckpointFile read_checkpoint(std::string_view file) {
  const std::size_t line = file.find('\n');
  const std::size_t tail = before_digest.size() + digits_of_digest + after_digest.size();
  if (line == std::string_view::npos || line + 1 < tail) refuse(0, "no line that says what it is");
  const std::string_view head = file.substr(0, line + 1 - tail);
  const std::string_view state = file.substr(line + 1);
  if (file.substr(head.size(), before_digest.size()) != before_digest ||
      file.substr(line + 1 - after_digest.size(), after_digest.size()) != after_digest) {
    refuse(head.size(), "its first line has no digest at its end");
  }
  const Json json = Json::parse(std::string(head) + "}", nullptr, false);
  if (!json.is_object() || member<std::string>(json, "starling") != "checkpoint") refuse(0, "it is no checkpoint");
  const int version = member<int>(json, "format");
  if (version != format) refuse(0, fmt::format("its format is {}, and {} is known here", version, format));
  const auto bytes = member<std::uint64_t>(json, "bytes");
  if (bytes != state.size()) {
    refuse(file.size(), fmt::format("{} bytes of state, of {} that its first line speaks of", state.size(), bytes));
  }
  const std::string_view digest = file.substr(head.size() + before_digest.size(), digits_of_digest);
  if (digest != digest_of(head, state)) refuse(line + 1, "its digest is another: some byte was changed");
  CheckpointFile result;
  result.label = {member<std::string>(json, "build"), member<std::string>(json, "run"),
                  member<int>(json, "rank"),          member<int>(json, "ranks"),
                  member<Client>(json, "first"),      member<Client>(json, "clients")};
  result.round = member<Round>(json, "round");
  result.files = files_of(json);
  result.state = Secret<std::string>(std::string(state));
  return result;
}

}  // namespace starling
