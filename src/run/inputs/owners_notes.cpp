#include "owners_notes.hpp"

#include <fmt/ranges.h>

#include "output/directory/owners_file.hpp"

namespace starling {

void OwnersNotes::tell(const Secret<std::string>& line) {
  lines_.update([](std::string& lines, const std::string& added) { lines += added + "\n"; }, line);
  if (private_folder_.empty()) return;
  OwnersFile(private_folder_ + "/left-out.txt").append(lines_);
  lines_ = Secret<std::string>();
}

void OwnersNotes::note_shared(Client u, const Secret<std::vector<std::size_t>>& numbers, std::size_t records) {
  if (!in_test_) in_test_.emplace();
  in_test_->update(
      [&](std::string& text, std::vector<std::size_t> found) {
        if (found.empty()) return;
        for (std::size_t& each : found) ++each;
        text += fmt::format("client {}: of {} records of --test these are among its own, counted from 1: {}\n", u,
                            records, fmt::join(found, ", "));
      },
      numbers);
}

void OwnersNotes::note_unmatched(Client u, const std::vector<std::size_t>& numbers, std::size_t records) {
  if (numbers.empty()) return;
  any_unmatched_ = true;
  unmatched_.update([&](std::string& text) {
    text += fmt::format("client {}: of {} records these are not in all parties' files, counted from 1:", u, records);
    for (const std::size_t number : numbers) text += fmt::format(" {}", number + 1);
    text += "\n";
  });
}

void OwnersNotes::write_shared() const {
  if (any_unmatched_) OwnersFile::replace(private_folder_ + "/not-matched.txt", unmatched_);
  if (in_test_) OwnersFile::replace(private_folder_ + "/in-test.txt", *in_test_);
}

}  // namespace starling
