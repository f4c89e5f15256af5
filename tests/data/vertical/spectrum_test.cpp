#include "data/vertical/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/check.hpp"
#include "data/generators/synthetic.hpp"
#include "data/reading.hpp"
#include "data/serving/dataset.hpp"
#include "data/vertical/vertical.hpp"

namespace starling::spectrum_test {

using namespace testing_support;

constexpr double side = 500;

VerticalSettings settings_of(const std::string& parameters = "", std::uint64_t seed = 1) {
  VerticalSettings settings;
  settings.source = "synthetic:spectrum" + (parameters.empty() ? "" : ":" + parameters);
  settings.seed = seed;
  return settings;
}

VerticalDataset open_all(const std::string& parameters, std::size_t parties, std::uint64_t seed = 1) {
  return open_vertical(settings_of(parameters, seed), parties, 0, parties, true);
}

SpectrumWorld world_of(const SpectrumPlan& plan, std::uint64_t seed = 1) {
  return {plan, seed};
}

double length(const Place& a, const Place& b) {
  return std::hypot(a.x - b.x, a.y - b.y);
}

double mean(View values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// One record's RSS.
View samples_of(const Vector& records, std::size_t columns, std::size_t i) {
  return View(records).subspan(i * columns + 2, columns - 2);
}

// 10 log10 of the sum of what arrives: the milliwatts of each transmitter, by the inverse fourth power of its distance.
TEST(Spectrum, WhatIsReceivedIsTheSumOfPowersOverTheFourthPowerOfDistance) {
  SpectrumPlan plan;
  plan.transmitters = 3;
  const SpectrumWorld world = world_of(plan);
  for (const Place& place : {Place{10, 20}, Place{250, 250}, Place{499, 3}}) {
    const Vector powers{1, 4, 2};
    double milliwatts = 0;
    for (std::size_t n = 0; n < 3; ++n) {
      const double d = length(place, world.transmitters()[n]);
      milliwatts += std::exp(std::log(10.0) * powers[n] / 10) / (d * d * d * d);
    }
    EXPECT_NEAR(world.received(place, powers), 10 * std::log(milliwatts) / std::log(10.0), 1e-9);
  }
}

// So that of two settings of the powers only their sum is told apart.
TEST(Spectrum, TheSumOfDecibelsIsThatOfTheTermsAndTellsTheSumOfPowersOnly) {
  SpectrumPlan plan;
  plan.sum = SpectrumPlan::Sum::decibel;
  const SpectrumWorld world = world_of(plan);
  const Place place{123, 77};
  double expected = 1 + 4;
  for (const Place& transmitter : world.transmitters()) expected -= 40 * std::log10(length(place, transmitter));
  EXPECT_NEAR(world.received(place, Vector{1, 4}), expected, 1e-9);
  EXPECT_NEAR(world.received(place, Vector{4, 1}), expected, 1e-9);
  EXPECT_NEAR(world.received(place, Vector{3, 2}), expected, 1e-9);
}

TEST(Spectrum, NobodyIsNearerToATransmitterThanAMetre) {
  const SpectrumWorld world = world_of({});
  const Place at = world.transmitters()[0];
  const Place beside{at.x + 1, at.y};
  EXPECT_NEAR(world.received(at, Vector{3, 1}), world.received(beside, Vector{3, 1}), 1e-6);
}

TEST(Spectrum, TransmittersStandApartWithinTheSquare) {
  for (const std::size_t n : {1, 2, 3, 4, 6}) {
    SpectrumPlan plan;
    plan.transmitters = n;
    const SpectrumWorld world = world_of(plan);
    ASSERT_EQ(world.transmitters().size(), n);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_GT(world.transmitters()[i].x, 0);
      EXPECT_LT(world.transmitters()[i].x, side);
      EXPECT_GT(world.transmitters()[i].y, 0);
      EXPECT_LT(world.transmitters()[i].y, side);
      for (std::size_t j = 0; j < i; ++j) EXPECT_GT(length(world.transmitters()[i], world.transmitters()[j]), 100);
    }
  }
}

// Means of 100 samples are within 0.5 dB of the truth but for one in two million; there are 160 of them.
TEST(Spectrum, ARecordHoldsItsReceiversPlaceAndWhatItHearsOfTheTargets) {
  const auto data = open_all("v=3", 4);
  const SpectrumScene scene = spectrum_scene("synthetic:spectrum:v=3", 1, 4, 6, 1);
  const SpectrumWorld world = world_of({.v = 3});
  data.stream->load(5);
  ASSERT_EQ(data.stream->learning(), 20U);
  ASSERT_EQ(data.stream->testing(), 20U);
  const Vector targets = opened(data.stream->targets());
  ASSERT_EQ(targets.size(), 80U);
  for (std::size_t k = 0; k < 4; ++k) {
    const Vector records = opened(data.stream->inputs(k));
    ASSERT_EQ(records.size(), 40U * 102);
    const Place place = scene.paths[k][5];
    Vector levels;
    for (std::size_t i = 0; i < 40; ++i) levels.push_back(world.received(place, View(targets).subspan(2 * i, 2)));
    const double removed = mean(View(levels).first(20));
    for (std::size_t i = 0; i < 40; ++i) {
      EXPECT_DOUBLE_EQ(records[i * 102], place.x / 500 - 0.5);
      EXPECT_DOUBLE_EQ(records[i * 102 + 1], place.y / 500 - 0.5);
      EXPECT_NEAR(mean(samples_of(records, 102, i)), levels[i] - removed, 0.51) << k << ' ' << i;
    }
  }
}

// Level alone tells them apart: samples differ by one number in a round.
TEST(Spectrum, LevelsAreKeptIfAskedFor) {
  const auto centred = open_all("", 1, 7);
  const auto kept = open_all("level=kept", 1, 7);
  for (const Round t : {0, 1}) {
    centred.stream->load(t);
    kept.stream->load(t);
    const Vector without = opened(centred.stream->inputs(0));
    const Vector with = opened(kept.stream->inputs(0));
    const double level = with[2] - without[2];
    EXPECT_LT(level, -30);  // some 40 log10(150) dB of path
    for (std::size_t i = 0; i < with.size(); ++i) {
      EXPECT_NEAR(with[i] - without[i], i % 102 < 2 ? 0 : level, 1e-9);
    }
  }
}

// The deviation of 4000 samples is within 6 % of the truth but for one in 10^7.
TEST(Spectrum, SamplesDeviateByOneDecibelOrByOneForEachTransmitter) {
  for (const auto& [parameters, deviation] : {std::pair{"", 1.0}, std::pair{"sum=decibel,transmitters=3", 3.0}}) {
    const auto data = open_all(parameters, 1, 7);
    data.stream->load(0);
    const Vector records = opened(data.stream->inputs(0));
    double squares = 0;
    for (std::size_t i = 0; i < 40; ++i) {
      const View samples = samples_of(records, 102, i);
      for (const double rss : samples) squares += (rss - mean(samples)) * (rss - mean(samples));
    }
    EXPECT_NEAR(std::sqrt(squares / (40 * 99)) / deviation, 1, 0.06) << parameters;
  }
}

TEST(Spectrum, TheTrainingRecordsMeanIsRemovedFromAllRecords) {
  const auto data = open_all("train=7,test=5,samples=3", 2);
  double of_tests = 0;
  for (Round t = 0; t < 4; ++t) {
    data.stream->load(t);
    for (std::size_t k = 0; k < 2; ++k) {
      const Vector records = opened(data.stream->inputs(k));
      ASSERT_EQ(records.size(), 12U * 5);
      double sum = 0;
      for (std::size_t i = 0; i < 7; ++i) sum += mean(samples_of(records, 5, i));
      EXPECT_NEAR(sum, 0, 1e-10);
      for (std::size_t i = 7; i < 12; ++i) of_tests += std::abs(mean(samples_of(records, 5, i)));
    }
  }
  EXPECT_GT(of_tests, 1);
}

// 24,000 powers: each level's share is within 0.015 of 1/4 but for one in 10^7.
TEST(Spectrum, PowersAreTheFourLevelsEquallyOftenAndDrawnAnew) {
  const auto data = open_all("", 1);
  std::vector<int> counts(5);
  Vector before;
  for (Round t = 0; t < 300; ++t) {
    data.stream->load(t);
    const Vector powers = opened(data.stream->targets());
    EXPECT_NE(powers, before);
    for (const double power : powers) {
      ASSERT_TRUE(power == 1 || power == 2 || power == 3 || power == 4) << power;
      ++counts[static_cast<std::size_t>(power)];
    }
    before = powers;
  }
  for (std::size_t level = 1; level <= 4; ++level) EXPECT_NEAR(counts[level] / 24000.0, 0.25, 0.015) << level;
}

// Two receivers hear two transmitters then. 200 places in a half: none in one of its quarters but for one in 10^24.
TEST(Spectrum, ReceiversStartInTheTwoHalvesInTurn) {
  std::vector<int> quarters(8);
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto scene = spectrum_scene("synthetic:spectrum", seed, 8, 1, 1);
    for (std::size_t k = 0; k < 8; ++k) {
      const Place& start = scene.paths[k][0];
      EXPECT_EQ(start.x >= 250, k % 2 == 0);
      ++quarters[4 * (k % 2) + (start.y >= 250 ? 2 : 0) + (std::fmod(start.x, 250) >= 125 ? 1 : 0)];
    }
  }
  for (const int count : quarters) EXPECT_GT(count, 0);
}

TEST(Spectrum, EachStepIsVMetresLongAwayFromTheSides) {
  for (const std::string walk : {"random", "heading"}) {
    for (const double v : {1.0, 5.0, 300.0}) {
      const auto scene = spectrum_scene(fmt::format("synthetic:spectrum:walk={},v={}", walk, v), 3, 5, 2000, 1);
      int inner = 0;
      for (const auto& path : scene.paths) {
        for (std::size_t t = 1; t < path.size(); ++t) {
          for (const double x : {path[t].x, path[t].y}) {
            EXPECT_GE(x, 0);
            EXPECT_LE(x, side);
          }
          EXPECT_LE(length(path[t], path[t - 1]), v * (1 + 1e-9));
          const Place& from = path[t - 1];
          if (std::min({from.x, from.y, side - from.x, side - from.y}) < v) continue;
          EXPECT_NEAR(length(path[t], from), v, 1e-9);
          ++inner;
        }
      }
      EXPECT_GT(inner, v > 250 ? -1 : 1000);
    }
  }
}

// After 100 steps a random walk is about 10 steps away (three times that but for one in 8000), a kept heading 100.
TEST(Spectrum, AHeadingIsKeptAndARandomWalkStaysNear) {
  const auto heading = spectrum_scene("synthetic:spectrum:walk=heading", 5, 8, 101, 1);
  const auto random = spectrum_scene("synthetic:spectrum:walk=random", 5, 8, 101, 1);
  int straight = 0;
  for (std::size_t k = 0; k < 8; ++k) {
    EXPECT_LT(length(random.paths[k][100], random.paths[k][0]), 35);
    const Place& start = heading.paths[k][0];
    if (std::min({start.x, start.y, side - start.x, side - start.y}) < 101) continue;
    EXPECT_NEAR(length(heading.paths[k][100], start), 100, 1e-9);
    ++straight;
  }
  EXPECT_GT(straight, 0);
}

// Reflected by the sides, a path is a straight line in the plane that is folded onto the square.
TEST(Spectrum, TheSidesReflectAHeadingAsAMirrorDoes) {
  const auto folded = [](double x) {
    x = std::fmod(std::abs(x), 2 * side);
    return x > side ? 2 * side - x : x;
  };
  const auto scene = spectrum_scene("synthetic:spectrum:walk=heading,v=20", 2, 6, 400, 1);
  for (const auto& path : scene.paths) {
    const auto inner = std::find_if(path.begin(), path.end(), [](const Place& place) {
      return std::min({place.x, place.y, side - place.x, side - place.y}) > 21;
    });
    ASSERT_LT(inner - path.begin(), 390);
    const Place step{(inner + 1)->x - inner->x, (inner + 1)->y - inner->y};
    for (auto place = inner; place != path.end(); ++place) {
      const auto steps = static_cast<double>(place - inner);
      EXPECT_NEAR(place->x, folded(inner->x + steps * step.x), 1e-6);
      EXPECT_NEAR(place->y, folded(inner->y + steps * step.y), 1e-6);
    }
  }
}

struct Refusal {
  std::string parameters;
  std::string message;
};

// Receiver 1 goes along a line and stops, transmitter 0 (mover 2) comes nearer; the others do as they would without a
// file.
TEST(Spectrum, MoversKeepToTheirTrajectories) {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("paths.csv", "# mover,round,x,y\n1,2,100,100\n1,6,140,180\n2,0,400,250\n2,4,300,250\n");
  const auto with = spectrum_scene("synthetic:spectrum:trajectory=" + path, 3, 2, 9, 1);
  const auto without = spectrum_scene("synthetic:spectrum", 3, 2, 9, 1);
  const std::vector<double> x{100, 100, 100, 110, 120, 130, 140, 140, 140};
  for (std::size_t t = 0; t < x.size(); ++t) {
    EXPECT_DOUBLE_EQ(with.paths[1][t].x, x[t]) << t;
    EXPECT_DOUBLE_EQ(with.paths[1][t].y, 100 + 2 * (x[t] - 100)) << t;
    EXPECT_EQ(with.paths[0][t].x, without.paths[0][t].x);
  }
  SpectrumPlan plan;
  plan.receivers = 2;
  plan.trajectory = path;
  const SpectrumWorld world = world_of(plan);
  const Vector powers{4, 1};
  double before = -1e9;
  for (Round t = 0; t < 6; ++t) {
    const double now = world.received({280, 250}, powers, t);
    EXPECT_TRUE(t <= 4 ? now > before : now == before) << t;
    before = now;
  }
  EXPECT_EQ(world.transmitters()[0].x, 400);
  const auto digest = [&] { return open_all("trajectory=" + path, 2).digest; };
  const std::string first = digest();
  for (const auto& [text, message] :
       {Refusal{"1,2,100\n", "mover, round, x and y"}, Refusal{"4,0,1,1\n", "mover 4: there are 4"},
        Refusal{"0,0,1,501\n", "outside the square of 500 m"}, Refusal{"0,3,1,1\n0,3,2,2\n", "its rounds ascend"},
        Refusal{"#\n", "holds no numbers"}}) {
    static_cast<void>(folder.write("paths.csv", text));
    EXPECT_THAT(message_of<UsageError>([&] { static_cast<void>(digest()); }), HasSubstr(message));
  }
  static_cast<void>(folder.write("paths.csv", "1,2,100,100\n"));
  EXPECT_NE(digest(), first);
}

TEST(Spectrum, ShadowingIsZeroToTenDecibelsAndMuchTheSameNearby) {
  double least = 10;
  double most = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto scene = spectrum_scene("synthetic:spectrum", seed, 1, 1, 500);
    ASSERT_EQ(scene.cells, 500U);
    ASSERT_EQ(scene.shadowing.size(), 250'000U);
    for (std::size_t i = 0; i < scene.shadowing.size(); ++i) {
      least = std::min(least, scene.shadowing[i]);
      most = std::max(most, scene.shadowing[i]);
      const double here = scene.shadowing[i];
      const double left = i % 500 == 0 ? here : scene.shadowing[i - 1];
      const double below = i < 500 ? here : scene.shadowing[i - 500];
      ASSERT_LT(std::max(std::abs(here - left), std::abs(here - below)), 0.31);
    }
  }
  EXPECT_GE(least, 0);
  EXPECT_LT(least, 0.5);
  EXPECT_LE(most, 10);
  EXPECT_GT(most, 9.5);
}

// Of places 10 m apart it is above 0.9, of those 200 m apart there is none: 60 fields are 0.13 from that at most times,
// and 0.5 away but once in 10^4.
TEST(Spectrum, ShadowingIsCorrelatedNearbyAndNotFarAway) {
  const auto correlation = [](double apart) {
    double xy = 0;
    double xx = 0;
    double yy = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      const SpectrumWorld world = world_of({}, seed);
      for (const double y : {25.0, 225.0, 425.0}) {
        const double a = world.shadowing({130, y}) - 5;
        const double b = world.shadowing({130 + apart, y}) - 5;
        xy += a * b;
        xx += a * a;
        yy += b * b;
      }
    }
    return xy / std::sqrt(xx * yy);
  };
  EXPECT_GT(correlation(10), 0.9);
  EXPECT_NEAR(correlation(200), 0, 0.5);
}

// A receiver's inputs do not depend on it: the mean that is removed holds it. Its places' field is there all the same.
TEST(Spectrum, TheFieldIsTheOneThatItsGridShows) {
  const SpectrumWorld world = world_of({}, 9);
  const auto scene = spectrum_scene("synthetic:spectrum", 9, 1, 1, 5);
  EXPECT_EQ(scene.shadowing[0], world.shadowing({50, 50}));
  EXPECT_EQ(scene.shadowing[1], world.shadowing({150, 50}));
  EXPECT_EQ(scene.shadowing[5], world.shadowing({50, 150}));
  EXPECT_EQ(scene.shadowing[24], world.shadowing({450, 450}));
}

TEST(Spectrum, PartiesApartSeeWhatTheyWouldSeeTogether) {
  const auto together = open_all("walk=heading,v=5", 5, 4);
  const auto front = open_vertical(settings_of("walk=heading,v=5", 4), 5, 0, 2, false);
  const auto back = open_vertical(settings_of("walk=heading,v=5", 4), 5, 2, 3, true);
  for (const Round t : {0, 1, 17}) {
    together.stream->load(t);
    back.stream->load(t);
    front.stream->load(t);
    for (std::size_t k = 0; k < 5; ++k) {
      const Vector apart = opened(k < 2 ? front.stream->inputs(k) : back.stream->inputs(k - 2));
      EXPECT_EQ(apart, opened(together.stream->inputs(k)));
    }
    EXPECT_TRUE(opened(front.stream->targets()).empty());
    EXPECT_EQ(opened(back.stream->targets()), opened(together.stream->targets()));
  }
}

TEST(Spectrum, RoundsMayBeLeftOutAndDoNotComeBack) {
  const auto all = open_all("", 2);
  for (Round t = 0; t <= 30; ++t) all.stream->load(t);
  const auto one = open_all("", 2);
  one.stream->load(30);
  EXPECT_EQ(opened(one.stream->inputs(1)), opened(all.stream->inputs(1)));
  EXPECT_EQ(one.stream->participations(), 1);
  EXPECT_THAT(message_of<FailureError>([&one] { one.stream->load(30); }), HasSubstr("streams go forward only"));
}

TEST(Spectrum, SeedsDrawOtherWorlds) {
  const auto one = open_all("", 1, 1);
  const auto other = open_all("", 1, 2);
  one.stream->load(0);
  other.stream->load(0);
  EXPECT_NE(opened(one.stream->inputs(0)), opened(other.stream->inputs(0)));
  EXPECT_NE(opened(one.stream->targets()), opened(other.stream->targets()));
  EXPECT_NE(one.digest, other.digest);
}

TEST(Spectrum, ItsShapeSaysWhatNetworksMustKnow) {
  const auto data = open_all("transmitters=3,samples=4", 2);
  EXPECT_EQ(data.shape.columns, (std::vector<std::size_t>{6, 6}));
  EXPECT_EQ(data.shape.targets, 3U);
  EXPECT_FALSE(data.shape.rounds);
  EXPECT_FALSE(data.shape.records);
  EXPECT_EQ(data.shape.names[1], (std::vector<std::string>{"x", "y", "rss0", "rss1", "rss2", "rss3"}));
  EXPECT_TRUE(data.is_public && data.replayable && data.common && data.ids.empty());
  EXPECT_EQ(data.digest.size(), 64U);
}

TEST(Spectrum, SlotsAreDividedIntoThoseThatTrainAndThoseThatTest) {
  struct Case {
    std::string parameters;
    std::size_t train;
    std::size_t test;
  };
  for (const Case& each : {Case{"slots=9", 5, 4}, Case{"slots=30,train=20", 20, 10}, Case{"slots=30,test=0", 30, 0},
                           Case{"slots=5,train=3,test=2", 3, 2}, Case{"train=1,test=0", 1, 0}}) {
    const auto data = open_all(each.parameters, 1);
    data.stream->load(0);
    EXPECT_EQ(data.stream->learning(), each.train) << each.parameters;
    EXPECT_EQ(data.stream->testing(), each.test) << each.parameters;
  }
}

TEST(Spectrum, ParametersOutOfRangeAreRefused) {
  for (const auto& [parameters, message] :
       {Refusal{"receivers=3", "3 receivers and 2 parties: each party is a receiver."},
        Refusal{"transmitters=0", "transmitters=0: it must lie between 1 and 1000."}, Refusal{"v=501", "v=501"},
        Refusal{"v=-1", "v=-1"}, Refusal{"v=nan", "v=nan"}, Refusal{"walk=drunken", "known are random, heading"},
        Refusal{"sum=watt", "known are power, decibel"}, Refusal{"level=low", "known are centred, kept"},
        Refusal{"train=0", "train=0"}, Refusal{"samples=0", "samples=0"},
        Refusal{"slots=4,train=3,test=2", "it is train + test"}, Refusal{"slots=4,train=5", "it is train + test"},
        Refusal{"slots=4,test=4", "train is at least 1"},
        Refusal{"slots=2000,samples=100000", "2000 slots of 100000 samples"}, Refusal{"mood=good", "mood"}}) {
    const auto refused = [&parameters = parameters] { static_cast<void>(open_all(parameters, 2)); };
    EXPECT_THAT(message_of<UsageError>(refused), HasSubstr(message)) << parameters;
  }
}

TEST(Spectrum, OptionsThatSpeakOfTablesAreRefused) {
  const auto refusal = [](void (*change)(VerticalSettings&)) {
    VerticalSettings settings = settings_of();
    change(settings);
    return message_of<UsageError>([&] { return open_vertical(settings, 2, 0, 2, true); });
  };
  EXPECT_THAT(refusal([](VerticalSettings& settings) { settings.columns = "0-9/10"; }), HasSubstr("its own columns"));
  EXPECT_THAT(refusal([](VerticalSettings& settings) { settings.label_source = "a.csv"; }),
              HasSubstr("its own labels"));
  EXPECT_THAT(refusal([](VerticalSettings& settings) { settings.epochs = 2; }), HasSubstr("has no end"));
  EXPECT_THAT(refusal([](VerticalSettings& settings) { settings.id = "id"; }), HasSubstr("--id"));
}

TEST(Spectrum, ItIsForVerticalLearningAlone) {
  DataSettings settings;
  for (const std::string source : {"synthetic:spectrum", "synthetic:spectrum:v=5"}) {
    settings.source = source;
    const std::string message = message_of<UsageError>([&] { return open_dataset(settings, 1, 0, 1); });
    EXPECT_THAT(message, HasSubstr("is for `starling vertical` alone"));
  }
  EXPECT_ERROR(UsageError, "'synthetic:drift' is no spectrum", spectrum_scene("synthetic:drift", 1, 1, 1, 1));
  EXPECT_FALSE(is_spectrum("synthetic:spectrums"));
}

TEST(Spectrum, HelpNamesItsParameters) {
  const std::string help = spectrum_help();
  for (const std::string parameter : {"receivers", "transmitters", "train", "walk", "sum", "samples", "slots"}) {
    EXPECT_THAT(help, HasSubstr(parameter));
  }
}

}  // namespace starling::spectrum_test
