#include "net/agreement.hpp"

#include "core/random.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::agreement_test {

using namespace testing_support;

TEST(AgreementDoor, TextsTravelWhole) {
  Agreement agreement(world());
  EXPECT_EQ(agreement.broadcast(declare_public(std::string(world().rank() == 0 ? "from the first" : "x"))),
            "from the first");
  EXPECT_EQ(agreement.broadcast(declare_public(std::string())), "");
  const auto all = agreement.all_gather(declare_public(std::string(static_cast<std::size_t>(world().rank()), 'a')));
  ASSERT_EQ(all.size(), static_cast<std::size_t>(world().size()));
  for (std::size_t r = 0; r < all.size(); ++r) EXPECT_EQ(all[r], std::string(r, 'a'));
}

TEST(AgreementDoor, ReducesTypedValues) {
  Agreement agreement(world());
  const std::int64_t own = world().rank();
  const std::int64_t ranks = world().size();
  EXPECT_EQ(agreement.min(declare_public(own - 3)), -3);
  EXPECT_EQ(agreement.max(declare_public(own - 3)), ranks - 4);
  EXPECT_EQ(agreement.sum(declare_public(own + 1)), ranks * (ranks + 1) / 2);
  // Beyond 2^53, which numbers of type double would round.
  const std::int64_t large = (std::int64_t{1} << 60) + own;
  EXPECT_EQ(agreement.max(declare_public(large)), (std::int64_t{1} << 60) + ranks - 1);
}

TEST(AgreementDoor, ReducesTruthValues) {
  Agreement agreement(world());
  const bool alone = world().size() == 1;
  const bool last = world().rank() == world().size() - 1;
  EXPECT_TRUE(agreement.any(declare_public(last)));
  EXPECT_FALSE(agreement.any(declare_public(false)));
  EXPECT_EQ(agreement.all(declare_public(last)), alone);
  EXPECT_TRUE(agreement.all(declare_public(true)));
  EXPECT_EQ(agreement.alike(declare_public(std::string(last ? "odd" : "even"))), alone);
  EXPECT_TRUE(agreement.alike(declare_public(std::string("even"))));
}

TEST(AgreementDoor, BroadcastsTypedValues) {
  Agreement agreement(world());
  const bool first = world().rank() == 0;
  EXPECT_TRUE(agreement.broadcast(declare_public(first)));
  EXPECT_FALSE(agreement.broadcast(declare_public(!first)));
  EXPECT_EQ(agreement.broadcast(declare_public(first ? 0.1 : 7.0)), 0.1);
}

TEST(AgreementDoor, GathersIntegersEverywhere) {
  Agreement agreement(world());
  const std::int64_t large = (std::int64_t{1} << 60) + 1;
  const std::vector<std::int64_t> own(static_cast<std::size_t>(world().rank()), large);
  const auto parts = agreement.all_gather(declare_public(own));
  EXPECT_EQ(parts.size(), static_cast<std::size_t>(world().size()));
  for (std::size_t r = 0; r < parts.size(); ++r) EXPECT_EQ(parts[r], std::vector<std::int64_t>(r, large));
}

TEST(AgreementDoor, GathersOnTheFirstRank) {
  Agreement agreement(world());
  const auto parts =
      agreement.gather(Released<Vector>(declare_public(Vector(static_cast<std::size_t>(world().rank()), 1.5))));
  EXPECT_EQ(parts.size(), world().rank() == 0 ? static_cast<std::size_t>(world().size()) : 0U);
  for (std::size_t r = 0; r < parts.size(); ++r) EXPECT_EQ(parts[r], Vector(r, 1.5));
  const std::string own = std::string(static_cast<std::size_t>(world().rank()), '\0') + "x";
  const auto texts = agreement.gather(declare_public(own));
  EXPECT_EQ(texts.size(), parts.size());
  for (std::size_t r = 0; r < texts.size(); ++r) EXPECT_EQ(texts[r], std::string(r, '\0') + "x");
}

TEST(AgreementDoor, GathersNumbersEverywhere) {
  Agreement agreement(world());
  EXPECT_EQ(agreement.rank(), world().rank());
  EXPECT_EQ(agreement.ranks(), world().size());
  const auto parts = agreement.all_gather(
      Released<Vector>(declare_public(Vector(static_cast<std::size_t>(world().rank()), world().rank() + 0.5))));
  EXPECT_EQ(parts.size(), static_cast<std::size_t>(world().size()));
  for (std::size_t r = 0; r < parts.size(); ++r) EXPECT_EQ(parts[r], Vector(r, static_cast<double>(r) + 0.5));
}

// Rank q sends q + 1 numbers 100 q + r to rank r, and nothing to rank 0.
TEST(AgreementDoor, PartsGoWhereTheyBelongAndAreCounted) {
  Agreement agreement(world());
  const auto own = static_cast<std::size_t>(world().rank());
  const auto ranks = static_cast<std::size_t>(world().size());
  std::vector<Released<Vector>> parts;
  for (std::size_t r = 0; r < ranks; ++r) {
    parts.emplace_back(declare_public(Vector(r == 0 ? 0 : own + 1, static_cast<double>(100 * own + r))));
  }
  const std::int64_t before = agreement.bytes();
  const auto received = agreement.exchange(parts);
  EXPECT_EQ(received.size(), ranks);
  for (std::size_t q = 0; q < received.size(); ++q) {
    EXPECT_EQ(received[q], Vector(own == 0 ? 0 : q + 1, static_cast<double>(100 * q + own)));
  }
  // What a rank keeps for itself is not sent.
  const std::size_t sent = (own + 1) * (own == 0 ? ranks - 1 : ranks - 2);
  EXPECT_EQ(agreement.bytes() - before, static_cast<std::int64_t>(8 * sent));
}

TEST(AgreementDoor, SumsInClientOrderWhateverTheLayout) {
  // Numbers of very different size: any other order of addition gives other bits.
  constexpr Client clients = 23;
  const auto entry = [](Client u) {
    AddressedRandom random(1, Purpose::experiment, static_cast<std::uint64_t>(u), 0);
    return (random.uniform() - 0.5) * std::pow(10, 12 * random.uniform());
  };
  double expected = 0;
  for (Client u = 0; u < clients; ++u) expected += entry(u);
  const Layout layout(clients, world().size());
  Columns own(1, static_cast<std::size_t>(layout.count(world().rank())));
  for (std::size_t k = 0; k < own.size(); ++k) own[k][0] = entry(layout.first(world().rank()) + static_cast<Client>(k));
  EXPECT_EQ(Agreement(world()).ordered_sum(Released<Columns>(declare_public(own)))[0], expected);
}

TEST(AgreementDoor, ReportsComeCompleteAndInOrder) {
  Agreement agreement(world());
  std::vector<int> ranks;
  for (int r = 0; r < world().size(); ++r) ranks.push_back(r);
  constexpr int reports = 20;
  for (int k = 0; k < reports; ++k) {
    agreement.report(
        Released<Vector>(declare_public(Vector{static_cast<double>(world().rank()), static_cast<double>(k)})));
  }
  if (world().rank() == 0) {
    for (int k = 0; k < reports; ++k) {
      const auto set = agreement.collect(ranks, true);
      for (std::size_t r = 0; r < ranks.size(); ++r)
        EXPECT_EQ((*set)[r], (Vector{static_cast<double>(r), static_cast<double>(k)}));
    }
    EXPECT_FALSE(agreement.collect(ranks, false).has_value());
  }
  agreement.barrier();
}

TEST(AgreementDoor, SaysNothingWhereAllAgree) {
  Agreement agreement(world());
  EXPECT_NO_THROW(agreement.together([] {}));
  EXPECT_NO_THROW(agreement.same("colour", declare_public(std::string("grey"))));
}

// Last: from here on the run counts as failed.
TEST(AgreementDoorFailing, TheLowestFailingRankSpeaksAndAllLeaveTogether) {
  Agreement agreement(world());
  const int speaker = world().size() / 2;
  const auto step = [&] {
    if (world().rank() >= speaker) throw DataError(fmt::format("rank {} is unhappy", world().rank()));
  };
  if (world().rank() == speaker) {
    EXPECT_ERROR(DataError, "is unhappy", agreement.together(step));
  } else {
    try {
      agreement.together(step);
      ADD_FAILURE() << "did not throw";
    } catch (const PeerError& error) {
      EXPECT_EQ(error.code(), ExitCode::data);
    }
  }
}

TEST(AgreementDoorFailing, ADifferenceNamesTheRank) {
  Agreement agreement(world());
  const bool alone = world().size() == 1;
  const std::string mine = world().rank() == world().size() - 1 && !alone ? "odd" : "even";
  try {
    agreement.same("configuration", declare_public(mine));
    EXPECT_TRUE(alone);
  } catch (const PeerError& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(world().rank(), 0);
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr(fmt::format("configuration of rank {} differs", world().size() - 1)));
    EXPECT_EQ(world().rank(), 0);
  }
}

}  // namespace starling::agreement_test
