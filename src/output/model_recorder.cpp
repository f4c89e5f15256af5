#include "output/model_recorder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "core/numerics/kernels.hpp"
#include "core/text/limits.hpp"
#include "hdf5/file.hpp"
#include "privacy/keys/release_path.hpp"
#include "regret/models_in_turn.hpp"
#include "spread.hpp"

namespace starling {

namespace {

constexpr auto between_flushes = std::chrono::milliseconds(500);
constexpr std::size_t most_waiting_arrivals = std::size_t{1} << 20;
constexpr std::size_t rows_at_once = 256;  // that are written again

Score since(const Score& now, const Score& before) {
  return {now.loss - before.loss, now.correct - before.correct, now.records - before.records,
          now.out_of_range - before.out_of_range};
}
double mean_loss(const Score& score) {
  return score.records > 0 ? score.loss / static_cast<double>(score.records) : unknown;
}
double accuracy(const Score& score) {
  return score.records > 0 ? static_cast<double>(score.correct) / static_cast<double>(score.records) : unknown;
}

void append(const ClientSpread& spread, Vector& numbers) {
  numbers.insert(numbers.end(), spread.begin(), spread.end());
}

/// Local numbers of those of `clients` that are among first … first + count − 1.
std::vector<std::size_t> those_here(const std::vector<Client>& clients, Client first, std::size_t count) {
  std::vector<std::size_t> here;
  for (const Client u : clients) {
    if (u >= first && u < first + static_cast<Client>(count)) here.push_back(static_cast<std::size_t>(u - first));
  }
  return here;
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

ModelRecorder::ModelRecorder(const RunDirectory& directory, int rank, Client first, std::size_t count,
                             std::size_t dimension, const Recorded& recorded, const MetricsPolicy& policy,
                             RecordRounds rounds, Scores scores)
    : file_(directory.clients_file(rank)),
      owners_(directory.private_folder(rank) + "/metrics.csv"),
      journal_(directory.private_folder(rank) + "/journal"),
      first_(first),
      count_(count),
      dimension_(dimension),
      recorded_(those_here(recorded.clients, first, count)),
      listed_(those_here(recorded.listed, first, count)),
      figures_(recorded.figures),
      final_models_(recorded.final_models),
      policy_(policy),
      rounds_(rounds),
      scores_(scores),
      flushed_(std::chrono::steady_clock::now()),
      absent_(count, 0),
      before_(count) {
  if (directory.goes_on()) return;
  go_back(0, 0);
  owners_.append_text("# metrics of this rank's private records, for their owner alone\n");
  if (!all_one_by_one()) {
    owners_.append_text(
        "# and of all its clients together, in place of a client: how many have had records, the mean of their figures "
        "(and their records in all), least, lower, median, upper, most\n");
  }
  owners_.append_text("round,client,records,loss,accuracy,out_of_range\n");
}

void ModelRecorder::make_file() {
  const hdf5::File file(file_, hdf5::File::Mode::create);
  file.make_growing<std::int64_t>("/rounds", {});
  if (!recorded_.empty()) file.make_growing<double>("/model", {recorded_.size(), dimension_});
  if (listed() > 0) {
    file.make_growing<double>("/mass", {listed()});
    file.make_growing<double>("/presence", {listed()});
  }
  if (!all_one_by_one()) {
    file.make_growing<double>("/spread", {1, spread_figures, numbers_of_a_spread});
    file.attribute("/spread", "figures", std::string(figures_of_a_spread));
    file.attribute("/spread", "numbers", std::string(names_of_a_spread));
  }
  file.attribute("/rounds", "meaning", "rounds completed when the record was taken");
  if (!recorded_.empty()) {
    file.attribute("/model", "meaning", "released model: record x recorded client of this rank x coordinate");
  }
  const std::string who = all_one_by_one() ? "client" : "listed client";
  if (listed() > 0) {
    file.attribute("/mass", "meaning", "push-sum mass: record x " + who + " of this rank");
    file.attribute(
        "/presence", "meaning",
        "share of the rounds since the record before in which a client took part: record x " + who + " of this rank");
  }
  if (policy_.shared() && listed() > 0) {
    for (const auto& [name, meaning] : score_sets(scores_, figures_)) {
      file.make_growing<double>(name, {listed()});
      file.attribute(name, "meaning", meaning);
    }
  }
  std::vector<std::int64_t> clients;
  for (std::size_t k = 0; k < count_; ++k) clients.push_back(first_ + static_cast<Client>(k));
  file.write("/clients", {count_}, clients);
}

struct ModelRecorder::Row {
  /// Numbers of one client.
  struct OfClient {
    Client client = 0;
    Vector numbers;
    void persist(Snapshot& snapshot) { snapshot(client, numbers); }
  };
  void persist(Snapshot& snapshot) {
    const auto client_of = [](const OfClient& each) { return each.client; };
    snapshot(done);
    snapshot.by_client(models, client_of);
    snapshot.by_client(figures, client_of);
    snapshot.of_group(spreads);
  }
  Round done = 0;
  std::vector<OfClient> models;   ///< of recorded clients
  std::vector<OfClient> figures;  ///< of listed clients: mass, presence and, if shared, loss and accuracy
  Vector spreads;                 ///< empty where none are kept, or those that were kept are of other clients
};

/// Leaves the files as they were when they had so many bytes. The HDF5 file, which the end of the process may have
/// torn, is made again.
void ModelRecorder::go_back(std::int64_t journal, std::int64_t owners) {
  owners_.go_back(owners);
  std::filesystem::remove(file_);
  make_folder_of(file_);
  make_file();
  journal_.go_back(journal, [this](Snapshot& entry) {
    Row row;
    entry(row);
    wait_again(row);
    if (done_.size() >= rows_at_once || models_.size() >= most_numbers_of_models) write_waiting();
  });
  if (!done_.empty()) write_waiting();
}

/// The waiting record number r.
ModelRecorder::Row ModelRecorder::waiting_row(std::size_t r) const {
  Row row;
  row.done = done_[r];
  for (std::size_t i = 0; i < recorded_.size(); ++i) {
    const auto from = models_.begin() + static_cast<std::ptrdiff_t>((r * recorded_.size() + i) * dimension_);
    row.models.push_back(
        {first_ + static_cast<Client>(recorded_[i]), Vector(from, from + static_cast<std::ptrdiff_t>(dimension_))});
  }
  for (std::size_t i = 0; i < listed(); ++i) {
    const std::size_t at = r * listed() + i;
    const std::size_t k = all_one_by_one() ? i : listed_[i];
    row.figures.push_back({first_ + static_cast<Client>(k), {masses_[at], presences_[at]}});
    if (losses_.empty()) continue;
    row.figures.back().numbers.insert(row.figures.back().numbers.end(), {losses_[at], accuracies_[at]});
  }
  const std::size_t spreads = spreads_.size() / done_.size();
  const auto from = spreads_.begin() + static_cast<std::ptrdiff_t>(r * spreads);
  row.spreads.assign(from, from + static_cast<std::ptrdiff_t>(spreads));
  return row;
}

/// The record waits to be written once more. Numbers of clients whose records are lost are NaN.
void ModelRecorder::wait_again(const Row& row) {
  done_.push_back(row.done);
  const bool shares_scores = policy_.shared() && scores_ != Scores::none;
  auto model = row.models.begin();
  for (const std::size_t k : recorded_) {
    Vector numbers(dimension_, unknown);
    if (model != row.models.end() && model->client == first_ + static_cast<Client>(k)) numbers = (model++)->numbers;
    check<DataError>(numbers.size() == dimension_, "a model of {} numbers, of {}", numbers.size(), dimension_);
    models_.insert(models_.end(), numbers.begin(), numbers.end());
  }
  auto figures = row.figures.begin();
  for (std::size_t i = 0; i < listed(); ++i) {
    const Client u = first_ + static_cast<Client>(all_one_by_one() ? i : listed_[i]);
    Vector numbers(shares_scores ? 4 : 2, unknown);
    if (figures != row.figures.end() && figures->client == u) numbers = (figures++)->numbers;
    check<DataError>(numbers.size() == (shares_scores ? 4U : 2U), "{} figures of a client", numbers.size());
    masses_.push_back(numbers[0]);
    presences_.push_back(numbers[1]);
    if (!shares_scores) continue;
    losses_.push_back(numbers[2]);
    accuracies_.push_back(numbers[3]);
  }
  check<DataError>(model == row.models.end() && figures == row.figures.end(), "a record of a client of another rank");
  if (all_one_by_one()) return;
  Vector spreads = row.spreads;
  spreads.resize(spread_figures * numbers_of_a_spread, unknown);
  spreads_.insert(spreads_.end(), spreads.begin(), spreads.end());
}

void ModelRecorder::persist(Snapshot& snapshot) {
  if (!snapshot.reading()) {
    if (!done_.empty() || !arrivals_.empty()) flush();
    static_cast<void>(journal_.settle());
    static_cast<void>(owners_.settle());
  }
  snapshot(rounds_, last_);
  snapshot(watched_);
  if (snapshot.reading()) absent_.assign(count_, watched_);  // of clients that join, which have no entry
  snapshot.of_clients(absent_, before_);
  if (snapshot.reading()) go_back(snapshot.length_of(journal_.path()), snapshot.length_of(owners_.path()));
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
    if (lists(to)) arrivals_.insert(arrivals_.end(), {to, round, from, heard});
  }
  record_up_to(view, view.done());
}

void ModelRecorder::note_presence(const RoundView& view) {
  ++watched_;
  for (std::size_t k = 0; k < count_; ++k) absent_[k] += view.was_present(k) ? 0 : 1;
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

bool ModelRecorder::lists(Client u) const {
  return all_one_by_one() || std::ranges::binary_search(listed_, static_cast<std::size_t>(u - first_));
}

/// A figure of all clients goes to `rows`, or that of some and how it is spread.
void ModelRecorder::keep(View of_all, Vector& rows) {
  if (all_one_by_one()) {
    rows.insert(rows.end(), of_all.begin(), of_all.end());
    return;
  }
  for (const std::size_t k : listed_) rows.push_back(of_all[k]);
  append(spread_of(Vector(of_all.begin(), of_all.end())), spreads_);
}

void ModelRecorder::record(const RoundView& view, Round round) {
  last_ = round;
  done_.push_back(round);
  record_models(view);
  keep(view.masses(), masses_);
  record_presences();
  if (!all_one_by_one()) record_distances(view);
  if (scores_ != Scores::none) {
    record_metrics(view, round);
  } else if (!all_one_by_one()) {
    spreads_.insert(spreads_.end(), 2 * numbers_of_a_spread, unknown);
  }
}

void ModelRecorder::record_models(const RoundView& view) {
  for (const std::size_t k : recorded_) {
    const View x = view.model(k);
    models_.insert(models_.end(), x.begin(), x.end());
  }
}

void ModelRecorder::record_presences() {
  Vector shares(count_, unknown);
  for (std::size_t k = 0; k < count_ && watched_ > 0; ++k) {
    shares[k] = static_cast<double>(watched_ - absent_[k]) / static_cast<double>(watched_);
  }
  keep(shares, presences_);
  std::ranges::fill(absent_, 0);
  watched_ = 0;
}

void ModelRecorder::record_distances(const RoundView& view) {
  ModelsInTurn models(view, most_numbers_of_models);
  Vector mean(dimension_, 0.0);
  std::size_t count = 0;
  models.each([&](std::size_t from, const Released<Columns>& some) {
    for (std::size_t k = 0; k < some.value().size(); ++k) {
      if (!view.is_there(from + k)) continue;
      axpy(1, some.value()[k], mean);
      ++count;
    }
  });
  scale(1 / static_cast<double>(count), mean);
  Vector distances(count_);
  models.each([&](std::size_t from, const Released<Columns>& some) {
    for (std::size_t k = 0; k < some.value().size(); ++k) {
      distances[from + k] = std::sqrt(squared_distance(some.value()[k], mean));
    }
  });
  append(spread_of(std::move(distances)), spreads_);
}

void ModelRecorder::record_metrics(const RoundView& view, Round round) {
  for (std::size_t k = 0; k < count_; ++k) record_metrics(view, round, k);
  if (!all_one_by_one()) record_spread_of_metrics(round);
}

void ModelRecorder::record_metrics(const RoundView& view, Round round, std::size_t k) {
  const Secret<Score>& now = view.played().tallies[k];
  Secret<Score> interval;
  apply([](Score& result, const Score& later, const Score& earlier) { result = since(later, earlier); }, interval, now,
        std::as_const(before_[k]));
  before_[k] = now;
  if (!all_one_by_one()) {
    apply(
        [](Vector& losses, Vector& accuracies, std::int64_t& records, std::int64_t& out_of_range, const Score& score) {
          losses.push_back(mean_loss(score));
          accuracies.push_back(accuracy(score));
          records += score.records;
          out_of_range += score.out_of_range;
        },
        interval_losses_, interval_accuracies_, interval_records_, interval_out_of_range_, std::as_const(interval));
  }
  if (!lists(first_ + static_cast<Client>(k))) return;
  owners_rows_.update(
      [&](std::string& rows, const Score& score) {
        if (score.records + score.out_of_range == 0) return;
        rows += fmt::format("{},{},{},{:.17g},{},{}\n", round, first_ + static_cast<Client>(k), score.records,
                            mean_loss(score),
                            scores_ == Scores::losses_and_accuracies ? fmt::format("{:.17g}", accuracy(score)) : "",
                            score.out_of_range);
      },
      interval);
  if (const auto shared = policy_.share(interval, SharedFigure::scores_of_clients)) {
    losses_.push_back(mean_loss(shared->value()));
    accuracies_.push_back(accuracy(shared->value()));
  }
}

/// To the owner's file and, where metrics may be shared, to that of the rank.
void ModelRecorder::record_spread_of_metrics(Round round) {
  const Secret<ClientSpread> losses = interval_losses_.map(spread_of);
  const Secret<ClientSpread> accuracies = interval_accuracies_.map(spread_of);
  owners_rows_.update(
      [&](std::string& rows, const ClientSpread& loss, const ClientSpread& right, const std::int64_t& records,
          const std::int64_t& out_of_range) {
        rows += fmt::format("{},clients,{},,,{}\n", round, loss[0], out_of_range);
        constexpr std::array<const char*, numbers_of_a_spread> names{"clients", "mean",  "least", "lower",
                                                                     "median",  "upper", "most"};
        for (std::size_t i = 1; i < names.size() && loss[0] > 0; ++i) {
          rows += fmt::format("{},{},{},{:.17g},{},\n", round, names[i], i == 1 ? std::to_string(records) : "", loss[i],
                              scores_ == Scores::losses_and_accuracies ? fmt::format("{:.17g}", right[i]) : "");
        }
      },
      losses, accuracies, interval_records_, interval_out_of_range_);
  for (const Secret<ClientSpread>* each : {&losses, &accuracies}) {
    const auto shared = policy_.share(*each, SharedFigure::spread_of_scores);
    const bool said = shared && (each == &losses || scores_ == Scores::losses_and_accuracies);
    ClientSpread withheld;
    withheld.fill(unknown);
    append(said ? shared->value() : withheld, spreads_);
  }
  interval_losses_ = Secret<Vector>();
  interval_accuracies_ = Secret<Vector>();
  interval_records_ = Secret<std::int64_t>();
  interval_out_of_range_ = Secret<std::int64_t>();
}

void ModelRecorder::flush() {
  owners_.append(owners_rows_);
  owners_rows_ = Secret<std::string>();
  for (std::size_t r = 0; r < done_.size(); ++r) {
    Snapshot entry({first_, static_cast<Client>(count_)});
    Row row = waiting_row(r);
    entry(row);
    journal_.append(entry);
  }
  write_waiting();
}

/// To the HDF5 file.
void ModelRecorder::write_waiting() {
  const hdf5::File file(file_, hdf5::File::Mode::append);
  if (!recorded_.empty()) file.append("/model", models_);
  if (listed() > 0) {
    file.append("/mass", masses_);
    file.append("/presence", presences_);
  }
  if (!all_one_by_one()) file.append("/spread", spreads_);
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
  const bool shared = policy_.shared() && listed() > 0;
  if (shared && scores_ != Scores::none) file.append("/loss", losses_);
  if (shared && scores_ == Scores::losses_and_accuracies) file.append("/accuracy", accuracies_);
  file.append("/rounds", done_);
  for (Vector* waiting : {&models_, &masses_, &presences_, &spreads_, &losses_, &accuracies_}) waiting->clear();
  done_.clear();
  flushed_ = std::chrono::steady_clock::now();
}

void ModelRecorder::finish(const RoundView& view, Round done, const Released<Columns>& final_models) {
  record_up_to(view, done);
  if (watched_ == 0 && last_.value_or(0) < view.done())
    note_presence(view);  // nobody was absent, or it would have been called
  if (last_ != done) record(view, done);
  flush();
  if (!final_models_) return;
  const hdf5::File file(file_, hdf5::File::Mode::append);
  file.write_block("/final_model", {count_, dimension_}, final_models.value().flat());
  file.attribute("/final_model", "meaning", "released model at the end: client of this rank x coordinate");
}

}  // namespace starling
