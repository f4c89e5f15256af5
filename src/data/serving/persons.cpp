#include "persons.hpp"

#include <algorithm>

namespace starling {

Persons::Persons(const Found& found) {
  constexpr std::int32_t unseen = -1;
  std::vector<std::int32_t> person_of(found.values.size(), unseen);
  std::vector<std::size_t> counts;
  for (const std::int32_t key : found.keys) {
    std::int32_t& person = person_of[static_cast<std::size_t>(key)];
    if (person == unseen) {
      person = static_cast<std::int32_t>(counts.size());
      counts.push_back(0);
      found_.keys.push_back(key);
    }
    ++counts[static_cast<std::size_t>(person)];
  }
  starts_.assign(1, 0);
  for (const std::size_t count : counts) starts_.push_back(starts_.back() + count);
  numbers_.resize(found.keys.size());
  std::vector<std::size_t> next = starts_;
  for (std::size_t i = 0; i < found.keys.size(); ++i) {
    const auto person = static_cast<std::size_t>(person_of[static_cast<std::size_t>(found.keys[i])]);
    numbers_[next[person]++] = static_cast<std::int64_t>(i);
  }
  found_.records = size();
  found_.values = found.values;
}

void StoredPersonRecords::keep(std::int64_t number, const Record& record) {
  if (record.left_out) return;
  numbers_.push_back(number);
  records_.add(record.row(), record.label);
}

void StoredPersonRecords::add(std::span<const std::int64_t> numbers, Batch& batch) {
  for (const std::int64_t number : numbers) {
    const auto found = std::lower_bound(numbers_.begin(), numbers_.end(), number);
    if (found == numbers_.end() || *found != number) continue;
    const auto i = static_cast<std::size_t>(found - numbers_.begin());
    batch.add(records_.row(i), records_.label(i));
  }
}

void FilePersonRecords::add(std::span<const std::int64_t> numbers, Batch& batch) {
  for (const std::int64_t number : numbers) {
    reader_.read(number, record_);
    map_label(settings_, reader_.reader(), record_);
    if (!record_.left_out) batch.add(record_.row(), record_.label);
  }
}

const Secret<Batch>& PersonStream::next(Round t) {
  const Slice slice = passes_.advance(t);
  batch_->update([&](Batch& batch) {
    batch.clear();
    std::int64_t before = 0;  // persons in the runs before
    for (const Share::Run& run : share_.runs()) {
      const std::int64_t from = std::max(slice.first, before);
      const std::int64_t to = std::min(slice.first + slice.count, before + run.count);
      for (std::int64_t k = from; k < to; ++k) {
        batch.begin_person();
        records_->add(persons_->records(run.first + (k - before)), batch);
      }
      before += run.count;
    }
  });
  return *batch_;
}

}  // namespace starling
