#include "output/directory/journal.hpp"

#include <cstring>

#include "core/check.hpp"
#include "core/digest.hpp"

namespace starling {

// An entry is the length of its content, the content, and the content's digest.
void Journal::append(const Secret<std::string>& entry) const {
  file_.append(entry.map([](const std::string& content) {
    const std::uint64_t length = content.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + content + sha256(content);
  }));
}

void JournalReader::refuse(const std::string& what) const {
  throw DataError(fmt::format("'{}', byte {}: {}", path_, at_, what));
}

std::optional<Secret<std::string>> JournalReader::next() {
  constexpr auto frame = static_cast<std::int64_t>(sizeof(std::uint64_t) + digits_of_digest);
  at_ = next_;
  if (at_ >= size_) return std::nullopt;
  if (size_ - at_ < frame) refuse("an entry that the journal ends in");
  const OwnersFile file(path_);
  std::uint64_t length = 0;
  file.read(at_, sizeof length).update([&](const std::string& text) {
    std::memcpy(&length, text.data(), sizeof length);
  });
  if (length > static_cast<std::uint64_t>(size_ - at_ - frame)) {
    refuse(fmt::format("an entry of {} bytes, more than the journal has", length));
  }
  const auto start = at_ + static_cast<std::int64_t>(sizeof length);
  Secret<std::string> content = file.read(start, static_cast<std::int64_t>(length));
  const Secret<std::string> digest = file.read(start + static_cast<std::int64_t>(length), digits_of_digest);
  content.update(
      [&](const std::string& text, const std::string& noted) {
        if (sha256(text) != noted) refuse("an entry is not what was written: some byte was changed");
      },
      digest);
  next_ = start + static_cast<std::int64_t>(length) + digits_of_digest;
  return content;
}

void Journal::go_back(std::int64_t size, const std::function<void(Snapshot&)>& again) const {
  file_.go_back(size);
  JournalReader reader(file_.path(), size);
  while (std::optional<Secret<std::string>> content = reader.next()) {
    try {
      Snapshot entry(*content);
      again(entry);
      entry.require_end();
    } catch (const DataError& error) {
      reader.refuse(fmt::format("an entry that does not fit here: {}", error.what()));
    }
  }
}

}  // namespace starling
