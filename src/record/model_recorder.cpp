#include "starling/record/model_recorder.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <limits>

#include "starling/core/durable_file.hpp"
#include "starling/hdf5/file.hpp"

namespace starling {

namespace {

constexpr auto between_flushes = std::chrono::milliseconds(500);
constexpr std::size_t most_waiting_arrivals = std::size_t{1} << 20;
/// Of models in one record, unless it is asked for: some dozens of records should fit into memory.
constexpr std::size_t most_numbers_at_once = 1'000'000;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

Score since(const Score& now, const Score& before) {
  return {now.loss - before.loss, now.correct - before.correct, now.records - before.records};
}
double mean_loss(const Score& score) {
  return score.records > 0 ? score.loss / static_cast<double>(score.records) : unknown;
}
double accuracy(const Score& score) {
  return score.records > 0 ? static_cast<double>(score.correct) / static_cast<double>(score.records) : unknown;
}

/// Of the form 2030-01-31T23:59:59Z.
std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> stamp{};
  return {stamp.data(), std::strftime(stamp.data(), stamp.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

/// Data sets of progressive scores, with what they mean.
std::vector<std::pair<std::string, std::string>> score_sets(Scores scores) {
  std::vector<std::pair<std::string, std::string>> sets;
  if (scores == Scores::none) return sets;
  sets.emplace_back("/loss", "mean progressive loss per record since the record before: record x client");
  if (scores == Scores::losses_and_accuracies) {
    sets.emplace_back("/accuracy", "progressive accuracy since the record before: record x client");
  }
  return sets;
}

}  // namespace

const char* name_of(Scores scores) {
  switch (scores) {
    case Scores::none:
      return "averaging";
    case Scores::losses:
      return "regression";
    case Scores::losses_and_accuracies:
      return "classification";
  }
  return "unknown";
}

std::vector<Client> recorded_clients(Client clients, std::optional<Client> asked, std::size_t dimension) {
  const std::size_t fit = std::max<std::size_t>(1, most_numbers_at_once / std::max<std::size_t>(dimension, 1));
  const Client usual =
      std::min<Client>(clients <= 100 ? clients : 10, static_cast<Client>(std::min<std::size_t>(fit, 100)));
  const Client count = std::min(clients, asked.value_or(usual));
  std::vector<Client> result;
  result.reserve(static_cast<std::size_t>(count));
  for (Client i = 0; i < count; ++i) {
    result.push_back(asked ? i : static_cast<Client>(static_cast<std::int64_t>(i) * clients / count));
  }
  return result;
}

ModelRecorder::ModelRecorder(const RunDirectory& directory, int rank, Client first, std::size_t count,
                             std::size_t dimension, const std::vector<Client>& recorded, const MetricsPolicy& policy,
                             RecordRounds rounds, Scores scores)
    : file_(directory.clients_file(rank)),
      owners_(directory.private_folder(rank) + "/metrics.csv"),
      journal_(directory.private_folder(rank) + "/journal"),
      first_(first),
      count_(count),
      dimension_(dimension),
      policy_(policy),
      rounds_(rounds),
      scores_(scores),
      flushed_(std::chrono::steady_clock::now()),
      present_(count, 0),
      before_(count) {
  for (const Client u : recorded) {
    if (u >= first && u < first + static_cast<Client>(count)) recorded_.push_back(static_cast<std::size_t>(u - first));
  }
  if (directory.goes_on()) return;
  go_back(0, 0);
  owners_.append_text(
      "# metrics of this rank's private records, for their owner alone\nround,client,records,loss,accuracy\n");
}

void ModelRecorder::make_file() {
  const hdf5::File file(file_, hdf5::File::Mode::create);
  file.make_growing<std::int64_t>("/rounds", {});
  if (!recorded_.empty()) file.make_growing<double>("/model", {recorded_.size(), dimension_});
  file.make_growing<double>("/mass", {count_});
  file.make_growing<double>("/presence", {count_});
  file.attribute("/rounds", "meaning", "rounds completed when the record was taken");
  if (!recorded_.empty()) {
    file.attribute("/model", "meaning", "released model: record x recorded client of this rank x coordinate");
  }
  file.attribute("/mass", "meaning", "push-sum mass: record x client of this rank");
  file.attribute(
      "/presence", "meaning",
      "share of the rounds since the record before in which a client took part: record x client of this rank");
  if (policy_.shared()) {
    for (const auto& [name, meaning] : score_sets(scores_)) {
      file.make_growing<double>(name, {count_});
      file.attribute(name, "meaning", meaning);
    }
  }
  std::vector<std::int64_t> clients;
  for (std::size_t k = 0; k < count_; ++k) clients.push_back(first_ + static_cast<Client>(k));
  file.write("/clients", {count_}, clients);
}

/// Leaves the files as they were when they had so many bytes. The HDF5 file, which the end of the process may have
/// torn, is made again.
void ModelRecorder::go_back(std::int64_t journal, std::int64_t owners) {
  owners_.go_back(owners);
  std::filesystem::remove(file_);
  make_file();
  journal_.go_back(journal, [this](Snapshot& entry) {
    entry(done_, models_, masses_, presences_, losses_, accuracies_, arrivals_);
    write_waiting();
  });
}

void ModelRecorder::persist(Snapshot& snapshot) {
  std::int64_t journal = 0;
  std::int64_t owners = 0;
  if (!snapshot.reading()) {
    if (!done_.empty() || !arrivals_.empty()) flush();
    journal = journal_.settle();
    owners = owners_.settle();
  }
  snapshot(journal, owners, rounds_, last_, watched_, present_, before_);
  if (snapshot.reading()) go_back(journal, owners);
}

ModelRecorder::~ModelRecorder() {
  if (done_.empty()) return;
  try {
    flush();
  } catch (const std::exception&) {  // the error that ends the run is the one to report
  }
}

void ModelRecorder::after(const RoundView& view) {
  if (view.done() > 0) note_presence(view);
  for (const auto& [to, round, from, heard] : view.arrivals()) {
    arrivals_.insert(arrivals_.end(), {to, round, from, heard});
  }
  record_up_to(view, view.done());
}

void ModelRecorder::note_presence(const RoundView& view) {
  ++watched_;
  for (std::size_t k = 0; k < count_; ++k) present_[k] += view.was_present(k) ? 1 : 0;
}

/// Every rank has records of the same rounds; one whose clock skips some has the same twice.
void ModelRecorder::record_up_to(const RoundView& view, Round done) {
  bool any = false;
  while (rounds_.next() <= done) {
    record(view, rounds_.take());
    any = true;
  }
  const bool many = arrivals_.size() >= most_waiting_arrivals;
  if ((any && std::chrono::steady_clock::now() - flushed_ > between_flushes) || many) flush();
}

void ModelRecorder::leave_out(Round end) {
  while (rounds_.next() <= end) static_cast<void>(rounds_.take());
}

void ModelRecorder::record(const RoundView& view, Round round) {
  last_ = round;
  done_.push_back(round);
  for (Round& present : present_) {
    presences_.push_back(watched_ > 0 ? static_cast<double>(present) / static_cast<double>(watched_) : unknown);
    present = 0;
  }
  watched_ = 0;
  if (!recorded_.empty()) {
    const Released<Columns> models = view.models();
    for (const std::size_t k : recorded_) {
      const View x = models.value()[k];
      models_.insert(models_.end(), x.begin(), x.end());
    }
  }
  masses_.insert(masses_.end(), view.masses().begin(), view.masses().end());
  if (scores_ == Scores::none) return;
  for (std::size_t k = 0; k < count_; ++k) record_metrics(view, round, k);
}

void ModelRecorder::record_metrics(const RoundView& view, Round round, std::size_t k) {
  const Secret<Score>& now = view.tallies()[k];
  Secret<Score> interval;
  apply([](Score& result, const Score& later, const Score& earlier) { result = since(later, earlier); }, interval, now,
        std::as_const(before_[k]));
  owners_rows_.update(
      [&](std::string& rows, const Score& score) {
        if (score.records == 0) return;
        rows += fmt::format("{},{},{},{:.17g},{}\n", round, first_ + static_cast<Client>(k), score.records,
                            mean_loss(score),
                            scores_ == Scores::losses_and_accuracies ? fmt::format("{:.17g}", accuracy(score)) : "");
      },
      interval);
  if (const auto shared = policy_.share(interval)) {
    losses_.push_back(mean_loss(shared->value()));
    accuracies_.push_back(accuracy(shared->value()));
  }
  before_[k] = now;
}

void ModelRecorder::flush() {
  owners_.append(owners_rows_);
  owners_rows_ = Secret<std::string>();
  Snapshot entry;
  entry(done_, models_, masses_, presences_, losses_, accuracies_, arrivals_);
  journal_.append(entry);
  write_waiting();
}

/// To the HDF5 file.
void ModelRecorder::write_waiting() {
  const hdf5::File file(file_, hdf5::File::Mode::append);
  if (!recorded_.empty()) file.append("/model", models_);
  fault_point("record");
  file.append("/mass", masses_);
  file.append("/presence", presences_);
  if (!arrivals_.empty()) {
    if (!has_arrivals_) {
      file.make_growing<std::int64_t>("/mixed", {4});
      file.attribute("/mixed", "meaning",
                     "what was mixed when: receiving client, round of its rank, sending client, clock of the sender");
      has_arrivals_ = true;
    }
    file.append("/mixed", arrivals_);
    arrivals_.clear();
  }
  if (policy_.shared() && scores_ != Scores::none) file.append("/loss", losses_);
  if (policy_.shared() && scores_ == Scores::losses_and_accuracies) file.append("/accuracy", accuracies_);
  file.append("/rounds", done_);
  for (Vector* waiting : {&models_, &masses_, &presences_, &losses_, &accuracies_}) waiting->clear();
  done_.clear();
  flushed_ = std::chrono::steady_clock::now();
}

void ModelRecorder::finish(const RoundView& view, Round done, const Released<Columns>& final_models) {
  record_up_to(view, done);
  if (watched_ == 0 && last_.value_or(0) < view.done())
    note_presence(view);  // nobody was absent, or it would have been called
  if (last_ != done) record(view, done);
  flush();
  const View flat = final_models.value().flat();
  const hdf5::File file(file_, hdf5::File::Mode::append);
  file.write<double>("/final_model", {count_, dimension_}, Vector(flat.begin(), flat.end()));
  file.attribute("/final_model", "meaning", "released model at the end: client of this rank x coordinate");
}

void write_run_file(const RunDirectory& directory, const RunLayout& run,
                    const std::vector<std::pair<std::string, std::string>>& provenance) {
  using Part = hdf5::File::Part;
  std::filesystem::remove(directory.run_file());  // of a run that goes on
  const hdf5::File file(directory.run_file(), hdf5::File::Mode::create);
  std::vector<Part> clients;
  std::vector<Part> recorded;
  for (int r = 0; r < run.layout.ranks(); ++r) {
    const Client first = run.layout.first(r);
    const Client end = first + run.layout.count(r);
    if (first == end) continue;
    const auto count =
        std::count_if(run.recorded.begin(), run.recorded.end(), [&](Client u) { return u >= first && u < end; });
    clients.push_back({RunDirectory::clients_name(r), static_cast<hsize_t>(end - first)});
    if (count > 0) recorded.push_back({RunDirectory::clients_name(r), static_cast<hsize_t>(count)});
  }
  const auto all = static_cast<hsize_t>(run.layout.clients());
  file.link_external("/rounds", clients.front().file);
  file.join("/model", {0, run.recorded.size(), run.dimension}, 1, true, recorded);
  file.join("/mass", {0, all}, 1, true, clients);
  file.join("/presence", {0, all}, 1, true, clients);
  file.join("/final_model", {all, run.dimension}, 0, false, clients);
  file.attribute("/model", "meaning", "released model: record x recorded client x coordinate");
  file.attribute("/mass", "meaning", "push-sum mass: record x client");
  file.attribute("/presence", "meaning",
                 "share of the rounds since the record before in which a client took part: record x client");
  file.attribute("/final_model", "meaning",
                 "released model at the end: client x coordinate (0 until the run has ended)");
  for (const auto& [name, meaning] : score_sets(run.shared_scores)) {
    file.join(name, {0, all}, 1, true, clients);
    file.attribute(name, "meaning", meaning);
  }
  file.write<std::int64_t>("/recorded_clients", {run.recorded.size()}, {run.recorded.begin(), run.recorded.end()});
  file.attribute("/", "started", utc_now());
  for (const auto& [name, value] : provenance) file.attribute("/", name, value);
}

}  // namespace starling
