#include "starling/record/model_file/saved_model.hpp"

#include "preparation_file.hpp"
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include "starling/core/check.hpp"
#include "starling/files/durable_file.hpp"
#include "starling/hdf5/file.hpp"

namespace starling {

namespace {

using Kind = SavedModel::Kind;

constexpr const char* format_name = "starling model 1";

template <class Value>
struct Named {
  const char* name;
  Value value;
};

constexpr std::array kinds{Named<Kind>{"linear", Kind::linear}, Named<Kind>{"location", Kind::location},
                           Named<Kind>{"network", Kind::network}, Named<Kind>{"own", Kind::own}};
constexpr std::array links{Named<Link>{"identity", Link::identity}, Named<Link>{"logit", Link::logit},
                           Named<Link>{"softmax", Link::softmax}, Named<Link>{"none", Link::none}};
constexpr std::array precisions{Named<Precision>{"float", Precision::single},
                                Named<Precision>{"double", Precision::full}};

template <class Names, class Value>
std::string name_in(const Names& names, Value value) {
  for (const auto& each : names) {
    if (each.value == value) return each.name;
  }
  return "";
}

template <class Value, std::size_t N>
Value value_in(const std::array<Named<Value>, N>& names, const hdf5::Input& file, const std::string& attribute) {
  const std::string name = file.text("/", attribute).value_or("");
  for (const Named<Value>& each : names) {
    if (name == each.name) return each.value;
  }
  throw DataError(fmt::format("{}: unknown {} '{}'. Use the version of starling that wrote the file.", file.path(),
                              attribute, name));
}

/// Makes the groups that lead to a name below /parameters.
void make_groups(const hdf5::File& file, const std::string& name) {
  for (std::size_t slash = name.find('/', 1); slash != std::string::npos; slash = name.find('/', slash + 1)) {
    if (!file.has(name.substr(0, slash))) file.make_group(name.substr(0, slash));
  }
}

void write_content(const hdf5::File& file, const SavedModel& model) {
  file.attribute("/", "format", std::string(format_name));
  file.attribute("/", "kind", name_in(kinds, model.kind));
  if (model.kind == Kind::own) {
    file.attribute("/", "code", model.code);
    file.attribute("/", "code_identity", model.code_identity);
    file.attribute("/", "dimension", static_cast<double>(model.parameters.size()));
  } else {
    file.attribute("/", "loss", model.loss);
    file.attribute("/", "link", name_in(links, ModelLoss(model)->link()));
  }
  file.attribute("/", "scores", static_cast<double>(model.scores));
  file.attribute("/", "features", static_cast<double>(model.features));
  file.attribute("/", "intercept", std::string(model.intercept ? "yes" : "no"));
  if (std::isfinite(model.row_bound)) file.attribute("/", "row_bound", model.row_bound);
  file.write_texts("/feature", model.feature_names());
  if (model.kind == Kind::network) {
    const ImageShape& input = model.architecture.input;
    file.attribute("/", "precision", name_in(precisions, model.precision));
    file.write_texts("/layers", layer_texts(model.architecture));
    file.write("/input", {3},
               Vector{static_cast<double>(input.height), static_cast<double>(input.width),
                      static_cast<double>(input.channels)});
  }
  for (const ParameterBlock& block : model.blocks()) {
    Vector values;
    values.reserve(block.rows * block.columns);
    for (std::size_t i = 0; i < block.rows; ++i) {
      const auto row = model.parameters.begin() + static_cast<std::ptrdiff_t>(block.first + i * block.stride);
      values.insert(values.end(), row, row + static_cast<std::ptrdiff_t>(block.columns));
    }
    const std::string name = "/parameters/" + block.name;
    make_groups(file, name);
    file.write(name, {block.rows, block.columns}, values);
  }
  file.attribute("/", "own_constants", std::string(model.own_constants ? "yes" : "no"));
  write_preparation(file, model.constants);
  file.make_group("/origin");
  for (const auto& [key, value] : model.origin) file.attribute("/origin", key, value);
}

bool read_yes(const hdf5::Input& file, const std::string& attribute) {
  return file.text("/", attribute).value_or("no") == "yes";
}

void read_network(const hdf5::Input& file, SavedModel& model) {
  model.precision = value_in(precisions, file, "precision");
  const Vector input = read_numbers(file, "/input", {3});
  for (const double size : input) {
    check<DataError>(size >= 1 && size <= 1e7 && size == std::floor(size),
                     "{}: /input is no shape of an input. Restore the file.", file.path());
  }
  model.architecture = parse_layers(
      {static_cast<std::size_t>(input[0]), static_cast<std::size_t>(input[1]), static_cast<std::size_t>(input[2])},
      file.texts("/layers"));
}

void read_parameters(const hdf5::Input& file, SavedModel& model) {
  const std::vector<ParameterBlock> blocks = model.blocks();
  std::size_t count = 0;
  for (const ParameterBlock& block : blocks) count += block.rows * block.columns;
  model.parameters.assign(count, 0);
  for (const ParameterBlock& block : blocks) {
    const Vector values = read_numbers(file, "/parameters/" + block.name, {block.rows, block.columns});
    for (std::size_t i = 0; i < block.rows; ++i) {
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * block.columns), block.columns,
                  model.parameters.begin() + static_cast<std::ptrdiff_t>(block.first + i * block.stride));
    }
  }
}

SavedModel read_content(const hdf5::Input& file) {
  const std::string format = file.text("/", "format").value_or("");
  check<DataError>(format == format_name,
                   "{}: not a model file of this version ('{}', not '{}'). Give the {} of a run directory.",
                   file.path(), format, format_name, model_file_name);
  SavedModel model;
  model.kind = value_in(kinds, file, "kind");
  model.loss = file.text("/", "loss").value_or("");
  model.scores = read_count(file, "/", "scores", 1);
  model.features = read_count(file, "/", "features", 1);
  model.intercept = read_yes(file, "intercept");
  model.own_constants = read_yes(file, "own_constants");
  if (const auto bound = file.number("/", "row_bound")) {
    check<DataError>(*bound > 0, "{}: row_bound={}; it must be positive. Restore the file.", file.path(), *bound);
    model.row_bound = *bound;
  }
  if (model.kind == Kind::network) read_network(file, model);
  if (model.kind == Kind::own) {
    model.code = file.text("/", "code").value_or("");
    model.code_identity = file.text("/", "code_identity").value_or("");
    model.parameters.resize(read_count(file, "/", "dimension", 1));
  }
  read_parameters(file, model);
  model.constants = read_preparation(file);
  for (const std::string& key : file.attributes("/origin")) {
    model.origin.emplace_back(key, file.text("/origin", key).value_or(""));
  }
  if (model.kind != Kind::own) static_cast<void>(ModelLoss(model));
  return model;
}

}  // namespace

std::vector<ParameterBlock> SavedModel::blocks() const {
  if (kind == Kind::network) return parameter_blocks(architecture);
  if (kind == Kind::location) return {{"point", 1, features, 0, features}};
  if (kind == Kind::own) return {{"point", 1, parameters.size(), 0, parameters.size()}};
  const std::size_t stride = features + (intercept ? 1 : 0);
  std::vector<ParameterBlock> blocks{{"weights", scores, features, 0, stride}};
  if (intercept) blocks.push_back({"intercept", scores, 1, features, stride});
  return blocks;
}

std::vector<std::string> SavedModel::feature_names() const {
  std::vector<std::string> names;
  const bool raw = constants.description == ReadSettings::Features::raw;
  if (raw && constants.columns.size() == features) return constants.columns;
  for (std::size_t j = 0; j < features; ++j) names.push_back(fmt::format("x{}", j));
  return names;
}

ModelLoss::ModelLoss(const SavedModel& model) {
  check<DataError>(
      model.kind != SavedModel::Kind::own,
      "the model is code of its own ({}), which alone can apply it. Use that, as Python's run.predict does.",
      model.code);
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

void write_model(const std::string& path, const SavedModel& model) {
  const std::string part = path + ".part";
  std::error_code ignored;
  std::filesystem::remove(part, ignored);
  {
    const hdf5::File file(part, hdf5::File::Mode::create);
    write_content(file, model);
  }
  const Descriptor written(part, O_RDONLY);
  check<FailureError>(written.get() >= 0 && ::fsync(written.get()) == 0 &&
                          std::rename(part.c_str(), path.c_str()) == 0 && sync_folder_of(path) == 0,
                      "cannot write '{}': {}. See whether the disk is full.", path, std::strerror(errno));
}

SavedModel read_model(const std::string& path) {
  const hdf5::Input file(path);
  try {
    return read_content(file);
  } catch (const UsageError& error) {  // layers that do not fit each other
    throw DataError(fmt::format("{}: {}", path, error.what()));
  }
}

Vector read_client_model(const std::string& run_directory, Client u, std::size_t d) {
  const hdf5::Input file(run_directory + "/run.h5");
  check<DataError>(file.has("/final_model"),
                   "{}: it has no models of single clients (--record-clients none). Leave --client out.", file.path());
  const hdf5::NumberRows rows(file, "/final_model");
  check(u >= 0 && static_cast<hsize_t>(u) < rows.rows(), "--client {}: the run has {} clients, numbered from 0.", u,
        rows.rows());
  check<DataError>(rows.width() == d, "{}: models of {} parameters, where the model file has {}.", file.path(),
                   rows.width(), d);
  Vector parameters(d);
  rows.read(static_cast<hsize_t>(u), 1, parameters.data());
  return parameters;
}

}  // namespace starling
