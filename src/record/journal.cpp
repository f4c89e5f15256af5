#include "starling/record/journal.hpp"

#include <algorithm>
#include <array>

#include "starling/core/check.hpp"
#include "starling/core/digest.hpp"

namespace starling {

namespace {

constexpr std::size_t digits_of_digest = 64;

}  // namespace

// An entry is the length of its content, the content, and the content's digest.
void Journal::append(const Snapshot& entry) const {
  file_.append(entry.content().map([](const std::string& content) {
    const std::uint64_t length = content.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + content + sha256(content);
  }));
}

void Journal::go_back(std::int64_t size, const std::function<void(Snapshot&)>& again) const {
  file_.go_back(size);
  try {
    Snapshot entries(file_.content());
    std::size_t at = 0;  // where the entry begins
    while (!entries.at_end()) {
      Secret<std::string> content;
      std::array<char, digits_of_digest> digest{};
      entries(content, digest);
      content.update([&](const std::string& text) {
        check<DataError>(std::equal(digest.begin(), digest.end(), sha256(text).begin()),
                         "byte {}: the entry here is not what was written: some byte was changed", at);
        at += sizeof(std::uint64_t) + text.size() + digits_of_digest;
      });
      Snapshot entry(std::move(content));
      again(entry);
      entry.require_end();
    }
  } catch (const DataError& error) {
    throw DataError(fmt::format("'{}': {}", file_.path(), error.what()));
  }
}

}  // namespace starling
