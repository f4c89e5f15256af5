#include "starling/record/journal.hpp"

namespace starling {

// An entry is the length of its content, and the content.
void Journal::append(const Snapshot& entry) const {
  file_.append(entry.content().map([](const std::string& content) {
    const std::uint64_t length = content.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + content;
  }));
}

void Journal::go_back(std::int64_t size, const std::function<void(Snapshot&)>& again) const {
  file_.go_back(size);
  Snapshot entries(file_.content());
  while (!entries.at_end()) {
    Secret<std::string> content;
    entries(content);
    Snapshot entry(std::move(content));
    again(entry);
  }
}

}  // namespace starling
