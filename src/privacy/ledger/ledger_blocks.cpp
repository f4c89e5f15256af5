#include <algorithm>
#include <functional>
#include <utility>

#include "ledger_book.hpp"

namespace starling {

namespace {

/// A hash of the members that are likely to differ between blocks.
std::size_t digest_of(const Reservation& block, std::size_t before) {
  std::size_t digest = before;
  const auto add = [&digest](auto value) {
    constexpr std::size_t odd = 0x9e3779b97f4a7c15U;  // the golden ratio's digits
    digest = (digest ^ std::hash<decltype(value)>()(value)) * odd;
    digest ^= digest >> 32U;
  };
  add(block.first);
  add(block.last);
  for (const PassCharge& largest : block.passes) {
    add(largest.pass);
    add(largest.charge.epsilon);
    add(largest.charge.mu);
  }
  for (const ChargeGroup& group : block.charges) {
    add(group.charge.epsilon);
    add(group.charge.mu);
    add(group.count);
  }
  return digest;
}

}  // namespace

bool Reservation::says_the_same(const Reservation& other) const {
  return first == other.first && last == other.last && charges == other.charges && passes == other.passes &&
         records == other.records && digest == other.digest;
}

LedgerBlocks::Link::Link(std::shared_ptr<const Reservation> what, std::shared_ptr<const Link> earlier)
    : block(std::move(what)), before(std::move(earlier)), digest(digest_of(*block, before ? before->digest : 0)) {}

LedgerBlocks::Link::~Link() {
  while (before != nullptr && before.use_count() == 1) {
    std::shared_ptr<const Link> earlier = std::move(before->before);
    before = std::move(earlier);
  }
}

std::vector<const Reservation*> LedgerBlocks::in_order() const {
  std::vector<const Reservation*> blocks;
  for (const Link* link = last_.get(); link != nullptr; link = link->before.get()) blocks.push_back(link->block.get());
  std::reverse(blocks.begin(), blocks.end());
  return blocks;
}

void LedgerBlocks::push(std::shared_ptr<const Reservation> block) {
  last_ = std::make_shared<const Link>(std::move(block), std::move(last_));
}

bool LedgerBlocks::operator==(const LedgerBlocks& other) const {
  const Link* a = last_.get();
  const Link* b = other.last_.get();
  for (; a != b; a = a->before.get(), b = b->before.get()) {
    if (a == nullptr || b == nullptr || a->digest != b->digest) return false;
    if (a->block != b->block && !a->block->says_the_same(*b->block)) return false;
  }
  return true;
}

}  // namespace starling
