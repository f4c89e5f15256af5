#include "protocol/constraints/energy_schedule.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/digest.hpp"
#include "core/random.hpp"

namespace starling {

EnergySchedule::EnergySchedule(const Schedule& inner, EnergyBudget budget, std::size_t message_bytes,
                               int steps_per_round, std::uint64_t seed)
    : inner_(inner),
      budget_(std::move(budget)),
      message_cost_(budget_.per_message + budget_.per_byte * static_cast<double>(message_bytes)),
      budget_of_step_(budget_.budget / steps_per_round),
      seed_(seed) {}

bool EnergySchedule::sends(Client u, const Account& account) const {
  if (account.dual > 0) return false;
  if (!account.resting) return true;
  AddressedRandom coin(seed_, Purpose::energy, static_cast<std::uint64_t>(u), static_cast<std::uint64_t>(account.step));
  return (coin() >> 63) != 0;
}

std::int64_t EnergySchedule::degree(Client u, Account& account) const {
  if (account.degree) return *account.degree;
  const Links row = inner_.links(u, account.step);
  // A message that gets lost was sent all the same.
  const auto count = static_cast<std::int64_t>(row.out.size() + row.lost.size());
  if (inner_.period() == 1) account.degree = count;
  return count;
}

const EnergySchedule::Account& EnergySchedule::account(Client u, Round t) const {
  Account& account = accounts_[u];
  if (account.step > t) account = Account{};
  for (; account.step < t; ++account.step) {
    const std::int64_t sent = sends(u, account) ? degree(u, account) : 0;
    account.messages += sent;
    account.dual = std::max(0.0, account.dual + static_cast<double>(sent) * message_cost_ - budget_of_step_);
    account.resting = account.dual > 0 || (account.resting && sent == 0);
  }
  return account;
}

double EnergySchedule::violation(Client u, Round t) const {
  return static_cast<double>(messages(u, t)) * message_cost_ - static_cast<double>(t) * budget_of_step_;
}

std::string EnergySchedule::digest() const {
  return sha256(fmt::format("starling energy 1\n{}\n{:.17g} {:.17g} {}\n", inner_.digest(), message_cost_,
                            budget_of_step_, seed_));
}

Links EnergySchedule::links(Client u, Round t) const {
  Links row = inner_.links(u, t);
  if (!sends(u, account(u, t))) {
    for (const Arc& arc : row.out) row.own += row.share * arc.weight;
    for (const Arc& arc : row.lost) row.own += row.share * arc.weight;
    row.out.clear();
    row.lost.clear();
  }
  std::erase_if(row.in, [&](const Arc& arc) { return !sends(arc.peer, account(arc.peer, t)); });
  return row;
}

}  // namespace starling
