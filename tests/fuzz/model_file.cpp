// Model files: one that the program wrote, with objects taken away, attributes changed and data sets of other shapes,
// as the bytes say. Whatever is read must score records.
#include <array>
#include <cmath>
#include <filesystem>

#include "core/check.hpp"
#include "hdf5/file.hpp"
#include "output/model_file/scorer.hpp"
#include "target.hpp"

namespace {

using namespace starling;

/// A head over the embeddings of two parties, each of one column.
SavedModel vertical_model() {
  SavedModel head;
  head.form = HeadForm{PartForm{{perceptron({2, 1})}, 2}};
  head.features = 2;
  head.parameters = {1, 2, 3};
  std::vector<SavedModel> parties(2, head);
  for (SavedModel& party : parties) {
    party.form = EmbeddingForm{{{perceptron({1, 1})}, 2}, 1 + static_cast<std::size_t>(&party - parties.data())};
    party.features = party.constants.features = 1;
    party.parameters = {1, 2};
  }
  return joined_model(head, parties);
}

SavedModel some_model(std::size_t which) {
  if (which == 3) return vertical_model();
  SavedModel model;
  model.loss = which == 0 ? "logistic" : "softmax:3";
  model.scores = which == 0 ? 1 : 3;
  model.features = which == 2 ? 16 : 3;
  model.form = LinearForm{true};
  if (which == 2) model.form = NetworkForm{perceptron({16, 2, 3})};
  PublicConstants& constants = model.constants;
  constants.features = model.features;
  constants.label = "y";
  if (which == 0) {
    constants.columns = {"a", "b", "c"};
    constants.categories = {{"a", {{"x", 1}, {"z", 2}}}};
    constants.standardisation.assign(3, {1, 2});
    constants.label_standardisation = {0, 1};
    constants.positive = {1};
  }
  for (const ParameterBlock& block : model.blocks()) {
    model.parameters.insert(model.parameters.end(), block.rows * block.columns, 0.5);
  }
  model.origin = {{"command", "omd"}};
  return model;
}

constexpr std::array objects{"/parameters/weights",
                             "/parameters/intercept",
                             "/feature",
                             "/preparation",
                             "/preparation/mean",
                             "/preparation/sd",
                             "/preparation/column",
                             "/preparation/categories/0/value",
                             "/preparation/categories/0/text",
                             "/party/1",
                             "/party/2/place",
                             "/party/1/parameters/1-dense/weights",
                             "/party/2/preparation",
                             "/layers",
                             "/input",
                             "/parameters/1-dense/weights"};
constexpr std::array attributes{"format",    "kind",      "loss",      "scores", "features",
                                "intercept", "row_bound", "precision", "parties"};

/// One change; the bytes choose which, and of what.
void change(const hdf5::File& file, std::string_view& bytes) {
  const std::string object = objects[fuzz::choose(bytes, objects.size())];
  const std::string attribute = attributes[fuzz::choose(bytes, attributes.size())];
  const std::size_t how = fuzz::choose(bytes, 5);
  const std::size_t size = fuzz::choose(bytes, 40);
  if (how == 0) H5Ldelete(file.id(), object.c_str(), H5P_DEFAULT);
  if (how == 1) {
    H5Ldelete(file.id(), object.c_str(), H5P_DEFAULT);
    file.write(object, {size}, Vector(size, 1.5));
  }
  if (how == 2) {
    H5Ldelete(file.id(), object.c_str(), H5P_DEFAULT);
    file.write_texts(object, std::vector<std::string>(size, std::string(bytes.substr(0, 12))));
  }
  if (how >= 3) H5Adelete_by_name(file.id(), "/", attribute.c_str(), H5P_DEFAULT);
  if (how == 3) file.attribute("/", attribute, size == 39 ? NAN : static_cast<double>(size) - 2);
  if (how == 4) file.attribute("/", attribute, std::string(bytes.substr(0, size)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string path = fuzz::MemoryFile("").path() + "-model.h5";
  write_model(path, some_model(fuzz::choose(bytes, 4)));
  while (!bytes.empty()) {
    try {
      change(hdf5::File(path, hdf5::File::Mode::append), bytes);
    } catch (const FailureError&) {
      // The object's group is gone.
    }
  }
  fuzz::answers([&] {
    const SavedModel model = read_model(path);
    if (model.is_part()) return;
    Batch batch;
    batch.add({Vector(model.features, 1.0), {}}, 1);
    Vector scores;
    Scorer(model).score(batch, scores);
    fuzz::require(scores.size() == model.scores, "a score for each of the model's");
  });
  std::filesystem::remove(path);
  return 0;
}
