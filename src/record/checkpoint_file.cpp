#include <tuple>

#include <nlohmann/json.hpp>

#include "starling/core/check.hpp"
#include "starling/core/digest.hpp"
#include "starling/record/checkpoint.hpp"

namespace starling {

namespace {

using Json = nlohmann::ordered_json;
using NamedDigest = std::tuple<std::string, std::int64_t, std::string>;

constexpr int format = 2;
constexpr std::string_view before_digest = ",\"sha256\":\"";
constexpr std::size_t digits_of_digest = 64;
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

template <class T>
T member(const Json& head, const char* name) {
  try {
    return head.at(name).get<T>();
  } catch (const Json::exception&) {
    refuse(0, fmt::format("its first line has no fitting '{}'", name));
  }
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
  for (const auto& [name, size, sum] : member<std::vector<NamedDigest>>(json, "files")) {
    result.files.push_back({name, size, sum});
  }
  result.state = Secret<std::string>(std::string(state));
  return result;
}

}  // namespace starling
