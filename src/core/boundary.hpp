/// Types for values that may or may not leave a client. The type system enforces the privacy boundary
/// (docs/methods/privacy.md, Principles).
///
///   Secret<T>    computed from private records. Can be mapped to another Secret. Only holders of `OpenKey` can open
///   it. Released<T>  made by a mechanism; free to read. Arithmetic on released and public values stays released.
///   Public<T>    depends on no record: start values, constants, traffic counts.
///   Entrusted<T> without noise, for an aggregator that is trusted with it. The aggregator holds it as a Secret again.
///   Masked       too little noise to be seen alone, under masks that cancel in the sum over all clients.
///
/// The interfaces of the communication layer take Released, and Public, which converts to Released. Only the interface
/// of the aggregator (`Root`) takes Entrusted and Masked. No interface takes any other type.
/// A lambda given to `map` or `update` could leak a value through a capture. Types cannot prevent such intent; review
/// can.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/columns.hpp"

namespace starling {

enum class Norm { l1, l2 };

/// A bound on a norm. The type states the norm: a Gaussian cannot be calibrated with an L1 bound.
template <Norm>
struct Bound {
  double value = 0;
};

/// Clipping of a record's gradient before the gradient enters a sum. `none` changes nothing and gives no sensitivity.
/// `component` clips each component to [−bound, bound] (the unit of the dissertation).
enum class ClipKind { none, l1, l2, component };
struct Clip {
  ClipKind kind = ClipKind::none;
  double bound = 0;
};

/// Permission to open a Secret. The holders are the mechanisms (which add noise), the policy on metrics, and the writer
/// of a client's own private files.
class OpenKey {
  OpenKey() = default;
  friend class Release;
  friend class MetricsPolicy;
  friend class OwnersFile;
};

/// Permission to make a Released. Only the privacy module holds this key.
class ReleaseKey {
  ReleaseKey() = default;
  friend class Release;
  friend class MetricsPolicy;
};

template <class T>
class Secret {
 public:
  Secret() = default;
  /// Makes a secret of any value. No key is needed: the constructor only takes rights away.
  explicit Secret(T value) : value_(std::move(value)) {}

  /// Secret of f(value).
  template <class F>
  [[nodiscard]] auto map(F&& f) const -> Secret<std::invoke_result_t<F, const T&>> {
    return Secret<std::invoke_result_t<F, const T&>>(std::forward<F>(f)(value_));
  }
  /// Runs f(value, others…) in place. The others may be secrets too. f returns nothing.
  template <class F, class... S>
  void update(F&& f, const Secret<S>&... others) {
    static_assert(std::is_void_v<std::invoke_result_t<F, T&, const S&...>>, "nothing may come out of a Secret");
    std::forward<F>(f)(value_, others.value_...);
  }
  [[nodiscard]] const T& open(const OpenKey&) const { return value_; }

 private:
  template <class>
  friend class Secret;
  template <class F, class... S>
  friend void apply(F&& f, S&... secrets);
  T value_{};
};

/// Runs f(values…) on several secrets at once. Each value is const if its secret is. f returns nothing.
template <class F, class... S>
void apply(F&& f, S&... secrets) {
  static_assert(std::is_void_v<decltype(f(secrets.value_...))>, "nothing may come out of a Secret");
  std::forward<F>(f)(secrets.value_...);
}

template <class T>
class Public {
 public:
  [[nodiscard]] const T& value() const { return value_; }

 private:
  explicit Public(T value) : value_(std::move(value)) {}
  template <class U>
  friend Public<std::decay_t<U>> declare_public(U&& value);
  template <class>
  friend class Released;
  T value_;
};

/// Declaration that a plain value is public: the caller states that the value depends on no private record.
template <class U>
[[nodiscard]] Public<std::decay_t<U>> declare_public(U&& value) {
  return Public<std::decay_t<U>>(std::forward<U>(value));
}

template <class T>
class Released {
 public:
  Released(const ReleaseKey&, T value) : value_(std::move(value)) {}
  /// Public ⊕ Released is Released.
  Released(Public<T> value) : value_(std::move(value.value_)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] const T& value() const { return value_; }
  /// Post-processing: f(value, released others…), in place.
  template <class F, class... S>
  void update(F&& f, const Released<S>&... others) {
    std::forward<F>(f)(value_, others.value()...);
  }

 private:
  T value_;
};

/// A value without noise for a trusted aggregator. Only the privacy module makes one, and only for runs whose privacy
/// statement says that the aggregator is trusted.
template <class T>
class Entrusted {
 public:
  Entrusted(const ReleaseKey&, T value) : value_(std::move(value)) {}

 private:
  friend class Root;
  T value_;
};

/// One client's share of a sum modulo 2^64. Only the privacy module makes one. The words of one share, or of all shares
/// but one, are uniform and reveal nothing. Anybody may read them.
class Masked {
 public:
  Masked(const ReleaseKey&, std::vector<std::uint64_t> words) : words_(std::move(words)) {}
  [[nodiscard]] const std::vector<std::uint64_t>& words() const { return words_; }

 private:
  std::vector<std::uint64_t> words_;
};

/// Released result of a function of released values.
template <class F, class... S>
[[nodiscard]] auto post_process(F&& f, const Released<S>&... released) {
  using Result = std::decay_t<std::invoke_result_t<F, const S&...>>;
  return Released<Result>(declare_public(std::forward<F>(f)(released.value()...)));
}

}  // namespace starling
