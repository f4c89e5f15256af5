#include "privacy/mechanism.hpp"

#include <algorithm>
#include <utility>

#include "core/check.hpp"
#include "core/sized.hpp"
#include "core/text/names.hpp"
#include "rows.hpp"

namespace starling {

void Release::publish_unprotected(const Secret<Vector>& sum, double divisor, Released<Vector>& mean) {
  const Vector& values = open(sum);
  mean.update([&](Vector& result) {
    result.resize(values.size());
    sized(values.size(), [divisor, from = values.data(), to = result.data()](auto n) {
      for (std::size_t i = 0; i < n; ++i) to[i] = from[i] / divisor;
    });
  });
}

void Protection::check_sum(const ReleaseAddress& address, View sum) const {
  check<DataError>(sum.size() == settings_.dimension,
                   "the gradient sum of client {} has {} components: the mechanism was made for {}.", address.client,
                   sum.size(), settings_.dimension);
  const std::int64_t wild = sized(sum.size(), [from = sum.data()](auto n) {
    std::int64_t any = 0;
    for (std::size_t i = 0; i < n; ++i) any |= std::isfinite(from[i]) ? 0 : 1;
    return any;
  });
  check<DataError>(wild == 0,
                   "the gradient sum of client {} in round {} is not finite: noise cannot hide that. Check the "
                   "records for missing or huge values.",
                   address.client, address.round);
}

std::string Protection::neighbours() const {
  if (unit() == PrivacyUnit::person && settings_.persons_in_slots) {
    return "the records in the slots of one person are replaced by any others of this person, or by rows that cannot "
           "be read, all other slots of the stream staying as they are";
  }
  if (unit() == PrivacyUnit::person) {
    return "all records of one person, however many, are replaced by any others in that person's place, all other "
           "persons staying where they are";
  }
  if (unit() == PrivacyUnit::record) {
    return "one record is replaced by any other in its place, all others staying where they are";
  }
  return "one component of one record's gradient is replaced by any other value, all else staying as it is";
}

std::string size_range(double least, double most) {
  const std::string text = fmt::format("{:.6g}", least);
  const std::string other = fmt::format("{:.6g}", most);
  return text == other ? text : "between " + text + " and " + other;
}

void Protection::check_price(double price) const {
  check<FailureError>(price >= settings_.price.least && price <= settings_.price.most,
                      "a release at a price of {}: the mechanism was made for {} to {}.", price, settings_.price.least,
                      settings_.price.most);
}

PriceKind price_kind_of(ChargeKind charge) {
  if (charge == ChargeKind::unbounded) return PriceKind::none;
  return charge == ChargeKind::gaussian ? PriceKind::mu : PriceKind::epsilon;
}

MechanismTable::MechanismTable(std::vector<MechanismRow> rows)
    : Table("mechanism", {rows.begin(), rows.end()}), rows_(std::move(rows)) {}

const MechanismRow& MechanismTable::row(std::string_view text) const {
  const std::string name = Spec::parse(text).name();
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const auto& row) { return row.name == name; });
  check(found != rows_.end(), "{}", unknown_name("mechanism", name, names_in(rows_)));
  return *found;
}

const MechanismRow& MechanismTable::first(ChargeKind charge) const {
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const auto& row) { return row.charge == charge; });
  check<FailureError>(found != rows_.end(), "no mechanism has charges of kind {}", static_cast<int>(charge));
  return *found;
}

std::string MechanismTable::names_where(bool (MechanismRow::*capability)() const) const {
  std::vector<std::string> names;
  for (const MechanismRow& row : rows_) {
    if ((row.*capability)()) names.push_back(row.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

MechanismTable MechanismTable::with(MechanismRow row) const {
  std::vector<MechanismRow> more = rows_;
  more.push_back(std::move(row));
  return MechanismTable(std::move(more));
}

const MechanismTable& mechanism_table() {
  static const MechanismTable table(mechanism_rows());
  return table;
}

}  // namespace starling
