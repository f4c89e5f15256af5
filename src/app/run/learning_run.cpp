#include "learning_run.hpp"

#include "app/console/version.hpp"
#include "app/run/privacy/noise_keys.hpp"
#include "rank_key.hpp"
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <functional>
#include <limits>
#include <sstream>
#include <string_view>
#include <unistd.h>

#include "starling/core/digest.hpp"
#include "starling/core/per_client.hpp"
#include "starling/core/spec.hpp"
#include "starling/data/generators/synthetic.hpp"
#include "starling/data/serving/partition.hpp"
#include "starling/data/source.hpp"
#include "starling/files/durable_file.hpp"
#include "starling/report/run_file.hpp"

namespace starling {

namespace {

constexpr Round rounds_of_endless_streams = 1000;

/// The value of `rounds` in a configuration; empty where it has none.
std::string stated_rounds(const std::string& configuration) {
  constexpr std::string_view key = "rounds = ";
  std::istringstream lines(configuration);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key)) return line.substr(key.size());
  }
  return "";
}

}  // namespace

void Feed::persist(Snapshot& snapshot) {
  const std::size_t here = dimension;
  snapshot(dimension, left_out);
  check<DataError>(
      dimension == here,
      "models have {} numbers, of {} when the run began (the records have other columns) bring records like "
      "those",
      here, dimension);
}

void LearningRun::configure(const std::function<void()>& parse) {
  world_.note_signals();
  agreement_.together(parse);
  agreement_.same("configuration", declare_public(common().as_given));
  choose_configuration();
  world_.set_watchdog(common().watchdog);
  if (!common().resume) return;
  if (RunDirectory::never_began(*common().resume, agreement_, world_.rank())) {
    notes_.push_back(fmt::format("the run in '{}' never came to its first round: it begins now", *common().resume));
    return;
  }
  directory_.emplace(RunDirectory::again(*common().resume, agreement_, world_.rank()));
  goes_on_ = true;
  agreement_.together([&] {
    run_id_ = directory_->identity().run;
    check_rounds_may_change();
  });
}

/// Names of files are absolute, unless ranks were started in different folders and mean different files by them.
/// **Collective.**
void LearningRun::choose_configuration() {
  configuration_ = agreement_.alike(declare_public(common().text)) ? common().text : common().as_given;
}

void LearningRun::end_if_signalled() {
  agreement_.together([&] {
    if (!world_.is_signalled()) return;
    throw Error(ExitCode::stopped_safely,
                directory_ && is_resumable()
                    ? fmt::format("stopped by a signal before the first round (nothing has been released): starling {} "
                                  "--resume {} begins the run",
                                  command_, directory_->path())
                    : "stopped by a signal before the first round (nothing has been released) start the run again");
  });
}

Round LearningRun::first_rounds(Round now) const {
  if (!goes_on_) return now;
  const std::string was = stated_rounds(configuration_at_first());
  if (was == stated_rounds(common().text)) return now;
  if (!was.empty()) return parse_integer(was, "rounds");
  return dataset_.shape.rounds.value_or(rounds_of_endless_streams);
}

std::string LearningRun::configuration_at_first() const {
  return read_whole_file(directory_->path() + "/config.ini").value_or("");
}

void LearningRun::check_rounds_may_change() const {
  const std::string why_not = why_no_more_rounds();
  check(why_not.empty() || stated_rounds(configuration_at_first()) == stated_rounds(configuration_),
        "--rounds with --resume: {} (for the rounds that were planned) leave --rounds out", why_not);
}

std::string LearningRun::why_not_resumable() const {
  if (uses_records() && !dataset_.replayable && !why_no_round_is_left_out().empty()) {
    return why_no_round_is_left_out();
  }
  return start_can_be_read_again() ? "" : "its start models come through a pipe, and are gone";
}

void LearningRun::require_resumable() const {
  const std::string why_not = why_not_resumable();
  if (why_not.empty()) return;
  check(!common().resume, "--resume: {} (nothing would be the same) start a run of its own, from these models: --start",
        why_not);
  check(!common().checkpoint.any(), "--checkpoint-every: {} (nobody could go on from one) leave it out", why_not);
}

/// What a run depends on beside its records and its build, as far as all may know it. (Where there are records a ledger
/// knows the configuration, and says more of it.)
std::string LearningRun::digest_of_inputs() const {
  std::string inputs = digest_of_start();
  if (!uses_records()) inputs += configuration_that_matters(configuration_);
  if (*reads_pipes_) inputs += fmt::format(" {} parameters", dimension_);
  if (common().test && !is_synthetic(*common().test)) {
    for (const std::string& file : files_of(*common().test)) {
      if (std::filesystem::is_regular_file(file)) inputs += " " + sha256_of_file(file);
    }
  }
  return sha256(inputs);
}

std::vector<int> LearningRun::ranks_with_clients() const {
  std::vector<int> ranks;
  const Layout layout = record_layout();
  for (int r = 0; r < world_.size(); ++r) {
    if (layout.count(r) > 0) ranks.push_back(r);
  }
  return ranks;
}

Client LearningRun::number_of_clients(std::optional<Client> of_topology) const {
  std::optional<Client> asked = common().clients;
  if (common().clients_per_rank) asked = *common().clients_per_rank * static_cast<Client>(world_.size());
  check(
      !asked || !of_topology || *asked == *of_topology,
      "{} clients are asked for but the topology has {} (they must agree) leave out --clients or name another topology",
      asked.value_or(0), of_topology.value_or(0));
  const Client clients = of_topology.value_or(asked.value_or(static_cast<Client>(world_.size())));
  check(
      asked.has_value() || clients <= static_cast<Client>(world_.size()),
      "{} clients on {} ranks (a rank would host several, which must be asked for) start {} ranks, or add --clients {}",
      clients, world_.size(), clients, clients);
  return clients;
}

void LearningRun::note_idle_ranks() {
  if (layout_->clients() >= static_cast<Client>(world_.size())) return;
  notes_.push_back(
      fmt::format("{} ranks host no client and stay idle", world_.size() - static_cast<int>(layout_->clients())));
}

void LearningRun::require_mechanism() const {
  check(common().privacy.mechanism.has_value(),
        "no --mechanism is chosen (a run on data must say how they are protected: no default would be right for all) "
        "choose one "
        "of: {}",
        mechanism_table().names());
}

void LearningRun::open_streams(DataSettings& data) {
  require_mechanism();
  data.go_on_waiting = [this] { return world_.go_on_waiting(); };
  data.note_left_out = [this](const Secret<std::string>& record) { tell_owner(record); };
  source_digest_ = digest_of_source();
  if (common().save_partition && first_rank() && !goes_on_) check_saves_partition(data, *common().save_partition);
  dataset_ = open_dataset(data, layout_->clients(), first_client(), client_count());
}

void LearningRun::tell_owner(const Secret<std::string>& line) {
  for_owner_.update([](std::string& lines, const std::string& added) { lines += added + "\n"; }, line);
  if (!directory_) return;
  OwnersFile(directory_->private_folder(world_.rank()) + "/left-out.txt").append(for_owner_);
  for_owner_ = Secret<std::string>();
}

void LearningRun::agree_on_data() {
  if (dataset_.common && world_.size() > 1) {
    const RankKey key(agreement_);
    agreement_.same("content of " + common().data.source, declare_public(key.digest("content", dataset_.fingerprint)));
  }
  const auto shapes = agreement_.all_gather(declare_public(dataset_.shape.text()));
  agreement_.together([&] {
    DataShape all;
    all.empty = true;
    for (const std::string& text : shapes) all = all.joined(DataShape::parse(text));
    check<DataError>(!all.empty, "'{}': no client has a record (nothing can be learned) check the source",
                     common().data.source);
    dataset_.shape = all;
  });
  note_clients_without_records();
  if (dataset_.shape.sparse && !common().data.dimension && common().privacy.protects()) {
    notes_.push_back(fmt::format(
        "{} features: the largest index in the clients' records, which everybody learns so; --dimension fixes it "
        "beforehand",
        dataset_.shape.features));
  }
}

/// Numbers of records are public. **Collective.**
void LearningRun::note_clients_without_records() {
  const std::int64_t none = std::count_if(dataset_.streams.begin(), dataset_.streams.end(),
                                          [](const auto& stream) { return stream->records() == 0; });
  const std::int64_t all = agreement_.sum(declare_public(none));
  if (all == 0) return;
  notes_.push_back(fmt::format(
      "{} of {} clients have no record: they take no steps, and have what they hear from others. Name fewer "
      "--clients, or another --partition",
      all, layout_->clients()));
}

void LearningRun::note_short_run(Round rounds) {
  if (rounds != 1 || common().rounds || !uses_records() || !dataset_.replayable || common().data.batch == 1) return;
  notes_.push_back(
      fmt::format("the run has one round: no client has more records than one --batch {} takes. Lower --batch, or read "
                  "them again with --epochs",
                  common().data.batch));
}

Round LearningRun::rounds_of(std::optional<Round> available) const {
  const std::optional<Round>& asked = common().rounds;
  check(!available || !asked || *asked <= *available,
        "--rounds {} is beyond the data, which give {} rounds (nothing is repeated silently) add --epochs",
        asked.value_or(0), available.value_or(0));
  check(dataset_.replayable || asked,
        "'{}' is read as it arrives (nobody knows beforehand when it ends) say how many rounds to play: --rounds",
        common().data.source);
  return asked.value_or(available.value_or(rounds_of_endless_streams));
}

bool LearningRun::start_can_be_read_again() const {
  const std::string& start = common().start;
  return start == "uniform" || start == "zero" || start == "safe" || std::filesystem::is_regular_file(start);
}

std::string LearningRun::digest_of_start() const {
  return std::filesystem::is_regular_file(common().start) ? " " + sha256_of_file(common().start) : "";
}

std::vector<std::string> LearningRun::source_files() const {
  const std::string& source = common().data.source;
  if (is_synthetic(source) || source == "-") return {};
  if (!is_per_client(source)) return files_of(source);
  std::vector<std::string> files;
  for (Client u = first_client(); u < first_client() + client_count(); ++u) {
    for (const std::string& file : files_of(name_of_client(source, u))) files.push_back(file);
  }
  return files;
}

std::string LearningRun::digest_of_source() const {
  std::string text;
  for (const std::string& file : source_files()) {
    if (std::filesystem::is_regular_file(file)) text += sha256_of_file(file) + " ";
  }
  return text;
}

RunFacts LearningRun::facts(Round rounds) const {
  RunFacts facts;
  facts.batch = common().data.batch;
  facts.dimension = dimension_;
  facts.rounds = rounds;
  facts.seed = common().data.seed;
  facts.public_data = dataset_.is_public;
  facts.replayable = dataset_.replayable && start_can_be_read_again();
  facts.configuration = configuration_;
  facts.rounds_matter = !why_no_more_rounds().empty();
  facts.public_inputs = digest_of_start();
  for (const std::string& constants : {common().data.standardise, common().data.encode}) {
    if (!constants.empty() && !is_per_client(constants)) facts.public_inputs += " " + sha256_of_file(constants);
  }
  facts.fingerprint = dataset_.fingerprint;
  facts.source_digest = source_digest_;
  check<DataError>(!common().privacy.ledger || source_digest_ == digest_of_source(),
                   "{}: it has changed while it was read (the ledger could not say what was released) start again",
                   common().data.source);
  facts.served.reserve(dataset_.streams.size());
  for (const auto& stream : dataset_.streams) {
    facts.served.push_back({stream->records(), stream->rounds_of_pass(), stream->rounds()});
  }
  return facts;
}

void LearningRun::open_privacy(RunFacts facts) {
  choose_checkpoint();
  privacy_.emplace(agreement_, *layout_, world_.rank(), common().privacy, std::move(facts));
  if (directory_) privacy_->take_up(run_id_, directory_->private_folder(world_.rank()));
  privacy_->open();
  run_id_ = privacy_->run_id();
  if (*reads_pipes_) return;  // its rounds have other records
  for (const std::string& note : privacy_->notes()) notes_.push_back(note);
}

void LearningRun::make_directory() {
  choose_checkpoint();
  if (!directory_) make_new_directory();
  if (privacy_) privacy_->move_in(directory_->private_folder(world_.rank()));
  end_if_signalled();
  agreement_.together([&] {
    if (!first_rank()) return;
    if (goes_on_) return require_same_inputs();
    if (is_resumable()) directory_->begin({run_id_, digest_of_inputs()});
    directory_->has_begun();
  });
}

void LearningRun::require_same_inputs() const {
  check(directory_->identity().inputs == digest_of_inputs(),
        "--resume '{}': the topology, the start models, the records of --test{} are not those that the run began with "
        "(it would be another) put them back, or start a run of its own",
        directory_->path(),
        *reads_pipes_    ? " or the columns of records (from pipes)"
        : uses_records() ? ""
                         : " or the configuration");
}

void LearningRun::make_new_directory() {
  std::string path = common().resume.value_or(common().output.value_or(""));
  if (path.empty()) {
    const std::time_t now = std::time(nullptr);
    char stamp[32];
    std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", std::localtime(&now));
    path = fmt::format("run-{}-{}", command_, stamp);
  }
  path = agreement_.broadcast(declare_public(path));
  if (common().resume) {
    directory_.emplace(RunDirectory::afresh(path, configuration_, agreement_, world_.rank()));
  } else {
    directory_.emplace(path, configuration_, agreement_, world_.rank());
  }
  agreement_.together([&] {
    if (common().save_partition && first_rank()) {
      save_partition(common().data, layout_->clients(), *common().save_partition);
    }
  });
}

CheckpointFolder LearningRun::checkpoint_folder() const {
  return {directory_->private_folder(world_.rank()),
          {version(), run_id_, world_.rank(), world_.size(), first_client(), client_count()}};
}

/// Before anything of the directory, or of a ledger, is changed. **Collective.**
void LearningRun::choose_checkpoint() {
  end_if_signalled();
  agreement_.together([&] { require_resumable(); });
  if (!reads_pipes_) {
    reads_pipes_ = agreement_.any(declare_public(uses_records() && !dataset_.replayable));
  }
  if (!goes_on_ || resumed_from_) return;
  if (*reads_pipes_) {  // whose ledgers do not compare this
    agreement_.together([&] {
      if (first_rank()) require_same_inputs();
    });
  }
  std::vector<std::string> complaints;
  resumed_from_ = newest_common_checkpoint(agreement_, checkpoint_folder(), plays(world_.rank()), complaints);
  for (const std::string& complaint : complaints) {
    notes_.push_back(fmt::format("a checkpoint is of no use: {}", complaint));
  }
  agreement_.together([&] {
    check<DataError>(
        resumed_from_ || complaints.empty(),
        "--resume '{}': no checkpoint is whole on all ranks ({}) restore them, or take all files checkpoint-* "
        "away to play the run from its beginning",
        directory_->path(), fmt::join(complaints, "; "));
  });
}

void LearningRun::find_checkpoint(Round rounds) {
  if (!goes_on_) return;
  planned_rounds_ = rounds;
  agreement_.together([&] {
    check(resumed_from_.value_or(0) <= rounds, "--rounds {}: the run has come to round {} (rounds are not taken back)",
          rounds, resumed_from_.value_or(0));
    if (resumed_from_) {
      directory_->go_on();
    } else if (plays(world_.rank())) {
      checkpoint_folder().remove(0, std::numeric_limits<Round>::max());  // of an earlier life, and of no use
    }
  });
  notes_.push_back(resumed_from_ ? fmt::format("the run goes on after round {}", *resumed_from_)
                                 : "the run begins anew: there is no checkpoint that all ranks hold whole");
}

void LearningRun::start_checkpoints(KeptParts parts) {
  if (recorder_) parts.add("models on record", *recorder_);
  if (reporter_ && recorded_here() > 0) parts.add("history", *reporter_);
  if (privacy_) parts.add("accounts", privacy_->accounts());
  parts.add("clock", clock_);
  parts.add("shared figures", shared_figures_);
  feed_.dimension = dimension_;
  parts.put_first("records", feed_);
  std::vector<int> playing;
  for (int r = 0; r < world_.size(); ++r) {
    if (plays(r)) playing.push_back(r);
  }
  checkpointer_.emplace(world_, playing, checkpoint_folder(), common().checkpoint, std::move(parts));
  agreement_.together([&] {
    if (resumed_from_ && plays(world_.rank())) checkpointer_->go_back(*resumed_from_);
  });
  if (goes_on_ && *reads_pipes_) leave_out_rounds();
  agreement_.together([&] {
    if (!first_rank() || !goes_on_) return;
    directory_->set_configuration(configuration_, {"rounds", "checkpoint-every"});
    directory_->forget_results();
  });
}

/// Records that came after the checkpoint are gone, and a round that may have been released must not be released once
/// more with others, at the same address and for one charge: the run goes on with the first round that no ledger knows.
/// **Collective.**
void LearningRun::leave_out_rounds() {
  const Round from = resumed_from_.value_or(0);
  const Round releases = releases_of_round();
  const Round unreleased = privacy_->first_unreleased();
  const Round at = std::max(from, unreleased / releases + (unreleased % releases > 0 ? 1 : 0));
  check(
      at == from || at < planned_rounds_,
      "--rounds {}: rounds {} to {} may have been released with records that are gone (they are left out, and none is "
      "left to play) give more --rounds",
      planned_rounds_, from + 1, at);
  const std::int64_t paid = privacy_->leave_out(at * releases);
  agreement_.together([&] {
    if (plays(world_.rank())) checkpointer_->leave_out(at);
  });
  const std::int64_t charged = agreement_.max(declare_public(paid));
  feed_.left_out.push_back({from, at, charged});
  if (!first_rank()) return;
  fmt::print(stderr, "note: records that a pipe gave after round {} are gone: {}\n", from,
             at == from ? fmt::format("the run goes on with others in round {}", at + 1)
                        : fmt::format("rounds {} to {}, which may have been released, are lost, and {} releases of a "
                                      "client stay charged; the run goes on with other records in round {}",
                                      from + 1, at, charged, at + 1));
}

void LearningRun::drop_checkpoints(Round done) {
  agreement_.together([&] {
    if (!plays(world_.rank())) return;
    const CheckpointFolder folder = checkpoint_folder();
    if (recorded_here() > 0) static_cast<void>(settle_file(directory_->clients_file(world_.rank())));
    if (first_rank()) static_cast<void>(settle_file(directory_->run_file()));
    if (common().checkpoint.any()) return folder.remove(0, done);
    folder.remove(0, done + 1);
    for (const char* journal : {"/journal", "/reports"}) {
      std::filesystem::remove(directory_->private_folder(world_.rank()) + journal);
    }
  });
  agreement_.together([&] {
    if (first_rank() && is_resumable()) directory_->finish();
  });
}

void LearningRun::checkpoint_the_end(Round done, bool stopped) {
  if (!is_resumable()) return;
  agreement_.together([&] {
    if (!plays(world_.rank())) return;
    if (stopped || common().checkpoint.any()) checkpointer_->write_last(done);
    checkpointer_->finish();
  });
}

MetricsPolicy LearningRun::metrics_policy() const {
  return metrics_policy_of(common().privacy, !uses_records() || dataset_.is_public, &shared_figures_);
}

ProgressStyle LearningRun::progress_style() const {
  if (common().progress == ProgressChoice::off) return ProgressStyle::off;
  if (common().progress == ProgressChoice::on) return ProgressStyle::lines;
  return isatty(STDERR_FILENO) != 0 ? ProgressStyle::bar : ProgressStyle::lines;
}

void LearningRun::note_recorded(const Recorded& recorded) {
  if (recorded.figures == Figures::of_all) return;
  const std::size_t count = recorded.listed.size();
  notes_.push_back(fmt::format(
      "figures of clients are on record {}, and of all how they are spread over those of each rank; --record-clients "
      "says for whom",
      count == 0 ? "for none of them" : fmt::format("for {} of them", count)));
}

/// **Collective.**
void LearningRun::note_budget(Round rounds) {
  if (!privacy_) return;
  const std::optional<Round> releases = privacy_->will_stop_after();
  if (!releases || *releases / releases_of_round() >= rounds) return;
  learning_ends_ = *releases / releases_of_round();
  notes_.push_back(fmt::format(
      "learning will stop after round {} of {}: then a client has spent its --budget {}, and learns nothing "
      "from its records any more. Raise --budget, lower --epsilon, or play fewer --rounds",
      *learning_ends_, rounds, common().privacy.budget.value_or("")));
}

void LearningRun::open_records(const Recording& recording) {
  world_.watch_signals();  // whoever sees the run's files may signal
  const MetricsPolicy policy = metrics_policy();
  note_recorded(recording.clients);
  note_budget(recording.rounds);
  note_short_run(recording.rounds);
  agreement_.together([&] {
    if (recorded_here() == 0) return;
    recorder_.emplace(*directory_, world_.rank(), record_layout().first(world_.rank()),
                      static_cast<std::size_t>(recorded_here()), dimension_, recording.clients, policy,
                      RecordRounds(common().record_every), recording.scores);
  });
  const double epsilon_per_release = privacy_ ? privacy_->epsilon_per_release() : 0;
  agreement_.together([&] {
    if (!first_rank()) return;
    std::vector<std::pair<std::string, std::string>> provenance{
        {"command", command_},
        {"command_line", command_line_},
        {"task", name_of(recording.scores)},
        {"rounds_planned", std::to_string(recording.rounds)},
        {"epsilon_per_release", fmt::format("{:.17g}", epsilon_per_release)},
        {"starling", version()},
        {"mpi", mpi_version()},
        {"configuration_digest", sha256(configuration_)},
        {"data_digest", dataset_.digest},
        {"noise_key", name_of(noise_key_policy(common().privacy.noise_key))},
        {"run_id", run_id_}};
    provenance.insert(provenance.end(), recording.provenance.begin(), recording.provenance.end());
    write_run_file(*directory_,
                   {record_layout(), dimension_, recording.clients, policy.shared() ? recording.scores : Scores::none},
                   provenance);
  });
  printer_.emplace(progress_style(), recording.rounds, epsilon_per_release);
  if (learning_ends_) printer_->learning_ends_after(*learning_ends_);
  reporter_.emplace(agreement_, world_.rank(), ranks_with_clients(), policy, recording.scores, recording.test,
                    first_rank() ? &*printer_ : nullptr, first_rank() ? directory_->path() + "/history.csv" : "",
                    recording.models);
  agreement_.together([&] {
    if (recorded_here() > 0) reporter_->keep_in(directory_->private_folder(world_.rank()) + "/reports", !resumed_from_);
  });
  if (!first_rank()) return;
  for (const std::string& note : notes_) fmt::print(stderr, "note: {}\n", note);
}

std::vector<Observer*> LearningRun::recorders() {
  if (recorded_here() == 0) return {};
  return {&*recorder_, &*reporter_};
}

double LearningRun::time_rounds(const std::function<void()>& play) {
  agreement_.barrier();
  clock_.start();
  play();
  return clock_.seconds();
}

void LearningRun::finish_records(const RoundView& view, Round done, const Released<Columns>& models) {
  if (recorded_here() == 0) return;
  recorder_->finish(view, done, models);
  reporter_->finish(view, done);
}

}  // namespace starling
