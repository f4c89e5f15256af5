// Ids matched as blinded points: each party finds its own ids that all have, and nobody sees more than points.
#include "privacy/matching/blinded_ids.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "core/check.hpp"
#include "support/testing.hpp"

namespace starling::blinded_ids_test {

using Ids = std::vector<std::string>;
using Words = std::vector<std::uint64_t>;

Words words_of(const Masked& points) {
  return points.words();
}

/// The lists of all parties, blinded by all of them in turn.
std::vector<Words> blinded_by_all(const std::vector<IdBlinder>& parties) {
  std::vector<Words> lists;
  for (std::size_t k = 0; k < parties.size(); ++k) {
    Words list = words_of(parties[k].own(0, parties[k].size()));
    for (std::size_t step = 1; step < parties.size(); ++step) {
      list = words_of(parties[(k + step) % parties.size()].blinded(list));
    }
    lists.push_back(std::move(list));
  }
  return lists;
}

std::vector<IdBlinder> blinders(const std::vector<Ids>& sets) {
  std::vector<IdBlinder> parties;
  for (const Ids& ids : sets) parties.emplace_back(ids);
  return parties;
}

/// The ids that each party finds.
std::vector<std::set<std::string>> found(const std::vector<Ids>& sets) {
  const std::vector<IdBlinder> parties = blinders(sets);
  const std::vector<Masked> marks = BlindedIds::marks_of_common(blinded_by_all(parties));
  std::vector<std::set<std::string>> result;
  for (std::size_t k = 0; k < parties.size(); ++k) {
    std::set<std::string>& own = result.emplace_back();
    for (const std::size_t row : parties[k].rows(marks[k].words())) own.insert(sets[k][row]);
  }
  return result;
}

TEST(BlindedIds, AreThoseThatAllPartiesHave) {
  std::mt19937 draw(1);
  for (const std::size_t count : {1, 2, 3, 5, 8}) {
    std::vector<Ids> sets(count);
    std::map<std::string, std::size_t> holders;
    for (Ids& ids : sets) {
      for (int i = 0; i < 90; ++i) {
        if (draw() % 10 < 8) ids.push_back(fmt::format("id {}", i));
      }
      std::shuffle(ids.begin(), ids.end(), draw);
      ids.resize(ids.size() - draw() % 9);  // lists of other lengths
      for (const std::string& id : ids) ++holders[id];
    }
    std::set<std::string> common;
    for (const auto& [id, number] : holders) {
      if (number == count) common.insert(id);
    }
    ASSERT_FALSE(common.empty());
    for (const auto& own : found(sets)) EXPECT_EQ(own, common) << count;
  }
}

TEST(BlindedIds, AreComparedAsText) {
  EXPECT_EQ(found({{"007", "7", "a"}, {"7", "A", "7.0"}})[0], std::set<std::string>{"7"});
  EXPECT_TRUE(found({{"007", "a"}, {"7", "A", " a", "a "}})[0].empty());
  EXPECT_EQ(found({{"", "a"}, {"", "b"}})[1], std::set<std::string>{""});
}

TEST(BlindedIds, OfEmptyListsAreNone) {
  for (const auto& own : found({{"a"}, {}})) EXPECT_TRUE(own.empty());
  for (const auto& own : found({{"a"}, {"b"}})) EXPECT_TRUE(own.empty());
}

TEST(BlindedIds, HaveOtherPointsAndPlacesInEachMatching) {
  Ids ids;
  for (int i = 0; i < 200; ++i) ids.push_back(fmt::format("{}", i));
  std::set<Words> points;
  const IdBlinder first(ids);
  const IdBlinder second(ids);
  for (const IdBlinder* each : {&first, &second}) {
    const Words own = words_of(each->own(0, ids.size()));
    for (std::size_t i = 0; i < ids.size(); ++i) {
      points.insert(Words(own.begin() + static_cast<std::ptrdiff_t>(4 * i),
                          own.begin() + static_cast<std::ptrdiff_t>(4 * i + 4)));
    }
  }
  EXPECT_EQ(points.size(), 2 * ids.size());
  const auto order_of = [&](const IdBlinder& each) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      Words marks((ids.size() + 63) / 64);
      marks[i / 64] = std::uint64_t{1} << (i % 64);
      order.push_back(each.rows(marks).at(0));
    }
    return order;
  };
  EXPECT_NE(order_of(first), order_of(second));
}

TEST(BlindedIds, InPiecesAreThoseOfTheWhole) {
  const IdBlinder party({"a", "b", "c", "d", "e"});
  Words pieces = words_of(party.own(0, 2));
  const Words rest = words_of(party.own(2, 3));
  pieces.insert(pieces.end(), rest.begin(), rest.end());
  EXPECT_EQ(pieces, words_of(party.own(0, 5)));
}

TEST(BlindedIds, WhatIsNoPointIsRefused) {
  const IdBlinder party({"a", "b"});
  EXPECT_THROW(static_cast<void>(party.blinded(Words{1, 2, 3, ~std::uint64_t{0}})), FailureError);
  EXPECT_THROW(static_cast<void>(party.blinded(Words(4, 0))), FailureError)
      << "the neutral element tells nothing apart";
  Words changed = words_of(party.own(0, 1));
  changed[0] |= 1;  // points have even encodings
  EXPECT_THROW(static_cast<void>(party.blinded(changed)), FailureError);
  EXPECT_THROW(static_cast<void>(party.rows(Words(2, 0))), FailureError);
}

TEST(BlindedIds, ThatStandTwiceInAListCountOnce) {
  const std::vector<IdBlinder> parties = blinders({{"a", "b"}, {"c", "d"}, {"a", "e"}});
  std::vector<Words> lists = blinded_by_all(parties);
  lists[2].insert(lists[2].end(), lists[2].begin(), lists[2].end());
  for (const Masked& marks : BlindedIds::marks_of_common(lists)) EXPECT_EQ(marks.words(), Words{0});
}

NoiseKey key_of(unsigned char byte) {
  NoiseKey::Bytes bytes{};
  bytes.fill(byte);
  return NoiseKey(bytes);
}

Ids in_order(const Ids& ids, const std::vector<std::size_t>& rows, unsigned char key, std::uint64_t seed = 1) {
  Ids result;
  const MatchedOrder order(rows, ids, key_of(key), seed);
  for (const std::size_t row : order.rows()) result.push_back(ids[row]);
  return result;
}

TEST(MatchedOrder, FollowsFromIdsKeyAndSeedAlone) {
  const Ids one = {"x", "a", "b", "c", "d", "e", "f", "g", "h"};
  const Ids other = {"h", "g", "f", "e", "d", "c", "b", "a"};
  const std::vector<std::size_t> rows = {1, 2, 3, 4, 5, 6, 7, 8};
  const Ids order = in_order(one, rows, 1);
  EXPECT_EQ(order, in_order(other, {7, 6, 5, 4, 3, 2, 1, 0}, 1));
  EXPECT_NE(order, in_order(one, rows, 2));
  EXPECT_NE(order, in_order(one, rows, 1, 2));
  EXPECT_EQ(MatchedOrder(rows, one, key_of(1), 1).digest(),
            MatchedOrder({0, 1, 2, 3, 4, 5, 6, 7}, other, key_of(1), 1).digest());
  EXPECT_NE(MatchedOrder(rows, one, key_of(1), 1).digest(),
            MatchedOrder({1, 2, 3, 4, 5, 6, 7}, one, key_of(1), 1).digest());
}

TEST(HiddenKey, IsItsOwnInverse) {
  const Words hidden = words_of(HiddenKey::under(key_of(3), key_of(5)));
  EXPECT_EQ(hidden, Words(4, 0x0606060606060606));
}

}  // namespace starling::blinded_ids_test
