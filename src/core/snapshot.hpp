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
/// State belongs to clients: a snapshot has a row for each client of a rank, beside what is the rank's. So a run can go
/// on with other clients on each rank, by the rows of these clients (rows_of). The calls say whose a value is:
///
/// | call | value |
/// | --- | --- |
/// | `snapshot(…)` | the rank's; that of any rank will do for another |
/// | `of_clients`, `each_client` | one entry for each client of the rank, in order |
/// | `by_client` | entries that name their client, ascending: any number for each client |
/// | `sums` | numbers of a rank whose sum over all ranks counts; bits of which any rank's count |
/// | `of_first_rank` | says something on rank 0 alone |
/// | `of_group` | true of exactly these clients together; lost where they are not together any more |
///
/// A client that is lost, or joins, has no row. Reading leaves the client's state as it is.
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

#include "core/boundary.hpp"
#include "core/links.hpp"

namespace starling {

class Snapshot;

/// The clients first, first + 1, …, first + count − 1 of a rank.
struct ClientGroup {
  Client first = 0;
  Client count = 0;
  [[nodiscard]] Client end() const { return first + count; }
  [[nodiscard]] bool has(Client u) const { return first <= u && u < end(); }
  [[nodiscard]] bool meets(const ClientGroup& other) const { return first < other.end() && other.first < end(); }
  friend bool operator==(const ClientGroup&, const ClientGroup&) = default;
};

template <class T>
concept Persistent = requires(T& object, Snapshot& snapshot) {
  object.persist(snapshot);
};

class Snapshot {
 public:
  /// Snapshot for writing the state of the clients of a group, which are numbered from 0 on by default.
  explicit Snapshot(const ClientGroup& group = {}) : group_(group) {}
  /// Snapshot for reading. Throws DataError for what is no content, on a read beyond the end, and on an impossible
  /// length.
  explicit Snapshot(const Secret<std::string>& content);

  [[nodiscard]] bool reading() const { return reading_; }
  [[nodiscard]] const ClientGroup& group() const { return group_; }
  [[nodiscard]] Secret<std::string> content() const;
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
    begin_field();
    for (std::size_t k = 0; k < count; ++k) {
      if (!open_row(group_.first + static_cast<Client>(k))) continue;
      entry(k);
      row_ = nullptr;
    }
  }

  /// A container of entries that belong to client_of(entry), ascending.
  template <class T, class F>
  void by_client(std::vector<T>& values, F&& client_of) {
    begin_field();
    if (!reading_) {
      for (T& value : values) {
        static_cast<void>(open_row(client_of(value)));
        item(value);
        row_ = nullptr;
      }
      return;
    }
    values.clear();
    for (std::size_t at = 0; at < rows_.size(); ++at) {
      while (open_next_entry(at)) {
        item(values.emplace_back());
        row_ = nullptr;
      }
    }
  }

  /// Numbers of this rank; the sum of those of all ranks is what counts.
  template <class... T>
  void sums(T&... values) {
    (number(values), ...);
  }

  /// Values of rank 0 alone, which say something on no other rank.
  template <class... T>
  void of_first_rank(bool is_first, T&... values) {
    const std::size_t end = open_block(is_first);
    if (is_first) (item(values), ...);
    close_block(end);
  }

  /// Whether there are values: reading leaves them as they are if the clients of the rank are others now.
  template <class... T>
  bool of_group(T&... values) {
    ClientGroup of = group_;
    (*this)(of.first, of.count);
    const bool same = of == group_;
    const std::size_t end = open_block(same);
    if (same) (item(values), ...);
    close_block(end);
    return same;
  }

 private:
  friend Secret<std::string> rows_of(const std::vector<Secret<std::string>>& contents, const ClientGroup& group,
                                     const std::vector<Client>& without);

  /// Bytes that are written at the end, or read from the start on.
  struct Stream {
    Secret<std::string> text;
    std::size_t size = 0;
    std::size_t at = 0;  ///< reading: position
    [[nodiscard]] std::size_t left() const { return size - at; }
  };
  struct Row {
    Client client = 0;
    Stream bytes;
  };

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
    resize(values, count_of_entries(values.size()));
    each_client(values.size(), [&](std::size_t k) { item(values[k]); });
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
      if (count != values.size()) refuse_length(count, values.size());
    }
  }
  /// Number of entries for the clients: `here`, or, reading, that of all clients for what is made later.
  [[nodiscard]] std::size_t count_of_entries(std::size_t here);
  /// Begins the next field of rows. Each entry in a row begins with the number of its field.
  void begin_field();
  /// Goes to the entry of a client in this field. False, reading, if the client has no row.
  [[nodiscard]] bool open_row(Client client);
  /// Reading: goes to the next entry of this field in row number `at`. False if there is none.
  [[nodiscard]] bool open_next_entry(std::size_t at);
  [[nodiscard]] std::size_t find_row(Client client) const;

  void number(double& value) { number('r', &value); }
  void number(std::int64_t& value) { number('i', &value); }
  void number(std::uint64_t& value) { number('b', &value); }
  /// `kind` is that of the number: real, integer or bits.
  void number(char kind, void* value);

  /// Begins a block that a reader may pass over, as it does unless it `takes` the block. close_block() gets the result.
  [[nodiscard]] std::size_t open_block(bool takes);
  void close_block(std::size_t mark);

  template <class Map>
  void pairs_of(Map& map) {
    std::vector<std::pair<typename Map::key_type, typename Map::mapped_type>> pairs;
    if (!reading_) pairs.assign(map.begin(), map.end());
    item(pairs);
    if (reading_) map = Map(pairs.begin(), pairs.end());
  }

  /// Length of a container. A length that is read must fit into the rest of the content, at `least` bytes per element.
  [[nodiscard]] std::size_t length(std::size_t size, std::size_t least);
  [[nodiscard]] Stream& stream() { return row_ != nullptr ? *row_ : of_rank_; }
  void bytes(void* data, std::size_t size) { bytes(stream(), data, size); }
  void bytes(Stream& stream, void* data, std::size_t size);
  [[noreturn]] void refuse(const std::string& what) const;
  [[noreturn]] void refuse_length(std::size_t found, std::size_t expected) const;

  ClientGroup group_;
  Stream of_rank_;
  Stream sums_;
  std::vector<Row> rows_;  ///< ascending
  Stream* row_ = nullptr;  ///< that is being written or read; null for what is the rank's
  unsigned char field_ = 0;
  bool reading_ = false;
  std::map<std::string, std::int64_t> lengths_;
};

/// The content for `group` that the contents of other groups, after one round, have: the rows of its clients, the sums
/// of contents whose first client it has, and the rest from the first content. Clients `without` a row (ascending) are
/// lost, or join. Throws DataError for what is no content, and if another client is in no content.
[[nodiscard]] Secret<std::string> rows_of(const std::vector<Secret<std::string>>& contents, const ClientGroup& group,
                                          const std::vector<Client>& without = {});

}  // namespace starling
