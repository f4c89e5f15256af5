// The cost model against sums by hand, and what it says of specs that make no sense.
#include "app/doctor/doctor_predict.hpp"

#include <nlohmann/json.hpp>

#include "core/check.hpp"
#include "support/testing.hpp"

namespace starling::doctor_predict_test {

using namespace testing_support;

constexpr Costs costs{1e-6, 1e-9, 1e-7};

Launch launch_of(const std::string& text) {
  return parse_launch(text, {std::nullopt, std::nullopt, std::nullopt, 1000, 4});
}

RoundForecast predicted(const std::string& text, const Costs& of = costs) {
  const Launch launch = launch_of(text);
  return predict(launch, *graph_of(launch), of);
}

std::string refusal(const std::string& text) {
  return message_of<UsageError>([&] { return graph_of(launch_of(text)); });
}

TEST(Launches, AreReadWithUnitsAndDefaults) {
  const Launch launch =
      launch_of("hosts=4,latency=50us,bandwidth=10Gbit,topology=random-regular,degree=6,seed=2,batch=8");
  EXPECT_EQ(launch.hosts, 4);
  EXPECT_EQ(launch.ranks, 4);
  EXPECT_EQ(launch.clients, 4);
  EXPECT_DOUBLE_EQ(launch.latency, 50e-6);
  EXPECT_DOUBLE_EQ(launch.bandwidth, 1.25e9);
  EXPECT_EQ(launch.dimension, 1000U);
  EXPECT_EQ(launch.batch, 8U);
  EXPECT_EQ(launch.topology, "random-regular:degree=6,seed=2");
  EXPECT_DOUBLE_EQ(launch.cpus, 4);
  const Launch other = launch_of("ranks=6,clients=100,dimension=5,bandwidth=3MB,message=2ns,cpus=1/2");
  EXPECT_EQ(other.hosts, 1);
  EXPECT_EQ(other.ranks, 6);
  EXPECT_DOUBLE_EQ(other.bandwidth, 3e6);
  EXPECT_DOUBLE_EQ(other.message.value(), 2e-9);
  EXPECT_DOUBLE_EQ(other.cpus, 0.5);
  EXPECT_EQ(parse_launch("ranks=2", {"star", 9, std::nullopt, 3, 1}).topology, "star");
  EXPECT_EQ(parse_launch("ranks=2", {"star", 9, std::nullopt, 3, 1}).clients, 9);
}

TEST(Launches, TakeClientsOfARankForTheirOwnRanks) {
  const LaunchDefaults five{std::nullopt, std::nullopt, 5, 1000, 4};
  EXPECT_EQ(parse_launch("ranks=7", five).clients, 35);
  EXPECT_EQ(parse_launch("hosts=3,latency=1us", five).clients, 15);
  EXPECT_EQ(parse_launch("ranks=7,clients=8", five).clients, 8) << "what --predict says itself wins";
  const LaunchDefaults many{std::nullopt, std::nullopt, 1'000'000, 1000, 4};
  EXPECT_ERROR(UsageError, "1000000 clients on each of 11 ranks; together they must be 10000000 at most",
               parse_launch("ranks=11", many));
}

TEST(Launches, WhoseMessagesCannotBeTimedMustSayWhatTheyCost) {
  const auto refused = [](const std::string& text) {
    return message_of<UsageError>([&] { check_messages_known(launch_of(text), false); });
  };
  EXPECT_THAT(refused("ranks=4,clients=8"), HasSubstr("message=1us"));
  EXPECT_NO_THROW(check_messages_known(launch_of("ranks=4,clients=8,message=1us"), false));
  EXPECT_NO_THROW(check_messages_known(launch_of("ranks=4,clients=8"), true));
  EXPECT_NO_THROW(check_messages_known(launch_of("clients=8"), false)) << "one rank has no messages";
  EXPECT_THAT(refused("hosts=4,latency=1us"), HasSubstr("hosts of their own"));
}

TEST(Launches, ThatMakeNoSenseAreRefusedClearly) {
  EXPECT_THAT(refusal("hosts=2"), HasSubstr("without a latency"));
  EXPECT_THAT(refusal("hosts=0"), HasSubstr("hosts=0; it must be from 1"));
  EXPECT_THAT(refusal("hosts=2,latency=50"), HasSubstr("a number with a unit: ns, us, ms, s"));
  EXPECT_THAT(refusal("bandwidth=10Gb"), HasSubstr("kbit, Mbit, Gbit, kB, MB, GB; per second"));
  EXPECT_THAT(refusal("bandwidth=0MB"), HasSubstr("must be positive"));
  EXPECT_THAT(refusal("latency=-1us"), HasSubstr("must not be negative"));
  EXPECT_THAT(refusal("latency=fastus"), HasSubstr("latency"));
  EXPECT_THAT(refusal("hosts=3,ranks=2,latency=1us"), HasSubstr("every host has one"));
  EXPECT_THAT(refusal("hosts=3,hosts=4"), HasSubstr("twice"));
  EXPECT_THAT(refusal("host=3"), HasSubstr("known are hosts, latency, bandwidth, eager"));
  EXPECT_THAT(refusal("hosts"), HasSubstr("'hosts' is no key=value"));
  EXPECT_THAT(refusal(""), HasSubstr("'' is no key=value"));
  EXPECT_THAT(refusal("clients="), HasSubstr("no value"));
  EXPECT_THAT(refusal("cpus=0"), HasSubstr("cpus=0"));
  EXPECT_THAT(refusal("clients=5,topology=rings"), HasSubstr("rings"));
  EXPECT_THAT(refusal("clients=5,topology=ring,degre=3"), HasSubstr("degre"));
  EXPECT_THAT(refusal("topology=nowhere.topo"), HasSubstr("nowhere.topo"));
}

// Eight clients on a ring, two on each of four ranks, of which two share a host; vectors of 10 numbers.
TEST(Predictions, AddUpWhatEachRankHasToDo) {
  const RoundForecast round =
      predicted("hosts=2,ranks=4,clients=8,dimension=9,topology=ring,latency=50us,bandwidth=1MB");
  EXPECT_DOUBLE_EQ(round.learning, 2e-6);
  EXPECT_DOUBLE_EQ(round.mixing, 2 * 3 * 80 * 1e-9);  // of two neighbours and of the client itself
  EXPECT_DOUBLE_EQ(round.messages, 2 * 1e-7);         // one to the rank next door, one from it
  EXPECT_DOUBLE_EQ(round.latency, 50e-6);
  EXPECT_DOUBLE_EQ(round.bandwidth, 2 * 80 / 1e6);  // a host sends two vectors
  EXPECT_DOUBLE_EQ(round.seconds(), round.learning + round.exchange() + round.mixing);
  EXPECT_THAT(bound_of(round), HasSubstr("bytes between hosts"));
}

TEST(Predictions, KnowThatLongMessagesAreAskedForFirst) {
  const std::string launch = "hosts=2,clients=8,dimension=9,topology=ring,latency=1ms,eager=";
  EXPECT_DOUBLE_EQ(predicted(launch + "160B").latency, 1e-3);  // a host's message has the vectors of two clients
  EXPECT_DOUBLE_EQ(predicted(launch + "0.159kB").latency, 3e-3);
  EXPECT_THAT(refusal(launch + "64k"), HasSubstr("kB, MB, B"));
}

// Vectors are read where they are made; what goes to other hosts stays a message with its bytes.
TEST(Predictions, ChargeNoBytesWhereRanksOfAHostReadInPlace) {
  const std::string launch = "hosts=2,ranks=4,clients=8,topology=ring,latency=50us,bandwidth=1GB,dimension=";
  const RoundForecast small = predicted(launch + "9");
  const RoundForecast large = predicted(launch + "4095");
  EXPECT_DOUBLE_EQ(large.messages, small.messages);
  EXPECT_DOUBLE_EQ(large.latency, small.latency);
  EXPECT_DOUBLE_EQ(large.bandwidth, 2 * 4096 * 8 / 1e9);
  EXPECT_DOUBLE_EQ(large.mixing, 2 * 3 * 4096 * 8 * 1e-9);
}

TEST(Predictions, OfOneRankHaveNoMessages) {
  const RoundForecast round = predicted("clients=8,dimension=9,topology=ring");
  EXPECT_DOUBLE_EQ(round.learning, 8e-6);
  EXPECT_EQ(round.exchange(), 0);
  EXPECT_THAT(bound_of(round), HasSubstr("learning"));
}

// Of the star's ranks that of the hub has most to read: its 7 neighbours and itself, and one other client.
TEST(Predictions, AreThoseOfTheSlowestRank) {
  const RoundForecast round = predicted("ranks=4,clients=8,dimension=9,topology=star");
  EXPECT_DOUBLE_EQ(round.mixing, (8 + 2) * 80 * 1e-9);
  EXPECT_DOUBLE_EQ(round.messages, 6 * 1e-7);  // to and from each of three ranks
}

TEST(Predictions, StretchWhereRanksOutnumberCpus) {
  const RoundForecast round = predicted("ranks=4,clients=8,dimension=9,topology=ring,cpus=2");
  EXPECT_DOUBLE_EQ(round.learning, 2 * 2e-6);
  EXPECT_DOUBLE_EQ(round.messages, 2 * 4 * 1e-7);
}

TEST(Predictions, AverageOverTheRoundsOfAGraph) {
  // Hops 1, 2 and 4 of eight clients on four ranks: a vector goes to the next rank, two do, two go to the rank after
  // it.
  const RoundForecast round = predicted("ranks=4,clients=8,dimension=9,topology=one-peer-exponential");
  EXPECT_DOUBLE_EQ(round.messages, 2 * 1e-7);
}

TEST(Predictions, AreTheSameAsTextAndJson) {
  const Launch launch = launch_of("hosts=2,clients=8,dimension=9,topology=ring,latency=2ms");
  const RoundForecast round = predict(launch, *graph_of(launch), costs);
  const auto json = nlohmann::json::parse(prediction_json(launch, costs, round)).at("prediction");
  EXPECT_EQ(json.at("clients"), 8);
  EXPECT_TRUE(json.at("bandwidth").is_null());
  EXPECT_EQ(json.at("seconds"), round.seconds());
  EXPECT_EQ(json.at("exchange_parts").at("latency"), 2e-3);
  EXPECT_EQ(json.at("costs").at("gathered"), 1e-9);
  EXPECT_EQ(json.at("bound_by"), "the way to other hosts");
  const std::string table = prediction_table(launch, costs, round);
  EXPECT_THAT(table, HasSubstr("2 ranks on 2 hosts, 8 clients joined by ring, models of 9 numbers"));
  EXPECT_THAT(table, HasSubstr("2 ms one way, unlimited bandwidth"));
  EXPECT_THAT(table, HasSubstr("bound by"));
}

TEST(Predictions, SayWhatMessagesCostOnlyWhereThereAreAny) {
  const auto table = [](const std::string& text) {
    const Launch launch = launch_of(text);
    return prediction_table(launch, costs, predict(launch, *graph_of(launch), costs));
  };
  EXPECT_THAT(table("ranks=2,clients=8"), HasSubstr("at either end of a message\n"));
  EXPECT_THAT(table("ranks=2,clients=8,message=1us"), HasSubstr("at either end of a message (as said)"));
  EXPECT_THAT(table("clients=8"), Not(HasSubstr("end of a message")));
}

}  // namespace starling::doctor_predict_test
