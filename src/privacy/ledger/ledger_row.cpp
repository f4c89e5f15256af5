#include "ledger_row.hpp"

#include <algorithm>
#include <concepts>
#include <initializer_list>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "core/text/exact_number.hpp"
#include "privacy/statement/statement.hpp"

namespace starling {

namespace {

using Json = nlohmann::ordered_json;
using Kind = LedgerDamage::Kind;

constexpr std::size_t hash_digits = 64;

/// Words of the format and their meanings.
template <class T>
using Words = std::initializer_list<std::pair<const char*, T>>;
const Words<ChargeKind> charge_kinds = {{"pure", ChargeKind::pure},
                                        {"laplace", ChargeKind::laplace},
                                        {"gaussian", ChargeKind::gaussian},
                                        {"approximate", ChargeKind::approximate},
                                        {"unbounded", ChargeKind::unbounded}};
const Words<PrivacyUnit> units = {{name_of(PrivacyUnit::record), PrivacyUnit::record},
                                  {name_of(PrivacyUnit::component), PrivacyUnit::component},
                                  {name_of(PrivacyUnit::person), PrivacyUnit::person}};
const Words<LedgerEnd> reasons = {{name_of(LedgerEnd::finished), LedgerEnd::finished},
                                  {name_of(LedgerEnd::stopped), LedgerEnd::stopped},
                                  {name_of(LedgerEnd::budget), LedgerEnd::budget}};

[[noreturn]] void refuse(const std::string& what) {
  throw BadRow(Kind::inconsistent, what);
}

/// Writes the members of an object in the order in which they are named.
class Writer {
 public:
  explicit Writer(Json& object) : object_(object) {}
  template <class T>
  void member(const char* name, const T& value) {
    object_[name] = value;
  }
  template <class T>
  void word(const char* name, const T& value, const Words<T>& words) {
    for (const auto& [word, meaning] : words) {
      if (meaning == value) object_[name] = word;
    }
  }
  template <class T>
  void list(const char* name, std::vector<T>& items) {
    Json& list = object_[name] = Json::array();
    for (T& item : items) {
      Writer writer(list.emplace_back());
      members(writer, item);
    }
  }
  /// An object that may be absent.
  template <class T>
  void part(const char* name, T& value, bool is_there) {
    if (!is_there) return;
    Writer writer(object_[name]);
    members(writer, value);
  }
  void correlation(const char* name, const std::optional<NoiseCorrelation>& correlation) {
    object_[name] = correlation ? correlation->text() : "";
  }
  /// The clients of a row.
  void clients(const ClientRange& clients) {
    object_["client"] = clients.first;
    if (clients.through != clients.first) object_["through"] = clients.through;
  }
  /// A number for a single client, a pair of numbers for several.
  void ranges(const char* name, const std::vector<ClientRange>& ranges) {
    Json& list = object_[name] = Json::array();
    for (const auto& [first, through] : ranges) {
      if (first == through) {
        list.push_back(first);
      } else {
        list.push_back({first, through});
      }
    }
  }

 private:
  Json& object_;
};

/// Reads the members of an object, which must stand in the order in which they are named. Throws BadRow for what breaks
/// the format.
class Reader {
 public:
  explicit Reader(const Json& object) : object_(object) {
    if (!object.is_object()) refuse("something stands where an object should: the format is another one.");
    next_ = object.begin();
  }
  void member(const char* name, std::string& value) {
    const Json& json = next(name);
    if (!json.is_string()) refuse(fmt::format("'{}' is not a text", name));
    value = json.get<std::string>();
  }
  void member(const char* name, double& value) {
    const Json& json = next(name);
    if (!json.is_number()) refuse(fmt::format("'{}' is not a number", name));
    value = json.get<double>();
  }
  template <std::integral T>
  void member(const char* name, T& value) {
    value = integer<T>(next(name), name);
  }
  template <class T>
  void word(const char* name, T& value, const Words<T>& words) {
    std::string found;
    member(name, found);
    const auto known = std::ranges::find_if(words, [&](const auto& entry) { return found == entry.first; });
    if (known == words.end()) refuse(fmt::format("'{}' is '{}', which this version does not know", name, found));
    value = known->second;
  }
  template <class T>
  void list(const char* name, std::vector<T>& items) {
    for (const Json& json : array(name)) {
      Reader reader(json);
      members(reader, items.emplace_back());
      reader.end();
    }
  }
  template <class T>
  void part(const char* name, T& value, bool /*is_there*/) {
    if (next_ == object_.end() || next_.key() != name) return;
    Reader reader(next(name));
    members(reader, value);
    reader.end();
  }
  void correlation(const char* name, std::optional<NoiseCorrelation>& correlation) {
    std::string text;
    member(name, text);
    if (text.empty()) return;
    try {
      correlation = NoiseCorrelation::parse(text);
    } catch (const UsageError& error) {
      refuse(error.what());
    }
  }
  void clients(ClientRange& clients) {
    Client first = 0;
    member("client", first);
    clients = first;
    if (next_ == object_.end() || next_.key() != "through") return;
    clients = range_of(first, integer<Client>(next("through"), "through"));
  }
  void ranges(const char* name, std::vector<ClientRange>& ranges) {
    for (const Json& item : array(name)) {
      if (!item.is_array()) {
        ranges.emplace_back(integer<Client>(item, name));
        continue;
      }
      if (item.size() != 2) refuse("'clients' has a list that is no pair: of the first and last client of a range.");
      ranges.push_back(range_of(integer<Client>(item[0], name), integer<Client>(item[1], name)));
    }
  }
  void end() const {
    if (next_ != object_.end()) refuse(fmt::format("'{}' is not where it should be", next_.key()));
  }

 private:
  const Json& next(const char* name) {
    if (next_ == object_.end() || next_.key() != name) refuse(fmt::format("'{}' is not where it should be", name));
    return *next_++;
  }
  const Json& array(const char* name) {
    const Json& value = next(name);
    if (!value.is_array()) refuse(fmt::format("'{}' is not a list", name));
    return value;
  }
  template <class T>
  static T integer(const Json& value, const char* name) {
    const std::optional<T> whole = whole_number<T>(value);
    if (!whole) refuse(fmt::format("'{}' is not a whole number", name));
    return *whole;
  }
  static ClientRange range_of(Client first, Client through) {
    if (through <= first) {
      refuse(fmt::format("clients {} through {}: a range has several, and runs upwards.", first, through));
    }
    return {first, through};
  }

  const Json& object_;
  Json::const_iterator next_;
};

// The members of everything, in their order. `Form` is Writer or Reader.

template <class Form>
void members(Form& form, Charge& charge) {
  form.word("kind", charge.kind, charge_kinds);
  switch (charge.kind) {
    case ChargeKind::pure:
    case ChargeKind::laplace:
      form.member("epsilon", charge.epsilon);
      break;
    case ChargeKind::gaussian:
      form.member("mu", charge.mu);
      break;
    case ChargeKind::approximate:
      form.member("epsilon", charge.epsilon);
      form.member("delta", charge.delta);
      break;
    case ChargeKind::unbounded:
      charge = Charge::unbounded();
      break;
  }
}

template <class Form>
void members(Form& form, PassCharge& pass) {
  form.member("pass", pass.pass);
  members(form, pass.charge);
}

template <class Form>
void members(Form& form, ChargeGroup& group) {
  members(form, group.charge);
  form.member("count", group.count);
}

template <class Form>
void members(Form& form, Accumulation& accumulation) {
  form.correlation("correlation", accumulation.correlation);
  form.member("independent", accumulation.independent);
  form.member("once", accumulation.once);
  form.member("first_rounds", accumulation.first_rounds);
}

template <class Form>
void members(Form& form, StartRow& row) {
  int format = ledger_format;
  form.member("format", format);
  if (format != ledger_format) {
    refuse(
        fmt::format("the ledger has format {}, and this version reads format {}. Use the version of starling that "
                    "wrote the ledger.",
                    format, ledger_format));
  }
  form.member("time", row.time);
}

template <class Form>
void members(Form& form, OpenRow& row) {
  LedgerRun& run = row.run;
  form.member("run", run.id);
  form.member("time", row.time);
  form.member("version", run.version);
  form.member("mechanism", run.mechanism);
  form.member("parameters", run.parameters);
  form.word("unit", run.unit, units);
  form.member("batch", run.batch);
  form.member("batch_units", run.batch_units);
  form.part("accumulation", run.accumulation, run.accumulation.any());
  form.member("determined_by", run.determined_by);
  form.ranges("clients", run.clients);
}

template <class Form>
void members(Form& form, ReserveRow& row) {
  Reservation& block = row.reservation;
  form.member("run", row.run);
  form.clients(block.clients);
  form.member("first", block.first);
  form.member("last", block.last);
  form.member("records", block.records);
  form.list("passes", block.passes);
  form.list("charges", block.charges);
  form.member("digest", block.digest);
}

template <class Form>
void members(Form& form, ResumeRow& row) {
  form.member("run", row.run);
  form.member("time", row.time);
  form.member("determined_by", row.determined_by);
}

template <class Form>
void members(Form& form, EndRow& row) {
  form.member("run", row.run);
  form.clients(row.clients);
  form.member("time", row.time);
  form.member("rounds", row.rounds);
  form.word("reason", row.reason, reasons);
}

/// The kinds of rows, each with a row that has no content yet.
const Words<LedgerRow> row_kinds = {
    {"ledger", StartRow{}}, {"open", OpenRow{}}, {"reserve", ReserveRow{}}, {"resume", ResumeRow{}}, {"end", EndRow{}}};

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);  // a name that is not UTF-8 is no reason to fail
}

std::string hash_of(const std::string& previous, const std::string& row) {
  return sha256(previous + row);
}

/// JSON in which no object names a member twice; discarded if the text is none.
Json parse(const std::string& text) {
  std::vector<std::set<std::string>> names;
  bool twice = false;
  const auto watch = [&](int /*depth*/, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (event == Json::parse_event_t::key) twice |= !names.back().insert(parsed.get<std::string>()).second;
    return true;
  };
  Json json = Json::parse(text, watch, false);
  return twice ? Json(Json::value_t::discarded) : json;
}

/// The line without its hash, and the hash.
std::pair<std::string, std::string> split(std::string_view line) {
  constexpr std::string_view before = ",\"hash\":\"";
  constexpr std::string_view after = "\"}";
  const std::size_t tail = before.size() + hash_digits + after.size();
  if (line.size() <= tail || !line.ends_with(after) || line.substr(line.size() - tail, before.size()) != before) {
    throw BadRow(Kind::edited, "the line is not a row: a row ends with its hash. Restore it from a copy.");
  }
  const std::string_view hash = line.substr(line.size() - tail + before.size(), hash_digits);
  return {std::string(line.substr(0, line.size() - tail)) + "}", std::string(hash)};
}

/// The place of a row by its own account: its number and the previous hash.
std::pair<std::int64_t, std::string> place_of(Reader& reader) {
  std::pair<std::int64_t, std::string> place;
  try {
    reader.member("row", place.first);
    reader.member("previous", place.second);
  } catch (const BadRow& bad) {
    throw BadRow(Kind::edited, fmt::format("the line is not a row: {}. Restore it from a copy.", bad.what()));
  }
  return place;
}

/// Checks the place of a row whose own hash is right.
void check_place(std::int64_t row, const std::string& previous, const LedgerHead& before) {
  const std::int64_t due = before.rows + 1;
  if (row != due) {
    throw BadRow(Kind::reordered, fmt::format("row {} stands where row {} should: rows were swapped, removed or "
                                              "repeated. Restore the ledger from a copy.",
                                              row, due));
  }
  if (previous != before.hash) {
    throw BadRow(Kind::reordered, fmt::format("row {} followed another row: not the one before it; that was put in or "
                                              "rewritten. Restore the ledger from a copy.",
                                              row));
  }
}

}  // namespace

std::string write_row(const LedgerRow& row, LedgerHead& before) {
  Json json{{"row", before.rows + 1}, {"previous", before.hash}};
  json["kind"] = std::ranges::find(row_kinds, row.index(), [](const auto& kind) { return kind.second.index(); })->first;
  Writer writer(json);
  std::visit([&](auto kind) { members(writer, kind); }, row);
  std::string text = text_of(json);
  std::string hash = hash_of(before.hash, text);
  text.pop_back();
  text += fmt::format(",\"hash\":\"{}\"}}\n", hash);
  before = {before.rows + 1, std::move(hash)};
  return text;
}

LedgerRow read_row(std::string_view line, LedgerHead& before) {
  const auto [text, hash] = split(line);
  const Json json = parse(text);
  if (!json.is_object()) {
    throw BadRow(Kind::edited, "the line is not a row: it is no JSON object. Restore it from a copy.");
  }
  Reader reader(json);
  const auto [row, previous] = place_of(reader);
  if (hash_of(previous, text) != hash) {
    throw BadRow(Kind::edited, "the row is not what its hash says: it was changed. Restore it from a copy.");
  }
  check_place(row, previous, before);
  LedgerRow result;
  reader.word("kind", result, row_kinds);
  std::visit([&](auto& kind) { members(reader, kind); }, result);
  reader.end();
  before = {row, hash};
  return result;
}

std::string write_head(const LedgerHead& head) {
  return fmt::format("{{\"rows\":{},\"hash\":\"{}\"}}\n", head.rows, head.hash);
}

std::optional<LedgerHead> read_head(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  try {
    Reader reader(json);
    LedgerHead head;
    reader.member("rows", head.rows);
    reader.member("hash", head.hash);
    const bool counts = head.rows > 0 || (head.rows == 0 && head.hash == LedgerHead{}.hash);
    if (write_head(head) == text && counts) return head;
  } catch (const BadRow&) {  // of another form
  }
  return std::nullopt;
}

}  // namespace starling
