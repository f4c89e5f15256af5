#include "streams.hpp"

#include <numeric>

#include "core/record_error.hpp"

namespace starling {

void StoredRecords::add(const Record& record) {
  if (record.left_out && kept_before_.empty()) {
    kept_before_.resize(places_);
    std::iota(kept_before_.begin(), kept_before_.end(), std::size_t{0});
  }
  if (record.left_out || !kept_before_.empty()) kept_before_.push_back(records_.size());
  if (!record.left_out) records_.add(record.row(), record.label);
  ++places_;
}

void StoredRecords::shrink() {
  Batch exact = records_;
  records_ = std::move(exact);
  kept_before_.shrink_to_fit();
}

void Stream::plan(const Batching& /*batching*/) {
  check<FailureError>(false, "a stream of this kind gives the batches that it was opened with");
}

const Secret<Batch>& StoredStream::next(Round t) {
  const Slice slice = passes_.advance(t);
  shown_->update(
      [&slice](Batch& batch, const StoredRecords& records) { records.show(slice.first, slice.count, batch); },
      records_);
  return *shown_;
}

std::int64_t FileStream::number_of(std::int64_t i) {
  if (i < before_run_) {  // a new pass
    run_ = 0;
    before_run_ = 0;
  }
  while (i >= before_run_ + share_.runs()[run_].count) before_run_ += share_.runs()[run_++].count;
  return share_.runs()[run_].first + (i - before_run_);
}

void FileStream::take_the_reader() {
  if (source_->user == this) return;
  if (source_->user != nullptr) source_->user->place_ = source_->reader.place();
  if (place_) source_->reader.go_to(*place_);
  source_->user = this;
}

const Secret<Batch>& FileStream::next(Round t) {
  const Slice slice = passes_.advance(t);
  if (slice.count > 0) take_the_reader();
  FileSource& source = *source_;
  batch_->update([&](Batch& batch) {
    batch.clear();
    for (std::int64_t i = slice.first; i < slice.first + slice.count; ++i) {
      source.reader.read(number_of(i), source.record);
      map_label(source.settings, source.reader.reader(), source.record);
      if (!source.record.left_out) batch.add(source.record.row(), source.record.label);
    }
  });
  return *batch_;
}

bool LiveStream::fetch() {
  if (waiting_ || over_) return waiting_;
  try {
    waiting_ = reader_->next(record_);
    over_ = !waiting_;
    if (waiting_) map_label(settings_, *reader_, record_);
    left_out_ = waiting_ && record_.left_out;
  } catch (const RecordError& error) {
    waiting_ = true;
    left_out_ = true;
    settings_.note_left_out(Secret<std::string>(error.shown()));
  }
  return waiting_;
}

void LiveStream::plan(const Batching& batching) {
  check<FailureError>(batching.epochs == 1, "{} passes over a pipe: it gives each record once.", batching.epochs);
  settings_.batch = batching.batch;
  sizes_ = batching.sizes;
}

bool LiveStream::ended(Round /*t*/) {
  return !fetch();
}

const Secret<Batch>& LiveStream::next(Round t) {
  check<FailureError>(t >= next_, "round {} was asked for after round {}: streams go forward only.", t, next_ - 1);
  next_ = t + 1;
  if (!uses_) {
    batch_.update([&](Batch& batch) {
      batch.clear();
      read_round([&] { batch.add(record_.row(), record_.label); });
    });
    return batch_;
  }
  apply(
      [&](Batch& batch, PersonUses& uses) {
        batch.clear();
        slots_.clear();
        read_round([&] { slots_.add(record_.key, record_.row(), record_.label); });
        slots_.serve(uses, uses_of_pass(), batch);
      },
      batch_, *uses_);
  return batch_;
}

template <class Take>
void LiveStream::read_round(const Take& take) {
  const std::int64_t size = planned(next_ - 1).value_or(static_cast<std::int64_t>(settings_.batch));
  for (std::int64_t place = 0; place < size && fetch(); ++place) {
    if (!left_out_) take();
    waiting_ = false;
    served_ = true;
  }
}

const Secret<Batch>& GeneratedStream::next(Round t) {
  GeneratedSource& source = *source_;
  const Slice slice = source.passes.advance(t, next_);
  const Round round = slice.round + 1;  // the paper counts from 1
  AddressedRandom random(source.seed, Purpose::data, static_cast<std::uint64_t>(client_),
                         static_cast<std::uint64_t>(round));
  source.batch.update([&](Batch& batch) {
    batch.clear();
    for (std::int64_t i = 0; i < slice.count; ++i) {
      const double label = source.label_map(source.generator->draw(round, client_, random, source.values));
      batch.add({source.values, {}}, label);
    }
  });
  return source.batch;
}

}  // namespace starling
