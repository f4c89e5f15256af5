/// The types at the boundary of a client: what may leave it is decided by type, not by promise (method 6).
///
///   Secret<T>    computed from private records. Can be mapped to another Secret, and opened by nobody but the four
///                friends of `OpenKey`.
///   Released<T>  made by a mechanism; free to read. Arithmetic on released and public values stays released.
///   Public<T>    depends on no record: start values, constants, traffic counts.
///   Entrusted<T> un-noised, on its way to an aggregator that is trusted with it; there it is a Secret again.
///   Masked       noised too little to be seen alone, under masks that cancel in the sum over all clients.
///
/// The doors of the communication layer take Released (and Public, which converts to it); Entrusted and Masked pass
/// the aggregator's door (`Root`) alone. Nothing else passes any.
/// A lambda given to `map` or `update` could smuggle a value out through a capture; that takes intent, which types
/// cannot prevent, and review can.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "starling/core/columns.hpp"

namespace starling {

enum class Norm { l1, l2 };

/// A bound on a norm, which remembers which norm: a Gaussian cannot be calibrated with an L1 bound.
template <Norm>
struct Bound {
  double value = 0;
};

/// How far replacing one record can move a quantity.
struct Sensitivity {
  Bound<Norm::l1> l1;
  Bound<Norm::l2> l2;
};

/// How a record's gradient is clipped before it enters a sum. `none` leaves it as it is and gives no sensitivity.
/// `component` clips each component to [−bound, bound] (the dissertation's unit).
enum class ClipKind { none, l1, l2, component };
struct Clip {
  ClipKind kind = ClipKind::none;
  double bound = 0;
};

/// Opens a Secret. Held by those whose duty it is: the mechanisms (which add noise), the policy on metrics, and the
/// writer of a client's own private files.
class OpenKey {
  OpenKey() = default;
  friend class Release;
  friend class MetricsPolicy;
  friend class OwnersFile;
};

/// Makes a Released. Held by the privacy room alone.
class ReleaseKey {
  ReleaseKey() = default;
  friend class Release;
  friend class MetricsPolicy;
};

template <class T>
class Secret {
 public:
  Secret() = default;
  /// Anybody may make a secret of anything: it only takes rights away.
  explicit Secret(T value) : value_(std::move(value)) {}

  /// Secret of f(value).
  template <class F>
  [[nodiscard]] auto map(F&& f) const -> Secret<std::invoke_result_t<F, const T&>> {
    return Secret<std::invoke_result_t<F, const T&>>(std::forward<F>(f)(value_));
  }
  /// f(value, others…) in place; the others may be secrets too. f returns nothing.
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

/// f(values…) of several secrets at once, each const if the secret is. f returns nothing.
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

/// The place where a plain value becomes public: the caller states that no private record has touched it.
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

/// Made by the privacy room alone, for runs whose privacy statement says that the aggregator is trusted.
template <class T>
class Entrusted {
 public:
  Entrusted(const ReleaseKey&, T value) : value_(std::move(value)) {}

 private:
  friend class Root;
  T value_;
};

/// One client's share of a sum modulo 2^64, made by the privacy room alone. The words of one share, or of all but one,
/// are uniform and tell nothing; so they may be read by anybody.
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
