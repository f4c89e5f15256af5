#include "streams.hpp"

#include <utility>

namespace starling {

const Secret<Batch>& StoredStream::next(Round t) {
  const Slice slice = passes_.advance(t);
  batch_.update(
      [&slice](Batch& batch, const Batch& records) {
        batch.clear();
        for (std::int64_t i = slice.first; i < slice.first + slice.count; ++i) {
          const auto k = static_cast<std::size_t>(i);
          batch.add(records.row(k), records.label(k));
        }
      },
      records_);
  return batch_;
}

GeneratedStream::GeneratedStream(std::shared_ptr<const Generator> generator, std::function<double(double)> label_map,
                                 std::uint64_t seed, Client client, const Passes& passes)
    : generator_(std::move(generator)),
      label_map_(std::move(label_map)),
      seed_(seed),
      client_(static_cast<std::uint64_t>(client)),
      passes_(passes),
      values_(generator_->features()) {}

const Secret<Batch>& GeneratedStream::next(Round t) {
  const Slice slice = passes_.advance(t);
  const Round round = slice.round + 1;  // the paper counts from 1
  AddressedRandom random(seed_, Purpose::data, client_, static_cast<std::uint64_t>(round));
  batch_.update([&](Batch& batch) {
    batch.clear();
    for (std::int64_t i = 0; i < slice.count; ++i) {
      const double label = label_map_(generator_->draw(round, random, values_));
      batch.add({values_, {}}, label);
    }
  });
  return batch_;
}

}  // namespace starling
