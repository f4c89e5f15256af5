#include "output/model_file/saved_model.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "core/check.hpp"
#include "core/numerics/gram.hpp"
#include "files/durable_file.hpp"
#include "hdf5/file.hpp"
#include "model/curved_model.hpp"
#include "model_content.hpp"
#include "output/directory/run_identity.hpp"
#include "protocol/own_model/row_model.hpp"

namespace starling {

double ParameterSpread::of(const Row& x, bool intercept) const {
  const std::size_t entries = x.values.size() + (intercept ? 1 : 0);
  const auto d = static_cast<std::size_t>((std::sqrt(8 * static_cast<double>(matrix.size()) + 1) - 1) / 2);
  const auto place = [&](std::size_t i) {
    if (i == x.values.size()) return d - 1;
    return x.sparse() ? static_cast<std::size_t>(x.index[i]) : i;
  };
  const auto value = [&](std::size_t i) { return i == x.values.size() ? 1.0 : x.values[i]; };
  double variance = 0;
  for (std::size_t i = 0; i < entries; ++i) {
    variance += value(i) * value(i) * matrix[triangle_at(place(i), place(i), d)];
    for (std::size_t j = i + 1; j < entries; ++j) {
      variance += 2 * value(i) * value(j) * matrix[triangle_at(place(i), place(j), d)];
    }
  }
  return std::sqrt(std::max(0.0, variance));
}

std::vector<ParameterBlock> SavedModel::blocks() const {
  if (const auto* const network = as<NetworkForm>()) return parameter_blocks(network->architecture);
  if (is<LocationForm>()) return {{"point", 1, features, 0, features}};
  if (is<OwnForm>()) return {{"point", 1, parameters.size(), 0, parameters.size()}};
  const bool intercept = as<LinearForm>()->intercept;
  const std::size_t stride = features + (intercept ? 1 : 0);
  std::vector<ParameterBlock> blocks{{"weights", scores, features, 0, stride}};
  if (intercept) blocks.push_back({"intercept", scores, 1, features, stride});
  return blocks;
}

std::vector<std::string> SavedModel::feature_names() const {
  std::vector<std::string> names;
  if (const auto* const vertical = as<VerticalForm>()) names = names_of(vertical->parties);
  if (!names.empty() && names.size() == features) return names;
  names = constants.feature_names();
  if (names.size() == features) return names;
  names.clear();
  for (std::size_t j = 0; j < features; ++j) names.push_back(fmt::format("x{}", j));
  return names;
}

std::vector<std::string> SavedModel::parameter_names(std::size_t count) const {
  const bool by_feature = is<LinearForm>() || is<LocationForm>();
  const std::vector<std::string> features_of = by_feature ? feature_names() : std::vector<std::string>();
  std::vector<std::string> names(std::min(count, parameters.size()));
  for (const ParameterBlock& block : blocks()) {
    const bool of_features = by_feature && block.name != "intercept";
    for (std::size_t i = 0; i < block.rows; ++i) {
      for (std::size_t j = 0; j < block.columns; ++j) {
        const std::size_t place = block.first + i * block.stride + j;
        if (place >= names.size()) continue;
        names[place] = of_features  ? features_of[j]
                       : by_feature ? block.name
                                    : fmt::format("{} {},{}", block.name, i, j);
        if (by_feature && block.rows > 1) names[place] += fmt::format(", score {}", i);
      }
    }
  }
  return names;
}

std::string SavedModel::origin_text(const std::string& key) const {
  const auto found = std::ranges::find(origin, key, &std::pair<std::string, std::string>::first);
  return found == origin.end() ? "" : found->second;
}

ModelLoss::ModelLoss(const SavedModel& model) {
  if (const auto* const own = model.as<OwnForm>()) {
    check<DataError>(own->model != nullptr,
                     "the model is code of its own ({}), which alone can apply it. Name it: --model plugin:FILE, or in "
                     "Python model=.",
                     own->code);
    loss_ = std::make_unique<OwnLoss>(*own->model);
    return;
  }
  try {
    loss_ = loss_table().make(model.loss);
  } catch (const UsageError& error) {
    throw DataError(fmt::format("the model's loss: {}", error.what()));
  }
  if (loss_->scores() == model.scores) return;
  check<DataError>(loss_->scores() == 1 && loss_->curved() != nullptr && loss_->classifies(),
                   "a model of {} scores with the loss '{}', which takes {}", model.scores, model.loss,
                   loss_->scores());
  one_vs_rest_ = make_one_vs_rest(*loss_->curved(), model.scores);
}

void write_model(const std::string& path, const SavedModel& model, ModelReaders readers) {
  const std::string part = path + ".part";
  std::error_code ignored;
  std::filesystem::remove(part, ignored);
  {
    const hdf5::File file(part, hdf5::File::Mode::create);
    write_content(file, model);
  }
  const Descriptor written(part, O_RDONLY);
  check<FailureError>(written.get() >= 0 && ::fsync(written.get()) == 0 &&
                          (readers == ModelReaders::all || ::fchmod(written.get(), 0600) == 0) &&
                          std::rename(part.c_str(), path.c_str()) == 0 && sync_folder_of(path) == 0,
                      "cannot write '{}': {}. See whether the disk is full.", path, std::strerror(errno));
}

std::string file_of_model(const SavedModel& model) {
  const hdf5::File file = hdf5::File::in_memory(model_file_name);
  write_content(file, model);
  return file.bytes();
}

SavedModel read_model(const std::string& path) {
  const hdf5::Input file(path);
  try {
    return read_content(file);
  } catch (const UsageError& error) {  // layers that do not fit each other
    throw DataError(fmt::format("{}: {}", path, error.what()));
  }
}

SavedModel model_in(const std::string& bytes) {
  std::string path = (std::filesystem::temp_directory_path() / "starling-model-XXXXXX").string();
  const int descriptor = ::mkstemp(path.data());
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(descriptor < 0 ? nullptr : ::fdopen(descriptor, "wb"),
                                                             &std::fclose);
  check<FailureError>(file != nullptr, "cannot write '{}': {}. Set TMPDIR to a folder that can be written.", path,
                      std::strerror(errno));
  const std::unique_ptr<const char, int (*)(const char*)> removed(path.c_str(), &::unlink);
  const bool whole =
      std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size() && std::fflush(file.get()) == 0;
  check<FailureError>(whole, "cannot write '{}': {}. See whether the disk is full.", path, std::strerror(errno));
  return read_model(path);
}

namespace {

/// Why a run has no model of client u.
std::string why_no_model(const std::string& run_directory, Client u) {
  const auto identity = RunIdentity::find(run_directory);
  const auto losses =
      identity ? identity->members.changes(Membership::Change::Kind::loss) : std::vector<Membership::Change>();
  for (const auto& loss : losses) {
    if (std::ranges::binary_search(loss.clients, u)) return fmt::format("it was lost after round {}", loss.round);
  }
  return "its numbers are not finite";
}

}  // namespace

Vector read_client_model(const std::string& run_directory, Client u, std::size_t d) {
  const hdf5::Input file(run_directory + "/run.h5");
  check<DataError>(file.has("/final_model"),
                   "{}: it has no models of single clients: --record-clients none. Leave --client out.", file.path());
  const hdf5::NumberRows rows(file, "/final_model");
  check(u >= 0 && static_cast<hsize_t>(u) < rows.rows(), "--client {}: the run has {} clients, numbered from 0.", u,
        rows.rows());
  check<DataError>(rows.width() == d, "{}: models of {} parameters, where the model file has {}.", file.path(),
                   rows.width(), d);
  Vector parameters(d);
  rows.read(static_cast<hsize_t>(u), 1, parameters.data());
  check(std::ranges::none_of(parameters, [](double x) { return std::isnan(x); }),
        "--client {}: the run has no final model of this client ({}). Leave --client out, or name another client.", u,
        why_no_model(run_directory, u));
  return parameters;
}

}  // namespace starling
