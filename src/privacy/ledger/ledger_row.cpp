#include "ledger_row.hpp"

#include <initializer_list>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "starling/core/check.hpp"
#include "starling/core/digest.hpp"
#include "starling/core/whole_number.hpp"
#include "starling/privacy/statement/statement.hpp"

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

// Writing.

Json to_json(const Charge& charge) {
  Json json;
  for (const auto& [word, kind] : charge_kinds) {
    if (kind == charge.kind) json["kind"] = word;
  }
  switch (charge.kind) {
    case ChargeKind::pure:
    case ChargeKind::laplace:
      json["epsilon"] = charge.epsilon;
      break;
    case ChargeKind::gaussian:
      json["mu"] = charge.mu;
      break;
    case ChargeKind::approximate:
      json["epsilon"] = charge.epsilon;
      json["delta"] = charge.delta;
      break;
    case ChargeKind::unbounded:
      break;
  }
  return json;
}

Json to_json(const std::vector<PassCharge>& passes) {
  Json list = Json::array();
  for (const auto& [pass, charge] : passes) {
    Json item;
    item["pass"] = pass;
    item.update(to_json(charge));
    list.push_back(std::move(item));
  }
  return list;
}

Json to_json(const std::vector<ChargeGroup>& groups) {
  Json list = Json::array();
  for (const auto& [charge, count] : groups) {
    Json item = to_json(charge);
    item["count"] = count;
    list.push_back(std::move(item));
  }
  return list;
}

/// The clients of a row.
void add_clients(Json& json, const ClientRange& clients) {
  json["client"] = clients.first;
  if (clients.through != clients.first) json["through"] = clients.through;
}

/// A number for a single client, a pair of numbers for several.
Json to_json(const std::vector<ClientRange>& clients) {
  Json list = Json::array();
  for (const auto& [first, through] : clients) {
    if (first == through) {
      list.push_back(first);
    } else {
      list.push_back({first, through});
    }
  }
  return list;
}

Json members_of(const StartRow& row) {
  return {{"kind", "ledger"}, {"format", ledger_format}, {"time", row.time}};
}

Json members_of(const OpenRow& row) {
  const LedgerRun& run = row.run;
  return {{"kind", "open"},
          {"run", run.id},
          {"time", row.time},
          {"version", run.version},
          {"mechanism", run.mechanism},
          {"parameters", run.parameters},
          {"unit", name_of(run.unit)},
          {"batch", run.batch},
          {"batch_units", run.batch_units},
          {"determined_by", run.determined_by},
          {"clients", to_json(run.clients)}};
}

Json members_of(const ReserveRow& row) {
  const Reservation& block = row.reservation;
  Json json{{"kind", "reserve"}, {"run", row.run}};
  add_clients(json, block.clients);
  json.update({{"first", block.first},
               {"last", block.last},
               {"records", block.records},
               {"passes", to_json(block.passes)},
               {"charges", to_json(block.charges)},
               {"digest", block.digest}});
  return json;
}

Json members_of(const ResumeRow& row) {
  return {{"kind", "resume"}, {"run", row.run}, {"time", row.time}, {"determined_by", row.determined_by}};
}

Json members_of(const EndRow& row) {
  Json json{{"kind", "end"}, {"run", row.run}};
  add_clients(json, row.clients);
  json.update({{"time", row.time}, {"rounds", row.rounds}, {"reason", name_of(row.reason)}});
  return json;
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);  // a name that is not UTF-8 is no reason to fail
}

std::string hash_of(const std::string& previous, const std::string& row) {
  return sha256(previous + row);
}

// Reading: every function throws BadRow for text that breaks the format.

[[noreturn]] void refuse(const std::string& what) {
  throw BadRow(Kind::inconsistent, what);
}

/// The members of an object, which must stand in the order in which they are asked for.
class Members {
 public:
  explicit Members(const Json& object) : object_(object) {
    if (!object.is_object()) refuse("something stands where an object should (the format is another one)");
    next_ = object.begin();
  }
  [[nodiscard]] bool next_is(const char* name) const { return next_ != object_.end() && next_.key() == name; }
  const Json& next(const char* name) {
    if (next_ == object_.end() || next_.key() != name) refuse(fmt::format("'{}' is not where it should be", name));
    return *next_++;
  }
  std::string text(const char* name) {
    const Json& value = next(name);
    if (!value.is_string()) refuse(fmt::format("'{}' is not a text", name));
    return value.get<std::string>();
  }
  double real(const char* name) {
    const Json& value = next(name);
    if (!value.is_number()) refuse(fmt::format("'{}' is not a number", name));
    return value.get<double>();
  }
  template <class T = std::int64_t>
  T integer(const char* name) {
    return integer_of<T>(next(name), name);
  }
  template <class T>
  static T integer_of(const Json& value, const char* name) {
    const std::optional<T> whole = whole_number<T>(value);
    if (!whole) refuse(fmt::format("'{}' is not a whole number", name));
    return *whole;
  }
  template <class T>
  T one_of(const char* name, const Words<T>& words) {
    const std::string found = text(name);
    for (const auto& [word, value] : words) {
      if (found == word) return value;
    }
    refuse(fmt::format("'{}' is '{}', which this version does not know", name, found));
  }
  const Json& list(const char* name) {
    const Json& value = next(name);
    if (!value.is_array()) refuse(fmt::format("'{}' is not a list", name));
    return value;
  }
  void end() const {
    if (next_ != object_.end()) refuse(fmt::format("'{}' is not where it should be", next_.key()));
  }

 private:
  const Json& object_;
  Json::const_iterator next_;
};

Charge read_charge(Members& members) {
  Charge charge;
  charge.kind = members.one_of("kind", charge_kinds);
  switch (charge.kind) {
    case ChargeKind::pure:
    case ChargeKind::laplace:
      charge.epsilon = members.real("epsilon");
      break;
    case ChargeKind::gaussian:
      charge.mu = members.real("mu");
      break;
    case ChargeKind::approximate:
      charge.epsilon = members.real("epsilon");
      charge.delta = members.real("delta");
      break;
    case ChargeKind::unbounded:
      charge = Charge::unbounded();
      break;
  }
  return charge;
}

std::vector<PassCharge> read_passes(const Json& list) {
  std::vector<PassCharge> passes;
  for (const Json& item : list) {
    Members members(item);
    const auto pass = members.integer("pass");
    passes.push_back({pass, read_charge(members)});
    members.end();
  }
  return passes;
}

std::vector<ChargeGroup> read_charges(const Json& list) {
  std::vector<ChargeGroup> groups;
  for (const Json& item : list) {
    Members members(item);
    const Charge charge = read_charge(members);
    groups.push_back({charge, members.integer("count")});
    members.end();
  }
  return groups;
}

ClientRange range_of(Client first, Client through) {
  if (through <= first) {
    refuse(fmt::format("clients {} through {} (a range has several, and runs upwards)", first, through));
  }
  return {first, through};
}

ClientRange read_clients(Members& members) {
  const auto client = members.integer<Client>("client");
  if (!members.next_is("through")) return client;
  return range_of(client, members.integer<Client>("through"));
}

/// An item of the list of a run's clients.
ClientRange read_clients_of_run(const Json& item) {
  constexpr const char* name = "clients";
  if (!item.is_array()) return Members::integer_of<Client>(item, name);
  if (item.size() != 2) refuse("'clients' has a list that is no pair (of the first and last client of a range)");
  return range_of(Members::integer_of<Client>(item[0], name), Members::integer_of<Client>(item[1], name));
}

LedgerRow read_start(Members& members) {
  const auto format = members.integer<int>("format");
  if (format != ledger_format) {
    refuse(
        fmt::format("the ledger has format {}, and this version reads format {}. Use the version of starling that "
                    "wrote the ledger.",
                    format, ledger_format));
  }
  return StartRow{members.text("time")};
}

LedgerRow read_open(Members& members) {
  OpenRow row;
  row.run.id = members.text("run");
  row.time = members.text("time");
  row.run.version = members.text("version");
  row.run.mechanism = members.text("mechanism");
  row.run.parameters = members.text("parameters");
  row.run.unit = members.one_of<PrivacyUnit>("unit", {{name_of(PrivacyUnit::record), PrivacyUnit::record},
                                                      {name_of(PrivacyUnit::component), PrivacyUnit::component},
                                                      {name_of(PrivacyUnit::person), PrivacyUnit::person}});
  row.run.batch = members.integer("batch");
  row.run.batch_units = members.real("batch_units");
  row.run.determined_by = members.text("determined_by");
  for (const Json& client : members.list("clients")) row.run.clients.push_back(read_clients_of_run(client));
  return row;
}

LedgerRow read_reserve(Members& members) {
  ReserveRow row;
  row.run = members.text("run");
  Reservation& block = row.reservation;
  block.clients = read_clients(members);
  block.first = members.integer("first");
  block.last = members.integer("last");
  block.records = members.text("records");
  block.passes = read_passes(members.list("passes"));
  block.charges = read_charges(members.list("charges"));
  block.digest = members.text("digest");
  return row;
}

LedgerRow read_resume(Members& members) {
  ResumeRow row;
  row.run = members.text("run");
  row.time = members.text("time");
  row.determined_by = members.text("determined_by");
  return row;
}

LedgerRow read_end(Members& members) {
  EndRow row;
  row.run = members.text("run");
  row.clients = read_clients(members);
  row.time = members.text("time");
  row.rounds = members.integer("rounds");
  row.reason = members.one_of<LedgerEnd>("reason", {{name_of(LedgerEnd::finished), LedgerEnd::finished},
                                                    {name_of(LedgerEnd::stopped), LedgerEnd::stopped},
                                                    {name_of(LedgerEnd::budget), LedgerEnd::budget}});
  return row;
}

using Reader = LedgerRow (*)(Members&);
const Words<Reader> readers = {
    {"ledger", read_start}, {"open", read_open}, {"reserve", read_reserve}, {"resume", read_resume}, {"end", read_end}};

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
std::pair<std::int64_t, std::string> place_of(Members& members) {
  try {
    const auto row = members.integer("row");
    return {row, members.text("previous")};
  } catch (const BadRow& bad) {
    throw BadRow(Kind::edited, fmt::format("the line is not a row: {}. Restore it from a copy.", bad.what()));
  }
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
  json.update(std::visit([](const auto& kind) { return members_of(kind); }, row));
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
  Members members(json);
  const auto [row, previous] = place_of(members);
  if (hash_of(previous, text) != hash) {
    throw BadRow(Kind::edited, "the row is not what its hash says: it was changed. Restore it from a copy.");
  }
  check_place(row, previous, before);
  LedgerRow result = members.one_of("kind", readers)(members);
  members.end();
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
    Members members(json);
    LedgerHead head;
    head.rows = members.integer("rows");
    head.hash = members.text("hash");
    const bool counts = head.rows > 0 || (head.rows == 0 && head.hash == LedgerHead{}.hash);
    if (write_head(head) == text && counts) return head;
  } catch (const BadRow&) {  // of another form
  }
  return std::nullopt;
}

}  // namespace starling
