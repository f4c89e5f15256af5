/// State of objects between rounds, written to a checkpoint or read from one.
///
/// A class with such state names the state once, in
///
///   void persist(Snapshot& snapshot) { snapshot(round_, models_, debts_); }
///
/// The same calls write and read, so that writing and reading always cover the same members. The state may be secret,
/// so the whole content is a Secret. Reading restores each member to its type: a Secret again, or a Released that a
/// mechanism had made.
///
/// Bytes have the machine's representation: only the build that wrote a checkpoint can read it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "starling/core/boundary.hpp"

namespace starling {

class Snapshot;

template <class T>
concept Persistent = requires(T& object, Snapshot& snapshot) {
  object.persist(snapshot);
};

class Snapshot {
 public:
  /// Snapshot for writing.
  Snapshot() = default;
  /// Snapshot for reading. Throws DataError on a read beyond the end and on an impossible length.
  explicit Snapshot(Secret<std::string> content);

  [[nodiscard]] bool reading() const { return reading_; }
  [[nodiscard]] const Secret<std::string>& content() const { return content_; }
  /// Reading: whether all has been read.
  [[nodiscard]] bool at_end() const { return at_ == size_; }
  /// Throws DataError if unread content is left.
  void require_end() const;

  /// Begins a named part. A part must be read under the name under which it was written. Throws DataError otherwise.
  void part(const std::string& name);

  /// Writes or reads the values in this order. Accepted are numbers, enumerations, strings, containers of these,
  /// vectors of a block, secrets and releases of any of these, and every class with persist().
  template <class... T>
  void operator()(T&... values) {
    (item(values), ...);
  }

 private:
  template <class T>
  void item(T& value) {
    static_assert(Persistent<T> || std::is_arithmetic_v<T> || std::is_enum_v<T>, "nothing says how to keep this type");
    if constexpr (Persistent<T>) {
      value.persist(*this);
    } else {
      bytes(&value, sizeof value);
    }
  }
  void item(bool& flag);
  void item(std::string& text);
  void item(Columns& columns);
  template <class T>
  void item(std::vector<T>& values) {
    const std::size_t count = length(values.size(), std::is_arithmetic_v<T> ? sizeof(T) : 1);
    if constexpr (std::is_default_constructible_v<T>) {
      if (reading_) values.resize(count);
    } else {
      if (count != values.size()) refuse(of_another_length(count, values.size()));
    }
    if constexpr (std::is_arithmetic_v<T>) {
      bytes(values.data(), count * sizeof(T));
    } else {
      for (T& value : values) item(value);
    }
  }
  template <class T, std::size_t N>
  void item(std::array<T, N>& values) {
    for (T& value : values) item(value);
  }
  template <class T>
  void item(std::optional<T>& value) {
    bool has = value.has_value();
    item(has);
    if (reading_) value = has ? std::optional<T>(T{}) : std::nullopt;
    if (has) item(*value);
  }
  template <class A, class B>
  void item(std::pair<A, B>& pair) {
    (*this)(pair.first, pair.second);
  }
  template <class K, class V>
  void item(std::map<K, V>& map) {
    pairs_of(map);
  }
  template <class K, class V>
  void item(std::unordered_map<K, V>& map) {
    pairs_of(map);
  }
  template <class T>
  void item(Secret<T>& secret) {
    secret.update([this](T& value) { item(value); });
  }
  template <class T>
  void item(Released<T>& released) {
    released.update([this](T& value) { item(value); });
  }

  template <class Map>
  void pairs_of(Map& map) {
    std::vector<std::pair<typename Map::key_type, typename Map::mapped_type>> pairs;
    if (!reading_) pairs.assign(map.begin(), map.end());
    item(pairs);
    if (reading_) map = Map(pairs.begin(), pairs.end());
  }

  /// Length of a container. A length that is read must fit into the rest of the content, at `least` bytes per element.
  [[nodiscard]] std::size_t length(std::size_t size, std::size_t least);
  void bytes(void* data, std::size_t size);
  [[nodiscard]] static std::string of_another_length(std::size_t found, std::size_t expected);
  [[noreturn]] void refuse(const std::string& what) const;

  Secret<std::string> content_;
  std::size_t at_ = 0;    ///< reading: position
  std::size_t size_ = 0;  ///< reading: size of the content
  bool reading_ = false;
};

}  // namespace starling
