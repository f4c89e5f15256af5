/// The content of a checkpoint.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/snapshot.hpp"

namespace starling {

/// The parts of a checkpoint, in order.
class KeptParts {
 public:
  /// Adds a part; a reference is kept. An object with `leave_out()` is told which rounds are not played. An object with
  /// `files()` names files that the checkpoint depends on. They only grow, and persisting the object makes them
  /// durable.
  template <class T>
  void add(const std::string& name, T& object) {
    parts_.push_back(part(name, object));
    if constexpr (requires { object.files(); }) {
      for (const std::string& file : object.files()) files_.push_back(file);
    }
    if constexpr (requires { object.leave_out(Round()); }) {
      leaving_out_.push_back([&object](Round end) { object.leave_out(end); });
    }
  }
  /// Adds a part that is read before all others.
  template <class T>
  void put_first(const std::string& name, T& object) {
    parts_.insert(parts_.begin(), part(name, object));
  }
  /// Tells all parts that rounds before `end` that were not played will not be played.
  void leave_out(Round end) const {
    for (const auto& part : leaving_out_) part(end);
  }
  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }
  void persist(Snapshot& snapshot) const {
    for (const auto& part : parts_) part(snapshot);
  }

 private:
  template <class T>
  [[nodiscard]] static std::function<void(Snapshot&)> part(const std::string& name, T& object) {
    return [name, &object](Snapshot& snapshot) {
      snapshot.part(name);
      snapshot(object);
    };
  }
  std::vector<std::function<void(Snapshot&)>> parts_;
  std::vector<std::function<void(Round)>> leaving_out_;
  std::vector<std::string> files_;
};

}  // namespace starling
