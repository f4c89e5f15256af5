#include "starling/record/directory/journal.hpp"

#include <cstring>

#include "starling/core/check.hpp"
#include "starling/core/digest.hpp"

namespace starling {

namespace {

constexpr std::int64_t digits_of_digest = 64;

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
  constexpr auto frame = static_cast<std::int64_t>(sizeof(std::uint64_t)) + digits_of_digest;
  for (std::int64_t at = 0; at < size;) {
    const auto refuse = [&](const std::string& what) {
      throw DataError(fmt::format("'{}', byte {}: {}", file_.path(), at, what));
    };
    std::uint64_t length = 0;
    if (size - at < frame) refuse("an entry that the journal ends in");
    file_.read(at, sizeof length).update([&](const std::string& text) {
      std::memcpy(&length, text.data(), sizeof length);
    });
    if (length > static_cast<std::uint64_t>(size - at - frame)) {
      refuse(fmt::format("an entry of {} bytes, more than the journal has", length));
    }
    const auto start = at + static_cast<std::int64_t>(sizeof length);
    Secret<std::string> content = file_.read(start, static_cast<std::int64_t>(length));
    const Secret<std::string> digest = file_.read(start + static_cast<std::int64_t>(length), digits_of_digest);
    content.update(
        [&](const std::string& text, const std::string& noted) {
          if (sha256(text) != noted) refuse("an entry is not what was written: some byte was changed");
        },
        digest);
    Snapshot entry(std::move(content));
    try {
      again(entry);
      entry.require_end();
    } catch (const DataError& error) {
      refuse(fmt::format("an entry that does not fit here: {}", error.what()));
    }
    at = start + static_cast<std::int64_t>(length) + digits_of_digest;
  }
}

}  // namespace starling
