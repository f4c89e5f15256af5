#include "protocol/own_model/own_model.hpp"

#include <map>
#include <utility>

#include "core/check.hpp"

namespace starling {

namespace {

std::map<std::string, std::shared_ptr<OwnModel>>& offered() {
  static std::map<std::string, std::shared_ptr<OwnModel>> models;
  return models;
}

}  // namespace

OfferedModel::OfferedModel(std::string name, std::shared_ptr<OwnModel> model) : name_(std::move(name)) {
  constexpr const char* known = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  check(!name_.empty() && name_.find_first_not_of(known) == std::string::npos,
        "model '{}': a name has letters, digits, '_', '-' and '.'. Choose such a name.", name_);
  check(offered().emplace(name_, std::move(model)).second, "model '{}': there is one of this name. Choose another.",
        name_);
}

OfferedModel::~OfferedModel() {
  offered().erase(name_);
}

std::shared_ptr<OwnModel> offered_model(const std::string& name) {
  const auto found = offered().find(name);
  check(found != offered().end(),
        "--model own:{}: no such model: own models live in a process that embeds starling, as Python does. From a file "
        "a model comes by --model plugin:FILE.",
        name);
  return found->second;
}

}  // namespace starling
