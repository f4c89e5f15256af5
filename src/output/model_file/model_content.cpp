#include "model_content.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "core/check.hpp"
#include "core/numerics/gram.hpp"

namespace starling {

namespace {

using Kind = SavedModel::Kind;

constexpr const char* format_name = "starling model 1";

template <class Value>
struct Named {
  const char* name;
  Value value;
};

constexpr std::array kinds{Named<Kind>{"linear", Kind::linear},      Named<Kind>{"location", Kind::location},
                           Named<Kind>{"network", Kind::network},    Named<Kind>{"own", Kind::own},
                           Named<Kind>{"vertical", Kind::vertical},  Named<Kind>{"head", Kind::head},
                           Named<Kind>{"embedding", Kind::embedding}};
constexpr std::array links{Named<Link>{"identity", Link::identity}, Named<Link>{"logit", Link::logit},
                           Named<Link>{"softmax", Link::softmax}, Named<Link>{"none", Link::none}};
constexpr std::array precisions{Named<Precision>{"float", Precision::single},
                                Named<Precision>{"double", Precision::full}};

/// The object at a path below the root, or the root itself for an empty path.
std::string object_at(const std::string& where) {
  return where.empty() ? "/" : where;
}

/// The group of party k, from 1.
std::string group_of_party(std::size_t k) {
  return fmt::format("/party/{}", k);
}

template <class Names, class Value>
std::string name_in(const Names& names, Value value) {
  for (const auto& each : names) {
    if (each.value == value) return each.name;
  }
  return "";
}

template <class Value, std::size_t N>
Value value_in(const std::array<Named<Value>, N>& names, const hdf5::Input& file, const std::string& where,
               const std::string& attribute) {
  const std::string name = file.text(object_at(where), attribute).value_or("");
  for (const Named<Value>& each : names) {
    if (name == each.name) return each.value;
  }
  throw DataError(fmt::format("{}: unknown {} '{}'. Use the version of starling that wrote the file.", file.path(),
                              attribute, name));
}

/// Makes the groups that lead to a name.
void make_groups(const hdf5::File& file, const std::string& name) {
  for (std::size_t slash = name.find('/', 1); slash != std::string::npos; slash = name.find('/', slash + 1)) {
    if (!file.has(name.substr(0, slash))) file.make_group(name.substr(0, slash));
  }
}

void write_network(const hdf5::File& file, const std::string& where, const SavedModel& model) {
  const ImageShape& input = model.architecture.input;
  file.attribute(object_at(where), "precision", name_in(precisions, model.precision));
  file.write_texts(where + "/layers", layer_texts(model.architecture));
  file.write(
      where + "/input", {3},
      Vector{static_cast<double>(input.height), static_cast<double>(input.width), static_cast<double>(input.channels)});
}

void write_parameters(const hdf5::File& file, const std::string& where, const SavedModel& model) {
  for (const ParameterBlock& block : model.blocks()) {
    Vector values;
    values.reserve(block.rows * block.columns);
    for (std::size_t i = 0; i < block.rows; ++i) {
      const auto row = model.parameters.begin() + static_cast<std::ptrdiff_t>(block.first + i * block.stride);
      values.insert(values.end(), row, row + static_cast<std::ptrdiff_t>(block.columns));
    }
    const std::string name = where + "/parameters/" + block.name;
    make_groups(file, name);
    file.write(name, {block.rows, block.columns}, values);
  }
}

void write_spread(const hdf5::File& file, const ParameterSpread& spread, std::size_t d) {
  Vector square(d * d);
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < d; ++j)
      square[i * d + j] = spread.matrix[triangle_at(std::min(i, j), std::max(i, j), d)];
  }
  file.attribute("/", "spread_method", spread.method);
  file.write("/spread", {d, d}, square);
}

/// What an embedding says beside its network.
void write_party(const hdf5::File& file, const std::string& where, const SavedModel& model) {
  file.attribute(object_at(where), "party", static_cast<double>(model.party));
  if (std::isfinite(model.embedding_bound)) {
    file.attribute(object_at(where), "embedding_bound", model.embedding_bound);
  }
  if (model.places.empty()) return;
  file.attribute(object_at(where), "table_features", static_cast<double>(model.table_features));
  file.write(where + "/place", {model.places.size()}, Vector(model.places.begin(), model.places.end()));
}

void write_model_at(const hdf5::File& file, const std::string& where, const SavedModel& model) {
  const std::string object = object_at(where);
  file.attribute(object, "kind", name_in(kinds, model.kind));
  if (model.kind == Kind::own) {
    file.attribute(object, "code", model.code);
    file.attribute(object, "code_identity", model.code_identity);
    file.attribute(object, "dimension", static_cast<double>(model.parameters.size()));
  } else if (model.kind != Kind::embedding) {
    file.attribute(object, "loss", model.loss);
    file.attribute(object, "link", name_in(links, ModelLoss(model)->link()));
  }
  file.attribute(object, "scores", static_cast<double>(model.scores));
  file.attribute(object, "features", static_cast<double>(model.features));
  file.attribute(object, "intercept", std::string(model.intercept ? "yes" : "no"));
  if (std::isfinite(model.row_bound)) file.attribute(object, "row_bound", model.row_bound);
  if (model.party_count > 0) file.attribute(object, "parties", static_cast<double>(model.party_count));
  file.write_texts(where + "/feature", model.feature_names());
  if (has_layers(model.kind)) write_network(file, where, model);
  if (model.kind == Kind::embedding) write_party(file, where, model);
  write_parameters(file, where, model);
  if (model.spread) write_spread(file, *model.spread, model.parameters.size());
  file.attribute(object, "own_constants", std::string(model.own_constants ? "yes" : "no"));
  write_preparation(file, where, model.constants);
}

bool read_yes(const hdf5::Input& file, const std::string& where, const std::string& attribute) {
  return file.text(object_at(where), attribute).value_or("no") == "yes";
}

/// A bound of a length in an attribute; infinite without it.
double read_bound(const hdf5::Input& file, const std::string& where, const std::string& attribute) {
  const std::optional<double> bound = file.number(object_at(where), attribute);
  if (!bound) return std::numeric_limits<double>::infinity();
  check<DataError>(*bound > 0, "{}: {}={}; it must be positive. Restore the file.", file.path(), attribute, *bound);
  return *bound;
}

void read_network(const hdf5::Input& file, const std::string& where, SavedModel& model) {
  model.precision = value_in(precisions, file, where, "precision");
  const Vector input = read_numbers(file, where + "/input", {3});
  for (const double size : input) {
    check<DataError>(size >= 1 && size <= 1e7 && size == std::floor(size),
                     "{}: {}/input is no shape of an input. Restore the file.", file.path(), where);
  }
  model.architecture = parse_layers(
      {static_cast<std::size_t>(input[0]), static_cast<std::size_t>(input[1]), static_cast<std::size_t>(input[2])},
      file.texts(where + "/layers"));
}

void read_parameters(const hdf5::Input& file, const std::string& where, SavedModel& model) {
  const std::vector<ParameterBlock> blocks = model.blocks();
  std::size_t count = 0;
  for (const ParameterBlock& block : blocks) count += block.rows * block.columns;
  model.parameters.assign(count, 0);
  for (const ParameterBlock& block : blocks) {
    const Vector values = read_numbers(file, where + "/parameters/" + block.name, {block.rows, block.columns});
    for (std::size_t i = 0; i < block.rows; ++i) {
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * block.columns), block.columns,
                  model.parameters.begin() + static_cast<std::ptrdiff_t>(block.first + i * block.stride));
    }
  }
}

/// Random scaling and plug-in are the methods that know how coefficients go together.
void read_spread(const hdf5::Input& file, SavedModel& model) {
  if (!file.has("/spread")) return;
  const std::size_t d = model.parameters.size();
  ParameterSpread spread{file.text("/", "spread_method").value_or(""), {}};
  check<DataError>(model.kind == Kind::linear && model.scores == 1 &&
                       (spread.method == "plug-in" || spread.method == "random-scaling"),
                   "{}: a spread of method '{}' of such a model. Restore the file.", file.path(), spread.method);
  const Vector square = read_numbers(file, "/spread", {d, d});
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = i; j < d; ++j) spread.matrix.push_back(square[i * d + j]);
  }
  model.spread = std::move(spread);
}

void read_party(const hdf5::Input& file, const std::string& where, SavedModel& model) {
  model.party = read_count(file, object_at(where), "party", 1);
  check<DataError>(model.party <= model.party_count, "{}: the part of party {} of {}. Restore the file.", file.path(),
                   model.party, model.party_count);
  model.embedding_bound = read_bound(file, where, "embedding_bound");
  if (!file.has(where + "/place")) return;
  model.table_features = read_count(file, object_at(where), "table_features", 1);
  for (const double place : read_numbers(file, where + "/place", {model.constants.features})) {
    check<DataError>(place >= 0 && place < static_cast<double>(model.table_features) && place == std::floor(place),
                     "{}: {}/place has a number that is no place of a feature. Restore the file.", file.path(), where);
    model.places.push_back(static_cast<std::size_t>(place));
  }
}

/// The model of the root or of a party's group, without its origin.
SavedModel read_model_at(const hdf5::Input& file, const std::string& where) {
  const std::string object = object_at(where);
  SavedModel model;
  model.kind = value_in(kinds, file, where, "kind");
  const bool vertical = model.kind == Kind::vertical || model.is_part();
  check<DataError>(where.empty() || model.kind == Kind::embedding, "{}: {} is no party's part. Restore the file.",
                   file.path(), where);
  model.loss = file.text(object, "loss").value_or("");
  model.scores = read_count(file, object, "scores", 1);
  model.features = read_count(file, object, "features", 1);
  model.intercept = read_yes(file, where, "intercept");
  model.own_constants = read_yes(file, where, "own_constants");
  model.row_bound = read_bound(file, where, "row_bound");
  if (vertical) model.party_count = read_count(file, object, "parties", 1);
  if (has_layers(model.kind)) read_network(file, where, model);
  if (model.kind == Kind::own) {
    model.code = file.text(object, "code").value_or("");
    model.code_identity = file.text(object, "code_identity").value_or("");
    model.parameters.resize(read_count(file, object, "dimension", 1));
  }
  read_parameters(file, where, model);
  if (where.empty()) read_spread(file, model);
  model.constants = read_preparation(file, where, model.kind == Kind::head ? 0 : 1);
  if (model.kind == Kind::embedding) {
    read_party(file, where, model);
  } else if (model.kind != Kind::own) {
    static_cast<void>(ModelLoss(model));  // throws for one that does not fit
  }
  return model;
}

/// The vertical model of a root that has been read.
SavedModel read_parties(const hdf5::Input& file, const SavedModel& root) {
  std::vector<SavedModel> parties;
  for (std::size_t k = 1; k <= root.party_count; ++k) {
    parties.push_back(read_model_at(file, group_of_party(k)));
    parties.back().origin = root.origin;
  }
  return joined_model(part_of(root, 0), std::move(parties));
}

}  // namespace

void write_content(const hdf5::File& file, const SavedModel& model) {
  file.attribute("/", "format", std::string(format_name));
  write_model_at(file, "", model);
  for (const SavedModel& party : model.parties) {
    const std::string group = group_of_party(party.party);
    make_groups(file, group + "/");
    write_model_at(file, group, party);
  }
  file.make_group("/origin");
  for (const auto& [key, value] : model.origin) file.attribute("/origin", key, value);
}

SavedModel read_content(const hdf5::Input& file) {
  const std::string format = file.text("/", "format").value_or("");
  check<DataError>(format == format_name,
                   "{}: not a model file of this version ('{}', not '{}'). Give the {} of a run directory.",
                   file.path(), format, format_name, model_file_name);
  SavedModel model = read_model_at(file, "");
  for (const std::string& key : file.attributes("/origin")) {
    model.origin.emplace_back(key, file.text("/origin", key).value_or(""));
  }
  return model.kind == Kind::vertical ? read_parties(file, model) : model;
}

}  // namespace starling
