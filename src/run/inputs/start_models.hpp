/// `--start`: the models that clients begin with. Public.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/boundary.hpp"
#include "core/links.hpp"
#include "mirror/mirror.hpp"
#include "model/model.hpp"

namespace starling {

class Loss;
struct LearningConfig;

struct StartModels {
  Released<Columns> models;        ///< d × count, of clients first … first + count − 1
  std::vector<std::string> notes;  ///< starts outside the domain, which are kept as they are
};

/// The head of the start at the constant that answers the classes with these shares: `classes:0.9,0.1`.
inline constexpr const char* start_at_classes = "classes:";
/// Likewise at the constant that answers a mean of labels, where scores are logarithms of means: `mean:5e4`.
inline constexpr const char* start_at_mean = "mean:";

/// Whether a start is at a constant answer, of a model with an intercept.
[[nodiscard]] bool is_start_at_constant(const std::string& where);

/// Whether a start is a word, and no file.
[[nodiscard]] bool is_start_word(const std::string& where);
/// Whether a start is the model file of a run.
[[nodiscard]] bool is_model_file(const std::string& where);

/// The start that the model has itself, at "uniform" from this public seed, at the shares of classes by its intercepts;
/// or at a mean; none if the domain or a file chooses it. Throws UsageError for a constant that `loss`, which may be
/// null, or the model cannot have.
[[nodiscard]] std::optional<Vector> own_start(const std::string& where, const Model& model, const Loss* loss,
                                              std::uint64_t seed);

/// `where` is "uniform" (the model's `own` start, which must lie in the domain, else the domain's centre), "zero",
/// shares of classes (the model's `own` start), a model file (the same start for all clients), or a CSV file of
/// `clients` rows of d numbers, whose width is d where `dimension` is 0. Throws UsageError, and DataError for a model
/// file that is damaged.
[[nodiscard]] StartModels start_models(const std::string& where, Domain& domain, std::size_t dimension, Client clients,
                                       Client first, Client count, const std::optional<Vector>& own = std::nullopt);

/// The model of --start where all clients have the same: uniform (the model's `own` start, else zero), zero, or a file
/// with one row of `dimension` numbers. Throws UsageError.
[[nodiscard]] Released<Vector> start_of_all(const LearningConfig& config, std::size_t dimension,
                                            const std::optional<Vector>& own = std::nullopt);

/// SHA-256 of the bytes of the parameters from which the model starts; of no bytes if the domain chooses them.
[[nodiscard]] std::string own_start_digest(const Model& model, std::uint64_t seed);

}  // namespace starling
