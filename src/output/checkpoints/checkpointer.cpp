#include "output/checkpoints/checkpointer.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>

namespace starling {

Checkpointer::Checkpointer(World& world, const std::vector<int>& active, CheckpointFolder folder,
                           const CheckpointPace& pace, KeptParts parts)
    : world_(world), folder_(std::move(folder)), pace_(pace), parts_(std::move(parts)), milestones_(world, active) {
  for (const std::string& file : parts_.files()) files_.emplace_back(file);
}

void Checkpointer::after(const RoundView& view) {
  const Round done = view.done();
  if (done == last_ || !is_due(done)) return;
  write(done);
  milestones_.pass();
  remove_what_none_needs();
}

Round Checkpointer::due() const {
  if (pace_.any()) return 0;
  return std::numeric_limits<Round>::max();
}

/// The same on all ranks.
bool Checkpointer::is_due(Round done) {
  if (pace_.rounds > 0) return done % pace_.rounds == 0;
  if (pace_.seconds <= 0) return false;
  using Seconds = std::chrono::duration<double>;
  if (world_.rank() == 0 && Seconds(std::chrono::steady_clock::now() - written_at_).count() >= pace_.seconds) {
    world_.appoint_checkpoint();
  }
  return world_.is_checkpoint_after(done - 1);
}

void Checkpointer::write(Round done) {
  Snapshot snapshot(folder_.clients());
  parts_.persist(snapshot);
  std::vector<Companion> files;
  for (GrowingDigest& file : files_) files.push_back(folder_.describe(file));
  folder_.write(done, snapshot.content(), files);
  last_ = done;
  written_at_ = std::chrono::steady_clock::now();
  written_.push_back(done);
}

/// All hold the newest that all have passed, and the one before it is kept should that turn out to be unreadable.
void Checkpointer::remove_what_none_needs() {
  const std::int64_t common = milestones_.passed_by_all();
  if (common - dropped_ < 2) return;
  for (; dropped_ < common - 2; ++dropped_) written_.pop_front();
  folder_.remove(0, written_.front());
}

void Checkpointer::write_last(Round done) {
  if (done != last_) write(done);
}

void Checkpointer::write_now(Round done) {
  write(done);
  milestones_.pass();
}

void Checkpointer::go_back(Round round) {
  CheckpointFile checkpoint = folder_.read(round);
  Snapshot snapshot(checkpoint.state);
  for (const Companion& file : checkpoint.files) {
    snapshot.note_length(std::filesystem::path(file.name).filename().string(), file.bytes);
  }
  folder_.remove(round + 1, std::numeric_limits<Round>::max());
  parts_.persist(snapshot);
  snapshot.require_end();
  last_ = round;
}

void Checkpointer::finish() {
  milestones_.settle();
}

}  // namespace starling
