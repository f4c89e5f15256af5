#include "model_content.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/check.hpp"
#include "core/numerics/gram.hpp"

namespace starling {

namespace {

constexpr const char* format_name = "starling model 1";

template <class Value>
struct Named {
  const char* name;
  Value value;
};

constexpr std::array links{Named<Link>{"identity", Link::identity}, Named<Link>{"logit", Link::logit},
                           Named<Link>{"softmax", Link::softmax},   Named<Link>{"log", Link::log},
                           Named<Link>{"hazard", Link::hazard},     Named<Link>{"none", Link::none}};
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

using Form = decltype(SavedModel::form);

/// An empty form of the kind that the file names.
template <std::size_t... I>
Form form_of_kind(const hdf5::Input& file, const std::string& where, std::index_sequence<I...> /*kinds*/) {
  const std::array names{
      Named<Form>{std::variant_alternative_t<I, Form>::kind, std::variant_alternative_t<I, Form>()}...};
  return value_in(names, file, where, "kind");
}

/// Makes the groups that lead to a name.
void make_groups(const hdf5::File& file, const std::string& name) {
  for (std::size_t slash = name.find('/', 1); slash != std::string::npos; slash = name.find('/', slash + 1)) {
    if (!file.has(name.substr(0, slash))) file.make_group(name.substr(0, slash));
  }
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

void write_own(const hdf5::File& file, const std::string& object, const OwnForm& form, std::size_t dimension) {
  file.attribute(object, "code", form.code);
  file.attribute(object, "code_identity", form.identity);
  file.attribute(object, "dimension", static_cast<double>(dimension));
}

void write_network(const hdf5::File& file, const std::string& where, const NetworkForm& form) {
  const ImageShape& input = form.architecture.input;
  file.attribute(object_at(where), "precision", name_in(precisions, form.precision));
  file.write_texts(where + "/layers", layer_texts(form.architecture));
  file.write(
      where + "/input", {3},
      Vector{static_cast<double>(input.height), static_cast<double>(input.width), static_cast<double>(input.channels)});
}

/// Writes the attributes and places of an embedding.
void write_party(const hdf5::File& file, const std::string& where, const EmbeddingForm& form) {
  file.attribute(object_at(where), "party", static_cast<double>(form.party));
  if (std::isfinite(form.bound)) file.attribute(object_at(where), "embedding_bound", form.bound);
  if (std::isfinite(form.row_bound)) file.attribute(object_at(where), "row_bound", form.row_bound);
  if (form.places.empty()) return;
  file.attribute(object_at(where), "table_features", static_cast<double>(form.table_features));
  file.write(where + "/place", {form.places.size()}, Vector(form.places.begin(), form.places.end()));
}

void write_model_at(const hdf5::File& file, const std::string& where, const SavedModel& model) {
  const std::string object = object_at(where);
  const auto* const linear = model.as<LinearForm>();
  const auto* const embedding = model.as<EmbeddingForm>();
  file.attribute(object, "kind", std::visit([](const auto& form) { return std::string(form.kind); }, model.form));
  if (const auto* const own = model.as<OwnForm>()) {
    write_own(file, object, *own, model.parameters.size());
  } else if (embedding == nullptr) {
    file.attribute(object, "loss", model.loss);
    file.attribute(object, "link", name_in(links, ModelLoss(model)->link()));
  }
  file.attribute(object, "scores", static_cast<double>(model.scores));
  file.attribute(object, "features", static_cast<double>(model.features));
  file.attribute(object, "intercept", std::string(linear != nullptr && linear->intercept ? "yes" : "no"));
  if (linear != nullptr && std::isfinite(linear->row_bound)) file.attribute(object, "row_bound", linear->row_bound);
  if (const auto* const part = model.as<PartForm>()) {
    file.attribute(object, "parties", static_cast<double>(part->party_count));
  }
  file.write_texts(where + "/feature", model.feature_names());
  if (const auto* const network = model.as<NetworkForm>()) write_network(file, where, *network);
  if (embedding != nullptr) write_party(file, where, *embedding);
  write_parameters(file, where, model);
  if (linear != nullptr && linear->spread) write_spread(file, *linear->spread, model.parameters.size());
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

void read_network(const hdf5::Input& file, const std::string& where, NetworkForm& form) {
  form.precision = value_in(precisions, file, where, "precision");
  const Vector input = read_numbers(file, where + "/input", {3});
  for (const double size : input) {
    check<DataError>(size >= 1 && size <= 1e7 && size == std::floor(size),
                     "{}: {}/input is no shape of an input. Restore the file.", file.path(), where);
  }
  form.architecture = parse_layers(
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
  auto* const linear = std::get_if<LinearForm>(&model.form);
  check<DataError>(
      linear != nullptr && model.scores == 1 && (spread.method == "plug-in" || spread.method == "random-scaling"),
      "{}: a spread of method '{}' of such a model. Restore the file.", file.path(), spread.method);
  const Vector square = read_numbers(file, "/spread", {d, d});
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = i; j < d; ++j) spread.matrix.push_back(square[i * d + j]);
  }
  linear->spread = std::move(spread);
}

void read_party(const hdf5::Input& file, const std::string& where, std::size_t columns, EmbeddingForm& form) {
  form.party = read_count(file, object_at(where), "party", 1);
  check<DataError>(form.party <= form.party_count, "{}: the part of party {} of {}. Restore the file.", file.path(),
                   form.party, form.party_count);
  form.bound = read_bound(file, where, "embedding_bound");
  form.row_bound = read_bound(file, where, "row_bound");
  if (!file.has(where + "/place")) return;
  form.table_features = read_count(file, object_at(where), "table_features", 1);
  for (const double place : read_numbers(file, where + "/place", {columns})) {
    check<DataError>(place >= 0 && place < static_cast<double>(form.table_features) && place == std::floor(place),
                     "{}: {}/place has a number that is no place of a feature. Restore the file.", file.path(), where);
    form.places.push_back(static_cast<std::size_t>(place));
  }
}

/// Reads the facts of a form without which its parameters cannot be read.
void read_form(const hdf5::Input& file, const std::string& where, SavedModel& model) {
  const std::string object = object_at(where);
  std::visit(
      [&]<class Own>(Own& form) {
        if constexpr (std::is_same_v<Own, LinearForm>) {
          form.intercept = read_yes(file, where, "intercept");
          form.row_bound = read_bound(file, where, "row_bound");
        }
        if constexpr (std::is_base_of_v<PartForm, Own>) form.party_count = read_count(file, object, "parties", 1);
        if constexpr (std::is_base_of_v<NetworkForm, Own>) read_network(file, where, form);
        if constexpr (std::is_same_v<Own, OwnForm>) {
          form.code = file.text(object, "code").value_or("");
          form.identity = file.text(object, "code_identity").value_or("");
          model.parameters.resize(read_count(file, object, "dimension", 1));
        }
      },
      model.form);
}

/// The model of the root or of a party's group, without its origin.
SavedModel read_model_at(const hdf5::Input& file, const std::string& where) {
  const std::string object = object_at(where);
  SavedModel model;
  model.form = form_of_kind(file, where, std::make_index_sequence<std::variant_size_v<Form>>());
  auto* const embedding = std::get_if<EmbeddingForm>(&model.form);
  check<DataError>(where.empty() || embedding != nullptr, "{}: {} is no party's part. Restore the file.", file.path(),
                   where);
  model.loss = file.text(object, "loss").value_or("");
  model.scores = read_count(file, object, "scores", 1);
  model.features = read_count(file, object, "features", 1);
  model.own_constants = read_yes(file, where, "own_constants");
  read_form(file, where, model);
  read_parameters(file, where, model);
  if (where.empty()) read_spread(file, model);
  model.constants = read_preparation(file, where, model.is<HeadForm>() ? 0 : 1);
  if (embedding != nullptr) {
    read_party(file, where, model.constants.features, *embedding);
  } else if (!model.is<OwnForm>()) {
    static_cast<void>(ModelLoss(model));  // throws for one that does not fit
  }
  return model;
}

/// The vertical model of a root that has been read.
SavedModel read_parties(const hdf5::Input& file, const SavedModel& root, std::size_t count) {
  std::vector<SavedModel> parties;
  for (std::size_t k = 1; k <= count; ++k) {
    parties.push_back(read_model_at(file, group_of_party(k)));
    parties.back().origin = root.origin;
  }
  return joined_model(part_of(root, 0), std::move(parties));
}

}  // namespace

void write_content(const hdf5::File& file, const SavedModel& model) {
  file.attribute("/", "format", std::string(format_name));
  write_model_at(file, "", model);
  if (const auto* const vertical = model.as<VerticalForm>()) {
    for (std::size_t k = 1; k <= vertical->parties.size(); ++k) {
      make_groups(file, group_of_party(k) + "/");
      write_model_at(file, group_of_party(k), vertical->parties[k - 1]);
    }
  }
  file.make_group("/origin");
  for (const auto& [key, value] : model.origin) file.attribute("/origin", key, value);
}

SavedModel read_content(const hdf5::Input& file) {
  const std::string format = file.text("/", "format").value_or("");
  check<DataError>(format == format_name,
                   "{}: not a model file of this version: '{}', not '{}'. Give the {} of a run directory.", file.path(),
                   format, format_name, model_file_name);
  SavedModel model = read_model_at(file, "");
  for (const std::string& key : file.attributes("/origin")) {
    model.origin.emplace_back(key, file.text("/origin", key).value_or(""));
  }
  const auto* const vertical = model.as<VerticalForm>();
  return vertical != nullptr ? read_parties(file, model, vertical->party_count) : model;
}

}  // namespace starling
