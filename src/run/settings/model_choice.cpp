#include "model_choice.hpp"

#include <algorithm>
#include <filesystem>

#include "catalogue.hpp"
#include "core/check.hpp"
#include "core/text/names.hpp"
#include "core/text/spec.hpp"
#include "data/serving/dataset.hpp"
#include "data/settings.hpp"
#include "model/linear_model.hpp"
#include "model/network/network_model.hpp"
#include "output/model_file/saved_model.hpp"
#include "privacy/unit.hpp"
#include "privacy_options.hpp"
#include "protocol/own_model/own_model.hpp"
#include "protocol/own_model/row_model.hpp"
#include "protocol/person_model.hpp"

namespace starling {

namespace {

/// NetworkModel takes half of it, once the mechanism's margin is off.
constexpr double least_clip_of_floats = 2e-10;

using Kind = ModelChoice::Kind;

/// Whole numbers with dashes between them.
std::vector<std::size_t> parse_widths(const std::string& text, const std::string& spec) {
  std::vector<std::size_t> widths;
  std::size_t from = 0;
  while (true) {
    const std::size_t dash = text.find('-', from);
    const std::string part = text.substr(from, dash == std::string::npos ? dash : dash - from);
    check(!part.empty() && part.find_first_not_of("0123456789") == std::string::npos && part.size() <= 9,
          "'{}': '{}' is no size of a layer: sizes are whole numbers with dashes between them. Write them as in {}.",
          spec, part, spec.starts_with("cnn") ? "cnn:32-64-512" : "mlp:784-128-10");
    widths.push_back(static_cast<std::size_t>(parse_integer(part, spec)));
    if (dash == std::string::npos) return widths;
    from = dash + 1;
  }
}

void parse_model(const std::string& text, ModelChoice& choice) {
  choice.code = named::model(text, std::filesystem::current_path());
  choice.own = open_own_model(text);
  if (choice.own) {
    choice.kind = Kind::own;
    return;
  }
  Spec spec = Spec::parse(text);
  if (spec.name() == "linear" || spec.name() == "location") {
    spec.bind({});
    choice.kind = spec.name() == "linear" ? Kind::linear : Kind::location;
    return;
  }
  check(spec.name() == "mlp" || spec.name() == "cnn", "{}",
        unknown_name("model", spec.name(), {"linear", "location", "mlp", "cnn", "plugin", "own"}));
  spec.bind({{"sizes", "of layers"}});
  choice.kind = spec.name() == "mlp" ? Kind::perceptron : Kind::convolutional;
  choice.widths = parse_widths(spec.require("sizes"), text);
  // Sizes that cannot be are found before any data are read.
  if (choice.kind == Kind::perceptron) {
    static_cast<void>(perceptron(choice.widths));
  } else {
    static_cast<void>(convolutional(1, choice.widths, 1));
  }
}

Architecture architecture_of(const ModelChoice& choice, std::size_t features, const Loss& loss) {
  if (choice.kind == Kind::convolutional) return convolutional(features, choice.widths, loss.scores());
  check(choice.widths.front() == features,
        "--model mlp takes {} inputs and the data have {} features: they must agree. Begin its sizes with {}, or, for "
        "sparse data, say --dimension {}.",
        choice.widths.front(), features, features, choice.widths.front());
  check(choice.widths.back() == loss.scores(),
        "--model mlp gives {} outputs and the loss takes {} score{}: they must agree. End its sizes with {}, or choose "
        "another --loss.",
        choice.widths.back(), loss.scores(), loss.scores() == 1 ? "" : "s", loss.scores());
  return perceptron(choice.widths);
}

}  // namespace

std::shared_ptr<OwnModel> open_own_model(const std::string& text) {
  std::shared_ptr<OwnModel> own;
  if (text.starts_with("own:")) {
    own = offered_model(text.substr(4));
  } else if (text.starts_with("plugin:")) {
    const std::string rest = text.substr(7);
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    own = open_plugin(rest.substr(0, colon), rest.substr(std::min(colon + 1, rest.size())));
  }
  const double slope = own ? own->slope().value_or(1) : 1;
  check(slope > 0 && slope <= 1e12,
        "--model {}: the slope of its loss is {}: it must be above 0. Correct it, or leave it out.", text, slope);
  return own;
}

void add_model_options(Options& options, ModelChoice& choice) {
  options.add(declared("intercept"), choice.asked_intercept,
              {{"yes", true}, {"no", false}, {"true", true}, {"false", false}});
  options.add(
      option(
          "model", "MODEL",
          "what the loss scores: linear (weights of the features), location (the distance of the model, a point, "
          "from the record's features; labels are not used), mlp:SIZES (dense layers with ReLU between them, from "
          "the number of features to the number of scores, as in mlp:784-128-10) or cnn:SIZES (of square images: "
          "channels of 5x5 convolutions, each with a 2x2 max-pool, then the size of a dense layer with ReLU before "
          "the scores, as in cnn:32-64-512), or a model of your own, which has its losses itself: plugin:FILE "
          "(a shared library; options for it follow another colon, as in plugin:./poisson.so:offset=1)",
          {.initial = "linear",
           .example = "mlp:784-128-10",
           .files = named::model,
           .relations =
               {excludes("loss=none", "there is no loss to score", "Leave --model out.").only_for("location|mlp|cnn"),
                excludes("loss", "an own model has its losses itself", "Leave --loss out.").only_for("plugin|own"),
                excludes("intercept", "an own model has the parameters that it says", "Leave --intercept out.")
                    .only_for("plugin|own")}}),
      [&choice](const std::string& text) { parse_model(text, choice); });
  options.add(declared("precision"), choice.precision, {{"float", Precision::single}, {"double", Precision::full}});
}

void check_model_choice(const ModelChoice& choice, const PrivacyOptions& privacy, const DataSettings& data) {
  const double clip = privacy.clip.value_or(1);
  check(!choice.is_network() || choice.precision == Precision::full || privacy.unit == PrivacyUnit::component ||
            clip >= least_clip_of_floats,
        "--clip {} with a network of floats: below {} they may lose too much to underflow. Use --precision double.",
        clip, least_clip_of_floats);
  // A label that became an ignored one would move later records to other chunks, which floats add up otherwise.
  constexpr std::size_t at_once = NetworkModel<float>::chunk_records;
  check(!choice.is_network() || choice.precision == Precision::full || !privacy.protects() || data.ignore.empty() ||
            data.batch <= at_once || privacy.unit == PrivacyUnit::person,
        "--ignore with a network of floats and --batch {}: above {} records the noise would not hide whose label is "
        "ignored. Use --precision double, or a smaller --batch.",
        data.batch, at_once);
}

Model& learned_model(Model& model, const PrivacyOptions& privacy, std::unique_ptr<Model>& persons) {
  using Weighing = PersonModel::Weighing;
  if (privacy.unit != PrivacyUnit::person) return model;
  persons = std::make_unique<PersonModel>(model, privacy.person_mean ? Weighing::mean : Weighing::sum);
  return *persons;
}

void check_person_gradient(const PrivacyOptions& privacy, const Loss& loss) {
  check(loss.link() != Link::hazard || privacy.unit != PrivacyUnit::person || !privacy.person_mean,
        "--loss hazard with --person-gradient mean: a person who lives longer has more records, each of which would "
        "count less, so that hazards would be wrong. Give --person-gradient sum.");
}

std::unique_ptr<Loss> make_loss(const ModelChoice& choice, const std::string& text) {
  if (choice.own) return std::make_unique<OwnLoss>(*choice.own);
  return loss_table().make(text);
}

std::unique_ptr<Model> make_model(const ModelChoice& choice, const Loss& loss, const DataShape& shape) {
  if (choice.own) return std::make_unique<RowModel>(choice.own, shape.features);
  if (choice.kind == Kind::linear) return std::make_unique<LinearModel>(loss, shape.features, choice.intercept());
  if (choice.kind == Kind::location) return std::make_unique<LocationModel>(loss, shape.features);
  const Architecture architecture = architecture_of(choice, shape.features, loss);
  if (choice.precision == Precision::full) return std::make_unique<NetworkModel<double>>(loss, architecture);
  return std::make_unique<NetworkModel<float>>(loss, architecture);
}

SavedModel saved_model(const ModelChoice& choice, const std::string& loss, const Loss& made, const DataShape& shape) {
  SavedModel model;
  model.features = shape.features;
  if (choice.own) {
    model.form = OwnForm{choice.code, choice.own->identity()};
    return model;
  }
  model.loss = loss;
  model.scores = made.scores();
  if (choice.kind == Kind::linear) model.form = LinearForm{choice.intercept()};
  if (choice.kind == Kind::location) model.form = LocationForm();
  if (choice.is_network()) {
    model.form =
        NetworkForm{architecture_of(choice, shape.features, made), choice.precision.value_or(Precision::single)};
  }
  return model;
}

}  // namespace starling
