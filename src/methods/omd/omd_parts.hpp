/// The settled parts of a run of mirror descent.
#pragma once

#include <memory>
#include <optional>

#include "core/boundary.hpp"
#include "core/columns.hpp"

namespace starling {

class Domain;
class Loss;
class MirrorMap;
class Model;
class RunConstraints;
class RunGraph;
struct OmdConfig;

/// Graph, model and start of a run of mirror descent, once they are settled. Loss and model are null under --loss none.
struct OmdParts {
  explicit OmdParts(OmdConfig& of_run);
  ~OmdParts();

  OmdConfig& config;
  std::unique_ptr<RunGraph> graph;
  std::unique_ptr<Domain> domain;
  std::unique_ptr<MirrorMap> mirror;
  std::unique_ptr<Loss> loss;
  std::unique_ptr<Model> model;
  std::unique_ptr<RunConstraints> constraints;
  Released<Columns> start = declare_public(Columns());  ///< the protocol takes it
  std::optional<Released<Columns>> kept_start = {};     ///< of `--start-records`
  double share_of_start = 0;                            ///< in the final models
};

}  // namespace starling
