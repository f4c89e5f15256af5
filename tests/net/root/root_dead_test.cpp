#include "net/agreement.hpp"
#include "net/root/root.hpp"
#include "support/mpi_testing.hpp"
#include "support/testing.hpp"

namespace starling::root_dead_test {

using namespace testing_support;

// Rank 0 enters no round: the others' waits end by their watchdog, whether for its receiving or for its aggregate.
TEST(RootDead, TheOthersNameTheAggregator) {
  Root root(world(), Layout(4, world().size()));
  if (!root.aggregates()) {
    world().set_watchdog(0.5);
    EXPECT_TRUE(root.begin_round(41));
    const Released<Vector> longer(declare_public(Vector(200'000, 1.0)));
    const auto contribution = [&](std::size_t) -> const Released<Vector>& { return longer; };
    EXPECT_THAT(
        message_of<FailureError>([&] { return root.sum(200'000, contribution); }),
        AllOf(HasSubstr("round 42: rank 0, which aggregates, takes no contributions"), HasSubstr("nothing came for")));
    Released<Vector> none(declare_public(Vector(3)));
    EXPECT_ERROR(FailureError, "round 42: rank 0, which aggregates, has sent no aggregate", root.broadcast(none));
  }
  Agreement(world()).barrier();
}

}  // namespace starling::root_dead_test
