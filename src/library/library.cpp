// The C++ library over the program's own code. The public header stands in an inline namespace, whose names are those
// of the program's classes: what is needed of these is named before that header is included.
#include <cmath>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/embed/embedded.hpp"
#include "console/version.hpp"
#include "core/record_error.hpp"
#include "data/memory_records.hpp"
#include "files/durable_file.hpp"
#include "hdf5/file.hpp"
#include "model/model.hpp"
#include "net/host/mpi_session.hpp"
#include "output/model_file/saved_model.hpp"
#include "protocol/own_model/own_model.hpp"
#include "report/view/summary_view.hpp"

namespace starling::inside {
namespace {

using Error = starling::Error;
using UsageError = starling::UsageError;
using DataError = starling::DataError;
using BudgetError = starling::BudgetError;
using FailureError = starling::FailureError;
using PeerError = starling::PeerError;

std::string version_of_program() {
  return version();
}

}  // namespace
}  // namespace starling::inside

#include <starling/starling.hpp>

namespace starling {
inline namespace v1 {

namespace {

/// Runs f(), with errors of the program as those of the library.
template <class F>
decltype(auto) translated(F&& f) {
  const auto code = [](const inside::Error& error) { return static_cast<int>(error.code()); };
  try {
    return std::forward<F>(f)();
  } catch (const inside::PeerError& error) {
    throw PeerError(code(error), error.what());
  } catch (const inside::UsageError& error) {
    throw UsageError(code(error), error.what());
  } catch (const inside::DataError& error) {
    throw DataError(code(error), error.what());
  } catch (const inside::BudgetError& error) {
    throw BudgetError(code(error), error.what());
  } catch (const inside::FailureError& error) {
    throw FailureError(code(error), error.what());
  } catch (const inside::Error& error) {
    throw Error(code(error), error.what());
  }
}

/// A model of the user as the program's.
class AdoptedModel final : public OwnModel {
 public:
  explicit AdoptedModel(std::shared_ptr<Model> model) : model_(std::move(model)) {}

  std::size_t dimension(std::size_t features) override { return model_->dimension(features); }
  std::optional<Vector> start(std::uint64_t seed, std::size_t dimension) override {
    Vector point = model_->start(seed, dimension);
    return point.empty() ? std::nullopt : std::optional(std::move(point));
  }
  bool gradients(View point, const RecordTable& records, MutableView losses, MutableView gradients,
                 MutableView /*predictions*/) override {
    model_->gradients(point.data(), batch_of(records), losses.data(), gradients.data());
    return false;
  }
  [[nodiscard]] bool predicts() const override { return model_->predicts(); }
  [[nodiscard]] bool classifies() const override { return model_->classifies(); }
  void predict(View point, const RecordTable& records, MutableView predictions) override {
    model_->predict(point.data(), batch_of(records), predictions.data());
  }
  [[nodiscard]] std::optional<double> slope() const override {
    const double slope = model_->slope();
    return slope == 0 ? std::nullopt : std::optional(slope);
  }
  [[nodiscard]] std::string identity() const override { return model_->identity(); }

 private:
  [[nodiscard]] static Batch batch_of(const RecordTable& records) {
    return {records.rows, records.features, records.x, records.stride, records.y};
  }

  std::shared_ptr<Model> model_;
};

MemoryRecords in_memory(const Records& records) {
  MemoryRecords result;
  result.records = records.records;
  result.columns = records.columns;
  result.x = records.x;
  result.x_row = records.row_stride != 0 ? records.row_stride : static_cast<std::ptrdiff_t>(records.columns);
  result.x_column = records.column_stride;
  result.y = records.y;
  result.names = records.names;
  return result;
}

std::string file_of(const std::string& directory, const char* name) {
  return translated([&] {
    const std::string path = directory + "/" + name;
    const std::optional<std::string> text = read_whole_file(path);
    if (!text) throw inside::UsageError(fmt::format("'{}' is not there. Name the directory of a finished run.", path));
    return *text;
  });
}

}  // namespace

Model::~Model() = default;
std::vector<double> Model::start(std::uint64_t /*seed*/, std::size_t /*dimension*/) {
  return {};
}
bool Model::predicts() const {
  return false;
}
bool Model::classifies() const {
  return false;
}
void Model::predict(const double* /*point*/, const Batch& /*batch*/, double* /*predictions*/) {
  throw UsageError(static_cast<int>(ExitCode::usage), "the model predicts nothing. Write its function `predict`.");
}
double Model::slope() const {
  return 0;
}
std::string Model::identity() const {
  return "";
}

struct Options::State {
  std::map<std::string, std::string> texts;
  std::vector<Records> sources;
  bool by_client = false;
  std::optional<Records> test;
  std::shared_ptr<Model> model;
  std::string model_name;
};

Options::Options() : state_(std::make_unique<State>()) {}
Options::~Options() = default;
Options::Options(const Options& other) : state_(std::make_unique<State>(*other.state_)) {}
Options& Options::operator=(const Options& other) {
  *state_ = *other.state_;
  return *this;
}
Options::Options(Options&&) noexcept = default;
Options& Options::operator=(Options&&) noexcept = default;

Options& Options::set_text(const std::string& name, const std::string& value) {
  state_->texts[name] = value;
  return *this;
}
Options& Options::set_number(const std::string& name, double value) {
  return set_text(name, fmt::format("{}", value));
}
Options& Options::records(Records all) {
  state_->sources = {std::move(all)};
  state_->by_client = false;
  return *this;
}
Options& Options::records_by_client(std::vector<Records> of_clients) {
  state_->sources = std::move(of_clients);
  state_->by_client = true;
  return *this;
}
Options& Options::test(Records all) {
  state_->test = std::move(all);
  return *this;
}
Options& Options::model(std::shared_ptr<Model> own, const std::string& name) {
  state_->model = std::move(own);
  state_->model_name = name;
  return *this;
}

struct Session::State {
  MpiSession mpi;
};

Session::Session() : state_(std::make_unique<State>()) {}
Session::~Session() = default;
int Session::rank() const {
  return state_->mpi.rank();
}
int Session::size() const {
  return state_->mpi.size();
}

Run Session::run(const std::string& command, const Options& options) {
  const Options::State& given = *options.state_;
  std::map<std::string, std::string> texts = given.texts;
  std::vector<std::unique_ptr<OfferedRecords>> records;
  std::optional<OfferedModel> model;
  const auto offer = [&] {
    for (std::size_t u = 0; u < given.sources.size(); ++u) {
      if (given.by_client && given.sources[u].columns == 0) continue;  // of another rank's client
      const std::string name = given.by_client ? fmt::format("records-{}", u) : "records";
      records.push_back(std::make_unique<OfferedRecords>(name, in_memory(given.sources[u])));
    }
    if (!given.sources.empty()) texts["source"] = given.by_client ? "memory:records-{client}" : "memory:records";
    if (given.by_client) {
      const std::string number = std::to_string(given.sources.size());
      const std::string& clients = texts.try_emplace("clients", number).first->second;
      if (clients != number) {
        throw inside::UsageError(fmt::format(
            "clients={}, and records_by_client has the records of {} clients. Leave clients out.", clients, number));
      }
    }
    if (given.test) {
      records.push_back(std::make_unique<OfferedRecords>("test", in_memory(*given.test)));
      texts["test"] = "memory:test";
    }
    if (given.model) {
      model.emplace(given.model_name, std::make_shared<AdoptedModel>(given.model));
      texts["model"] = "own:" + given.model_name;
    }
  };
  return translated([&] {
    try {
      offer();
    } catch (const inside::Error& error) {
      if (runs_on_all_ranks({command})) end_embedded(state_->mpi, error);
      throw;
    }
    std::vector<std::string> words{command};
    for (const auto& [name, text] : texts) {
      if (text == "false") continue;
      words.push_back(text == "true" ? "--" + name : fmt::format("--{}={}", name, text));
    }
    EmbeddedResult result = run_embedded(state_->mpi, words);
    if (result.directory.empty()) throw inside::UsageError(fmt::format("{} is no run. Use Session::command.", command));
    Run run(result.directory);
    run.text_ = std::move(result.text);
    run.stopped_ = result.code == static_cast<int>(ExitCode::stopped_safely);
    return run;
  });
}

std::string Session::command(const std::vector<std::string>& words) {
  return translated([&] {
    EmbeddedResult result = run_embedded(state_->mpi, words);
    if (result.code != 0) throw Error(result.code, result.text);
    return result.text;
  });
}

Run::Run(std::string directory) : directory_(std::move(directory)) {
  if (!std::filesystem::is_directory(directory_)) {
    throw UsageError(static_cast<int>(ExitCode::usage),
                     fmt::format("'{}': no such directory. Name the directory of a run.", directory_));
  }
}

std::string Run::summary() const {
  return file_of(directory_, "summary.json");
}
std::string Run::privacy() const {
  return file_of(directory_, "privacy.txt");
}

std::optional<double> Run::number(const std::string& path) const {
  const std::string text = summary();
  return translated([&]() -> std::optional<double> {
    const double value = SummaryView::parse(text, "summary.json").number(path);
    return std::isnan(value) ? std::nullopt : std::optional(value);
  });
}

Matrix Run::dataset(const std::string& name) const {
  return translated([&] {
    const hdf5::Input file(directory_ + "/run.h5");
    const std::string place = name.starts_with('/') ? name : "/" + name;
    if (!file.has(place)) {
      throw inside::UsageError(fmt::format("{}: no data set {}: it holds {}.", file.path(), place, file.contents()));
    }
    const hdf5::NumberRows rows(file, place);
    Matrix matrix{static_cast<std::size_t>(rows.rows()), static_cast<std::size_t>(rows.width()), {}};
    matrix.values.resize(matrix.rows * matrix.columns);
    rows.read(0, rows.rows(), matrix.values.data());
    return matrix;
  });
}

Matrix Run::models() const {
  static_cast<void>(summary());  // until a run ends its file has zeros
  return dataset("final_model");
}

std::vector<double> Run::model() const {
  return translated([&] { return read_model(directory_ + "/" + model_file_name).parameters; });
}

std::string version() {
  return inside::version_of_program();
}

}  // namespace v1
}  // namespace starling
