#include "output/figures/vertical_record.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "hdf5/file.hpp"
#include "output/directory/run_directory.hpp"
#include "output/figures/roc.hpp"
#include "protocol/vertical/vertical.hpp"

namespace starling {

namespace {

constexpr Round rounds_apart = 16;  ///< between writings

std::string cell(double total, std::int64_t count) {
  return count > 0 ? fmt::format("{:.9g}", total / static_cast<double>(count)) : "";
}

std::string cells(const Score& score, bool classifies) {
  return cell(score.loss, score.records) + "," +
         (classifies ? cell(static_cast<double>(score.correct), score.records) : "");
}

}  // namespace

RoundsRecorder::RoundsRecorder(const Vertical& protocol, const RunDirectory& directory, const MetricsPolicy& policy,
                               bool classifies)
    : protocol_(protocol), policy_(policy), classifies_(classifies), path_(directory.path() + "/rounds.csv") {
  if (!policy.shared()) path_ = directory.private_folder(0) + "/rounds.csv";
  if (!policy.shared()) owners_.emplace(path_);
  if (directory.goes_on()) return;
  std::ofstream(path_, std::ios::trunc).close();
  write(Secret<std::string>("round,loss,accuracy,test_loss,test_accuracy,uplink_bits,downlink_bits,out_of_range\n"));
}

RoundsRecorder::~RoundsRecorder() {
  try {
    flush();
  } catch (const std::exception&) {  // the run ends by another error
  }
}

void RoundsRecorder::after(const RoundView& view) {
  if (view.done() == 0) return;
  const RoundBits bits = protocol_.bits();
  waiting_.update(
      [&](std::string& text, const Score& learned, const Score& tested) {
        text += fmt::format("{},{},{},{:.17g},{:.17g},{}\n", view.done(), cells(learned, classifies_),
                            cells(tested, classifies_), bits.up, bits.down, learned.out_of_range + tested.out_of_range);
      },
      protocol_.learned(), protocol_.tested());
  if (view.done() >= flushed_ + rounds_apart) flush();
}

void RoundsRecorder::flush() {
  write(waiting_);
  waiting_ = Secret<std::string>();
  flushed_ = protocol_.done();
}

void RoundsRecorder::persist(Snapshot& snapshot) {
  if (!snapshot.reading()) {
    flush();
    static_cast<void>(settle_file(path_));
  }
  snapshot(flushed_);
  if (snapshot.reading()) cut_file(path_, snapshot.length_of(path_));
}

void RoundsRecorder::write(const Secret<std::string>& text) const {
  const auto shared = policy_.share(text, SharedFigure::scores_of_vertical_rounds);
  if (!shared) {
    owners_->append(text);
    return;
  }
  std::ofstream file(path_, std::ios::app);
  file << shared->value() << std::flush;
  check<FailureError>(file.good(), "cannot write '{}': the disk may be full, or the folder gone. See to it.", path_);
}

RocArea area_under_roc(const std::vector<Prediction>& predictions) {
  Vector larger;
  Vector smaller;
  for (const Prediction& each : predictions) (each.larger ? larger : smaller).push_back(each.margin);
  return area_under_roc(std::move(larger), std::move(smaller));
}

void write_networks(const RunDirectory& directory, int rank,
                    const std::vector<std::pair<Client, Released<Vector>>>& blocks) {
  if (blocks.empty()) return;
  const std::string path = directory.file(fmt::format("networks/{}.h5", rank), rank);
  make_folder_of(path);
  std::filesystem::remove(path);  // of a run that was stopped, and goes on
  const hdf5::File file(path, hdf5::File::Mode::create);
  for (const auto& [client, parameters] : blocks) {
    file.write(std::to_string(client), {parameters.value().size()}, parameters.value());
  }
}

void write_out_of_range(const RunDirectory& directory, int rank, const std::string& what,
                        const std::vector<std::pair<Client, Secret<std::int64_t>>>& counts) {
  if (counts.empty()) return;
  Secret<std::string> text(fmt::format("# {}\nclient,times\n", what));
  for (const auto& [client, count] : counts) {
    const Client party = client;  // Clang 14 captures no structured binding
    text.update([party](std::string& lines, std::int64_t times) { lines += fmt::format("{},{}\n", party, times); },
                count);
  }
  OwnersFile::replace(directory.private_folder(rank) + "/out-of-range.csv", text);
}

}  // namespace starling
