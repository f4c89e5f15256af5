#include "data/serving/known_records.hpp"

#include <bit>

#include "data/fingerprint.hpp"

namespace starling {

namespace {

/// The features of a record other than 0, one after the other.
class Entries {
 public:
  explicit Entries(const Row& row) : row_(row) { skip_zeros(); }
  [[nodiscard]] bool ended() const { return place_ == row_.values.size(); }
  [[nodiscard]] std::size_t feature() const { return row_.feature(place_); }
  /// The bits of the value. A missing value, NaN, has the same bits everywhere, and so is equal to itself.
  [[nodiscard]] std::uint64_t bits() const { return std::bit_cast<std::uint64_t>(row_.values[place_]); }
  void advance() {
    ++place_;
    skip_zeros();
  }

 private:
  void skip_zeros() {
    while (!ended() && row_.values[place_] == 0) ++place_;
  }
  Row row_;
  std::size_t place_ = 0;
};

std::uint64_t digest_of(const Batch& batch, std::size_t i) {
  Fingerprint digest;
  digest.add(std::bit_cast<std::uint64_t>(batch.label(i) + 0.0));  // −0 is 0
  for (Entries own(batch.row(i)); !own.ended(); own.advance()) {
    digest.add(own.feature());
    digest.add(own.bits());
  }
  return digest.value();
}

bool are_same(const Batch& one, std::size_t i, const Batch& other, std::size_t j) {
  if (one.label(i) != other.label(j)) return false;
  Entries first(one.row(i));
  Entries second(other.row(j));
  for (; !first.ended() && !second.ended(); first.advance(), second.advance()) {
    if (first.feature() != second.feature() || first.bits() != second.bits()) return false;
  }
  return first.ended() && second.ended();
}

std::vector<std::size_t> numbers_of(const std::vector<char>& marks) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (marks[i] != 0) numbers.push_back(i);
  }
  return numbers;
}

}  // namespace

KnownRecords::KnownRecords(const Batch& records) : records_(records) {
  for (std::size_t i = 0; i < records.size(); ++i) numbers_.emplace(digest_of(records, i), i);
}

void KnownRecords::mark(const Batch& batch, Marks& marks) const {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const auto [first, end] = numbers_.equal_range(digest_of(batch, i));
    for (auto known = first; known != end; ++known) {
      if (are_same(records_, known->second, batch, i)) marks[known->second] = 1;
    }
  }
}

std::vector<std::size_t> KnownRecords::found_in(const Batch& batch) const {
  Marks marks(records_.size());
  mark(batch, marks);
  return numbers_of(marks);
}

Secret<std::vector<std::size_t>> KnownRecords::found_in(Stream& stream) const {
  constexpr std::size_t at_once = 1024;
  stream.plan({at_once, 1});
  Secret<Marks> marks{Marks(records_.size())};
  // The stream of a client that joins begins later.
  const Round first = stream.rounds().value_or(0) - stream.rounds_of_pass().value_or(0);
  for (Round t = first; !stream.ended(t); ++t) {
    marks.update([this](Marks& all, const Batch& batch) { mark(batch, all); }, stream.next(t));
  }
  return marks.map(numbers_of);
}

}  // namespace starling
