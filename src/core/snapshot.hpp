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
/// The calls also say whose each value is, so that a run can go on with other clients on each rank
/// (core/regrouping.hpp):
///
/// | call | value |
/// | --- | --- |
/// | `snapshot(…)` | the same on all ranks |
/// | `of_clients`, `each_client` | one entry for each client of the rank, in order |
/// | `by_client` | entries that name their client, ascending: any number for each client |
/// | `sums` | numbers of a rank whose sum over all ranks counts; bits of which any rank's count |
/// | `of_any_rank` | differs between ranks, and that of any rank will do |
/// | `of_first_rank` | says something on rank 0 alone |
/// | `of_group` | true of exactly these clients together; lost where they are not together any more |
///
/// A client whose state is lost has entries of no bytes. Reading them leaves the value as it is.
///
/// Content is a sequence of sections, each with its kind, its size and its bytes. Bytes have the machine's
/// representation: only the build that wrote a checkpoint can read it.
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

#include "core/boundary.hpp"
#include "core/links.hpp"

namespace starling {

class Snapshot;

/// Kinds of sections.
enum class SectionKind : char {
  same = 's',
  clients = 'c',
  by_client = 'k',
  sums = 'n',
  any_rank = 'a',
  group = 'g',
};
/// Type of a number among `sums`. The numbers of two ranks are added; of bits, those that either rank has set are set.
enum class SumKind : char { real = 'r', integer = 'i', bits = 'b' };
/// Stands for the common size of a section's entries where their sizes differ and are listed.
constexpr std::uint64_t sizes_differ = ~std::uint64_t{0};

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

  /// States the length in bytes of a file that the snapshot depends on, before reading.
  void note_length(const std::string& file_name, std::int64_t bytes) { lengths_[file_name] = bytes; }
  /// The stated length of a file, by the last part of its path. Throws DataError if none was stated.
  [[nodiscard]] std::int64_t length_of(const std::string& path) const;

  /// Begins a named part. A part must be read under the name under which it was written. Throws DataError otherwise.
  void part(const std::string& name);

  /// Writes or reads the values in this order. Accepted are numbers, enumerations, strings, containers of these,
  /// vectors of a block, secrets and releases of any of these, and every class with persist().
  /// The values are the same on all ranks.
  template <class... T>
  void operator()(T&... values) {
    (item(values), ...);
  }

  /// Containers with one entry for each client of the rank, in order; or all of them empty, on all ranks.
  template <class... T>
  void of_clients(T&... values) {
    (entries(values), ...);
  }

  /// Calls entry(k), which passes the state of local client k to this snapshot, for each of `count` clients.
  template <class F>
  void each_client(std::size_t count, F&& entry) {
    open(SectionKind::clients);
    const std::size_t found = count_of_entries(count);
    if (found != count) refuse(of_another_length(found, count));
    each_entry(count, entry);
  }

  /// A container of entries that belong to client_of(entry), ascending.
  template <class T, class F>
  void by_client(std::vector<T>& values, F&& client_of) {
    open(SectionKind::by_client);
    const std::size_t count = length(values.size(), 1);
    if (reading_) values.resize(count);
    for (T& value : values) {
      Client client = reading_ ? Client{0} : client_of(value);
      bytes(&client, sizeof client);
    }
    each_entry(count, [&](std::size_t k) { item(values[k]); });
  }

  /// Numbers of this rank; the sum of those of all ranks is what counts.
  template <class... T>
  void sums(T&... values) {
    open(SectionKind::sums);
    (number(values), ...);
    close();
  }

  template <class... T>
  void of_any_rank(T&... values) {
    open(SectionKind::any_rank);
    (item(values), ...);
    close();
  }

  /// Values of rank 0 alone, which say something on no other rank.
  template <class... T>
  void of_first_rank(bool is_first, T&... values) {
    open(SectionKind::any_rank);
    if (is_first) (item(values), ...);
    if (!is_first) at_ = reading_ ? end_ : at_;
    close();
  }

  /// Whether there are values: reading leaves them as they are if the clients of the rank are others now.
  template <class... T>
  bool of_group(T&... values) {
    open(SectionKind::group);
    const bool lost = reading_ && at_ == end_;
    if (!lost) (item(values), ...);
    close();
    return !lost;
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
    resize(values, count);
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

  // Entries of clients.

  template <class T>
  void entries(std::vector<T>& values) {
    open(SectionKind::clients);
    resize(values, count_of_entries(values.size()));
    if constexpr (std::is_arithmetic_v<T>) {
      rows_of_clients(values.data(), sizeof(T), values.size());
    } else {
      each_entry(values.size(), [&](std::size_t k) { item(values[k]); });
    }
  }
  void entries(Columns& columns);
  template <class T>
  void entries(Secret<T>& secret) {
    secret.update([this](T& value) { entries(value); });
  }
  template <class T>
  void entries(Released<T>& released) {
    released.update([this](T& value) { entries(value); });
  }
  template <class T>
  void resize(std::vector<T>& values, std::size_t count) const {
    if constexpr (std::is_default_constructible_v<T>) {
      values.resize(count);
    } else {
      if (count != values.size()) refuse(of_another_length(count, values.size()));
    }
  }
  /// Entries of `size` bytes, one after the other; ends the section.
  void rows_of_clients(void* data, std::size_t size, std::size_t count);
  /// Reading: which of the entries are empty among others that are not. Empty if none are, and when writing.
  [[nodiscard]] std::vector<char> lost_entries(std::size_t count);
  template <class F>
  void each_entry(std::size_t count, F&& entry) {
    std::vector<std::uint64_t> sizes(count);
    const std::vector<char> lost = lost_entries(count);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t before = at_;
      if (lost.empty() || lost[k] == 0) entry(k);
      sizes[k] = at_ - before;
    }
    end_entries(sizes);
  }
  /// Number of entries in a section. That which is read must be `count`, unless that is 0: of what is made later.
  [[nodiscard]] std::size_t count_of_entries(std::size_t count);
  /// The sizes of the entries end their section. They let entries be told apart by whoever does not know their types.
  void end_entries(const std::vector<std::uint64_t>& sizes);

  void number(double& value) { number(SumKind::real, &value); }
  void number(std::int64_t& value) { number(SumKind::integer, &value); }
  void number(std::uint64_t& value) { number(SumKind::bits, &value); }
  void number(SumKind kind, void* value);

  void open(SectionKind kind);
  void close();

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
  std::size_t at_ = 0;     ///< position
  std::size_t size_ = 0;   ///< reading: size of the content
  std::size_t begin_ = 0;  ///< of the open section, behind its head
  std::size_t end_ = 0;    ///< reading: end of the open section
  std::optional<SectionKind> section_;
  bool reading_ = false;
  std::map<std::string, std::int64_t> lengths_;
};

}  // namespace starling
