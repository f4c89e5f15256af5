#include "apply_model.hpp"

#include <fmt/ranges.h>

#include "core/check.hpp"
#include "files/tell_user.hpp"
#include "parties_together.hpp"

namespace starling {

namespace {

/// Gives the records to their use, and counts them.
class Counting {
 public:
  Counting(const std::string& what, ProgressChoice progress, ModelUse& use) : use_(use), progress_(progress) {
    progress_.begin(what, nullptr);
  }
  void take(const ScoredRecords& records) {
    use_.take(records);
    count_ += static_cast<std::int64_t>(records.size());
    progress_.tick(static_cast<std::int64_t>(records.size()));
  }
  void finish(const ModelSource& from, std::int64_t unread = 0) {
    progress_.end();
    check<DataError>(count_ > 0, "{}: no records. Check the file.", source_of(from));
    check<DataError>(count_ > unread, "{}: none of {} records can be read. Correct them as said above.",
                     source_of(from), count_);
    use_.finish(count_);
  }

 private:
  ModelUse& use_;
  Progress progress_;
  std::int64_t count_ = 0;
};

}  // namespace

std::string source_of(const ModelSource& from) {
  return from.parties.empty() ? from.reading.source : fmt::format("{}", fmt::join(from.parties, ","));
}

ExitCode apply_to_source(const ModelSource& from, ProgressChoice progress, ModelUse& use) {
  const ModelUse::Reading how = use.reading();
  const SavedModel model = open_model(from);
  use.check_model(model);
  ReadSettings reading = from.reading;
  reading.key = how.key;
  reading.key_option = how.key_option;
  ScoredSource source(model, reading, how.labels);
  if (how.labels == ScoredSource::Labels::not_needed && !source.unused().empty()) {
    tell_user("note: columns that the model does not take: {}\n", fmt::join(source.unused(), ", "));
  }
  use.begin(model, source.loss());
  Counting counting(fmt::format("{} {}", how.verb, reading.source), progress, use);
  source.score([&](const ScoredRecords& records) { counting.take(records); });
  counting.finish(from, source.unread());
  source.tell_of_classes();
  if (source.unread() == 0) return ExitCode::done;
  tell_user("{}: {} of the records could not be read, and have no prediction\n", source_of(from), source.unread());
  return ExitCode::refuted;
}

void apply_together(World& world, const ModelSource& from, ProgressChoice progress, ModelUse& use) {
  const ModelUse::Reading how = use.reading();
  PartiesTogether parties(world, from, how.labels);
  parties.together([&] {
    if (!parties.takes_results()) return;
    use.check_model(parties.head());
    use.begin(parties.head(), parties.loss());
  });
  Counting counting(how.verb, parties.takes_results() ? progress : ProgressChoice::off, use);
  parties.score([&](const ScoredRecords& records) { counting.take(records); });
  parties.together([&] {
    if (parties.takes_results()) counting.finish(from);
  });
}

}  // namespace starling
