// Every change to a small ledger is noticed, but for the ones that the header names.
#include <sstream>

#include "core/check.hpp"
#include "ledger_samples.hpp"
#include "privacy/ledger/ledger.hpp"
#include "privacy/ledger/ledger_reading.hpp"
#include "support/slow.hpp"
#include "support/testing.hpp"

namespace starling::ledger_damage_test {

using ledger_samples::head_of;
using ledger_samples::sealed;
using ledger_samples::text_of;
using Kind = LedgerDamage::Kind;
using Lines = std::vector<std::string>;
using namespace testing_support;

/// The text of a sample ledger and of its head.
struct Sample {
  Sample() {
    const TemporaryFolder folder;
    ledger_samples::write_sample(folder / "ledger");
    text = text_of(folder / "ledger");
    head = text_of(folder / "ledger.head");
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line + "\n");
  }
  std::string text;
  std::string head;
  Lines lines;
};

const Sample& sample() {
  static const Sample one;
  return one;
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

std::string shown(const std::optional<LedgerDamage>& damage) {
  return damage ? fmt::format("{}, line {}: {}", name_of(damage->kind), damage->line, damage->reason) : "whole";
}

void expect_damage(const LedgerReading& reading, Kind kind, std::size_t line) {
  ASSERT_TRUE(reading.damage.has_value());
  EXPECT_EQ(name_of(reading.damage->kind), std::string(name_of(kind))) << shown(reading.damage);
  EXPECT_EQ(reading.damage->line, static_cast<std::int64_t>(line)) << shown(reading.damage);
}

TEST(LedgerDamageTest, NoneInTheSample) {
  EXPECT_EQ(shown(verify_ledger(sample().text, sample().head).damage), "whole");
}

// By default one bit of each byte, in its turn.
TEST(LedgerDamageTest, EveryBitOfTheLedgerMatters) {
  for (std::size_t place = 0; place < sample().text.size(); ++place) {
    for (int bit = 0; bit < 8; ++bit) {
      if (static_cast<std::size_t>(bit) != place % 8 && !slow()) continue;
      std::string text = sample().text;
      text[place] = static_cast<char>(text[place] ^ (1 << bit));
      ASSERT_TRUE(verify_ledger(text, sample().head).damage) << "byte " << place << ", bit " << bit;
    }
  }
}

TEST(LedgerDamageTest, EveryBitOfTheHeadMatters) {
  for (std::size_t place = 0; place < sample().head.size(); ++place) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string head = sample().head;
      head[place] = static_cast<char>(head[place] ^ (1 << bit));
      ASSERT_TRUE(verify_ledger(sample().text, head).damage) << "byte " << place << ", bit " << bit;
    }
  }
}

TEST(LedgerDamageTest, EveryCutOfTheLedgerIsNoticed) {
  for (std::size_t size = 0; size < sample().text.size(); ++size) {
    const LedgerReading reading = verify_ledger(sample().text.substr(0, size), sample().head);
    const auto whole =
        std::count(sample().text.begin(), sample().text.begin() + static_cast<std::ptrdiff_t>(size), '\n');
    expect_damage(reading, Kind::truncated, static_cast<std::size_t>(whole) + 1);
  }
}

TEST(LedgerDamageTest, EveryCutOfTheHeadIsNoticed) {
  for (std::size_t size = 0; size < sample().head.size(); ++size) {
    expect_damage(verify_ledger(sample().text, sample().head.substr(0, size)), Kind::no_head, 0);
  }
  const LedgerReading reading = verify_ledger(sample().text, std::nullopt);
  expect_damage(reading, Kind::no_head, 0);
  // The line that the message proposes is the head.
  EXPECT_THAT(reading.damage->reason,
              HasSubstr("the line " + sample().head.substr(0, sample().head.size() - 1) + " into it."));
}

TEST(LedgerDamageTest, AByteMoreIsNoticedEverywhere) {
  for (std::size_t place = 0; place <= sample().text.size(); ++place) {
    for (const char more : {'\n', ' ', '0', '"', '\0'}) {
      std::string text = sample().text;
      text.insert(place, 1, more);
      ASSERT_TRUE(verify_ledger(text, sample().head).damage) << "byte " << place;
    }
  }
}

TEST(LedgerDamageTest, RowsRemovedAreNoticed) {
  for (std::size_t k = 0; k < sample().lines.size(); ++k) {
    Lines lines = sample().lines;
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(k));
    const bool last = k == lines.size();
    expect_damage(verify_ledger(joined(lines), sample().head), last ? Kind::truncated : Kind::reordered, k + 1);
  }
}

TEST(LedgerDamageTest, RowsSwappedAreNoticed) {
  for (std::size_t i = 0; i < sample().lines.size(); ++i) {
    for (std::size_t j = i + 1; j < sample().lines.size(); ++j) {
      Lines lines = sample().lines;
      std::swap(lines[i], lines[j]);
      expect_damage(verify_ledger(joined(lines), sample().head), Kind::reordered, i + 1);
    }
  }
}

TEST(LedgerDamageTest, RowsRepeatedAreNoticed) {
  for (std::size_t i = 0; i < sample().lines.size(); ++i) {
    for (std::size_t j = 0; j <= sample().lines.size(); ++j) {
      Lines lines = sample().lines;
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(j), sample().lines[i]);
      const std::size_t line = i == j ? j + 2 : j + 1;  // a row put before itself stands where it should
      expect_damage(verify_ledger(joined(lines), sample().head), Kind::reordered, line);
    }
  }
}

TEST(LedgerDamageTest, ARowOfAnotherLedgerIsNoticed) {
  const std::string other = sealed(Lines(5, R"("kind":"ledger","format":2,"time":"")"));
  Lines lines = sample().lines;
  lines[4] = other.substr(other.rfind('\n', other.size() - 2) + 1);  // it is row 5 there too
  expect_damage(verify_ledger(joined(lines), sample().head), Kind::reordered, 5);
}

TEST(LedgerDamageTest, ARewrittenLedgerIsNoticedByItsHeadOrByWhoKeptAHash) {
  const Lines members = {R"("kind":"ledger","format":2,"time":"")"};
  const std::string text = sealed(members);
  EXPECT_EQ(shown(verify_ledger(text, head_of(text)).damage), "whole");  // that much cannot be helped
  expect_damage(verify_ledger(text, sample().head), Kind::truncated, 2);
  EXPECT_EQ(verify_ledger(text, head_of(text)).row_of(verify_ledger(sample().text, sample().head).head()),
            std::nullopt);
  const std::string first = fmt::format("{{\"rows\":1,\"hash\":\"{}\"}}\n", std::string(64, 'a'));
  expect_damage(verify_ledger(text, first), Kind::edited, 1);
}

TEST(LedgerDamageTest, AnEarlierHeadIsWhatACrashLeaves) {
  for (std::size_t rows = 0; rows < sample().lines.size(); ++rows) {
    const Lines lines(sample().lines.begin(), sample().lines.begin() + static_cast<std::ptrdiff_t>(rows));
    const std::string head =
        rows == 0 ? "{\"rows\":0,\"hash\":\"" + std::string(64, '0') + "\"}\n" : head_of(joined(lines));
    const LedgerReading reading = verify_ledger(sample().text, head);
    EXPECT_EQ(shown(reading.damage), "whole");
    EXPECT_EQ(reading.counted, static_cast<std::int64_t>(rows));
    EXPECT_EQ(reading.hashes.size(), sample().lines.size());
  }
}

TEST(LedgerDamageTest, WhatIsNoLedgerIsCalledSo) {
  for (const char* text : {"", "\n", "hello\n", "{}\n", "[1,2]\n", "{\"row\":1}", "\xff\xfe"}) {
    expect_damage(verify_ledger(text, std::nullopt), Kind::not_a_ledger, 1);
  }
}

TEST(LedgerDamageTest, RowsThatChainAndContradictEachOtherAreRefused) {
  const std::string start = R"("kind":"ledger","format":2,"time":"")";
  const std::string open =
      R"("kind":"open","run":"r","time":"","version":"","mechanism":"","parameters":"","unit":"record","batch":1,"batch_units":1,)"
      R"("determined_by":"","clients":[0])";
  const std::string reserve =
      R"("kind":"reserve","run":"r","client":0,"first":0,"last":1,"records":"","passes":[],"charges":[],"digest":"")";
  const auto changed = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  const auto check_third = [&](const Lines& members, std::size_t line) {
    const std::string text = sealed(members);
    expect_damage(verify_ledger(text, head_of(text)), Kind::inconsistent, line);
  };
  const std::string whole = sealed({start, open, reserve});
  EXPECT_EQ(shown(verify_ledger(whole, head_of(whole)).damage), "whole");
  check_third({open}, 1);
  check_third({start, start}, 2);
  check_third({changed(start, "2", "3")}, 1);
  check_third({changed(start, "2", "1")}, 1);
  check_third({start, reserve}, 2);
  check_third({start, open, open}, 3);
  check_third({start, open, reserve, reserve}, 4);
  check_third({start, open, changed(reserve, "\"run\":\"r\"", "\"run\":\"s\"")}, 3);
  check_third({start, open, changed(reserve, "\"client\":0", "\"client\":\"0\"")}, 3);
  check_third({start, open, changed(reserve, "\"client\":0", "\"client\":4294967296")}, 3);
  check_third({start, open, changed(reserve, "\"last\":1", "\"last\":1.5")}, 3);
  check_third({start, open, changed(reserve, "\"last\":1", "\"last\":18446744073709551615")}, 3);
  check_third({start, open, changed(reserve, "\"charges\":[]", R"("charges":[{"kind":"pure","count":1}])")}, 3);
  check_third({start, open, changed(reserve, "\"charges\":[]", R"("charges":[{"kind":"sure","epsilon":1,"count":1}])")},
              3);
  check_third({start, open, reserve + ",\"more\":1"}, 3);
  check_third({start, open, changed(reserve, "\"client\":0,\"first\":0", "\"first\":0,\"client\":0")}, 3);
  check_third({start, changed(open, "record", "file")}, 2);
}

/// Rows about ranges of clients: what is none, and what no ledger of this format has.
TEST(LedgerDamageTest, RangesThatAreNoneAreRefused) {
  const auto start = [](int format) { return fmt::format(R"("kind":"ledger","format":{},"time":"")", format); };
  const auto open = [](const std::string& clients) {
    return R"("kind":"open","run":"r","time":"","version":"","mechanism":"","parameters":"","unit":"record",)"
           R"("batch":1,"batch_units":1,"determined_by":"","clients":)" +
           clients;
  };
  const auto reserve = [](const std::string& clients, const std::string& rounds = R"("first":0,"last":1)") {
    return fmt::format(R"("kind":"reserve","run":"r",{},{},"records":"","passes":[],"charges":[],"digest":"")", clients,
                       rounds);
  };
  const auto end = [](const std::string& clients) {
    return fmt::format(R"("kind":"end","run":"r",{},"time":"","rounds":1,"reason":"finished")", clients);
  };
  const std::string some = R"("client":3,"through":5)";
  const auto reading_of = [](const Lines& members) {
    const std::string text = sealed(members);
    return verify_ledger(text, head_of(text));
  };
  EXPECT_EQ(shown(reading_of({start(2), open("[[0,7],9,[11,2147483647]]"), reserve(some), end(some)}).damage), "whole");
  for (const auto& [list, reason] : {std::pair<std::string, std::string>{"[[5,3]]", "runs upwards"},
                                     {"[[3,3]]", "runs upwards"},
                                     {"[[0,4],[4,5]]", "do not ascend"},
                                     {"[[4,5],[0,2]]", "do not ascend"},
                                     {"[[0,4],3]", "do not ascend"},
                                     {"[[-1,4]]", "below 0"},
                                     {"[[0,2147483648]]", "not a whole number"},
                                     {"[[0,1,2]]", "no pair"},
                                     {"[[0]]", "no pair"},
                                     {"[[]]", "no pair"},
                                     {"[[0,\"1\"]]", "not a whole number"},
                                     {"[[[0,1],2]]", "not a whole number"},
                                     {"[]", "no client"}}) {
    const LedgerReading reading = reading_of({start(2), open(list)});
    expect_damage(reading, Kind::inconsistent, 2);
    EXPECT_THAT(shown(reading.damage), HasSubstr(reason));
  }
  for (const auto& [clients, reason] :
       {std::pair<std::string, std::string>{R"("client":5,"through":3)", "runs upwards"},
        {R"("client":5,"through":5)", "runs upwards"},
        {R"("client":5,"through":8)", "client 8 is none of run"},
        {R"("client":7,"through":9)", "client 8 is none of run"},
        {R"("client":-1,"through":3)", "client -1 is none of run"},
        {R"("client":0,"through":2147483648)", "not a whole number"},
        {R"("client":0,"through":1.5)", "not a whole number"},
        {R"("client":0,"through":1,"through":2)", ""},
        {R"("through":3,"client":0)", "'client' is not where"},
        {R"("client":0,"first":0,"through":3)", "'first' is not where"}}) {
    EXPECT_TRUE(reading_of({start(2), open("[[0,7],9]"), reserve(clients, R"("first":0,"last":1)")}).damage) << clients;
    const LedgerReading reading =
        reading_of({start(2), open("[[0,7],9]"), reserve(R"("client":0,"through":7)"), end(clients)});
    ASSERT_TRUE(reading.damage.has_value());
    EXPECT_EQ(reading.damage->line, 4);
    if (clients.find("first") == std::string::npos) {
      EXPECT_THAT(shown(reading.damage), HasSubstr(reason));
    }
  }
  // Overlaps: what one client has reserved, a range that holds it cannot reserve again.
  const LedgerReading twice =
      reading_of({start(2), open("[[0,7]]"), reserve(some), reserve(R"("client":0,"through":3)")});
  expect_damage(twice, Kind::inconsistent, 4);
  EXPECT_THAT(shown(twice.damage), HasSubstr("round 0 of client 3 is reserved already"));
  const LedgerReading gap = reading_of(
      {start(2), open("[[0,7]]"), reserve(some), reserve(R"("client":5,"through":6)", R"("first":2,"last":3)")});
  expect_damage(gap, Kind::inconsistent, 4);
  EXPECT_THAT(shown(gap.damage), HasSubstr("rounds 0 to 1 of client 6 would be left out"));
  const LedgerReading ended = reading_of({start(2), open("[[0,7]]"), reserve(some), end("\"client\":5"), end(some)});
  expect_damage(ended, Kind::inconsistent, 5);
  EXPECT_THAT(shown(ended.damage), HasSubstr("client 5 has ended"));
  for (const int format : {1, 3}) {
    const LedgerReading other = reading_of({start(format), open("[0]")});
    expect_damage(other, Kind::inconsistent, 1);
    EXPECT_THAT(shown(other.damage), HasSubstr("Use the version of starling that wrote the ledger."));
  }
}

// A billion clients are as many bytes as one.
TEST(LedgerDamageTest, ARowAboutHugeRangesIsSmall) {
  const std::string all = R"("client":0,"through":2147483647)";
  const std::string text =
      sealed({R"("kind":"ledger","format":2,"time":"")",
              R"("kind":"open","run":"r","time":"","version":"","mechanism":"","parameters":"","unit":"record",)"
              R"("batch":1,"batch_units":1,"determined_by":"","clients":[[0,2147483647]])",
              R"("kind":"reserve","run":"r",)" + all +
                  R"(,"first":0,"last":3,"records":"","passes":[{"pass":1,"kind":"pure","epsilon":0.5}],)"
                  R"("charges":[{"kind":"pure","epsilon":0.5,"count":4}],"digest":"")",
              R"("kind":"end","run":"r","client":2147483647,"time":"","rounds":2,"reason":"finished")",
              R"("kind":"end","run":"r","client":1000000000,"time":"","rounds":3,"reason":"finished")",
              R"("kind":"resume","run":"r","time":"","determined_by":"")",
              R"("kind":"end","run":"r",)" + all + R"(,"time":"","rounds":2,"reason":"finished")"});
  const LedgerReading reading = verify_ledger(text, head_of(text));
  EXPECT_EQ(shown(reading.damage), "whole");
  EXPECT_EQ(reading.book.cohorts(),
            (std::vector<ClientRange>{{0, 999999999}, 1000000000, {1000000001, 2147483646}, 2147483647}));
  const auto releases = [&](Client client) {
    return reading.book.spent(client, LossLevel::record_in_each_batch).at(0).count;
  };
  EXPECT_EQ(releases(0), 4);
  EXPECT_EQ(releases(1000000000), 3);
  EXPECT_EQ(releases(2147483646), 4);
  EXPECT_EQ(releases(2147483647), 2);
}

TEST(LedgerDamageTest, AMemberGivenTwiceIsNoRow) {
  const std::string text = sealed({R"("kind":"ledger","format":2,"time":"","format":2)"});
  expect_damage(verify_ledger(text, head_of(text)), Kind::edited, 1);
}

TEST(LedgerDamageTest, ADamagedLedgerIsNotOpenedAndNotChanged) {
  const TemporaryFolder folder;
  Lines lines = sample().lines;
  lines[2][100] = 'x';
  const std::string path = folder.write("ledger", joined(lines));
  folder.write("ledger.head", sample().head);
  const std::string message = message_of<DataError>([&] { return Ledger::open(path); });
  EXPECT_THAT(message, HasSubstr("line 3: edited"));
  EXPECT_EQ(text_of(path), joined(lines));
  EXPECT_EQ(text_of(path + ".head"), sample().head);
}

TEST(LedgerDamageTest, ALedgerThatIsGoneIsNotBegunAnew) {
  const TemporaryFolder folder;
  folder.write("ledger.head", sample().head);
  EXPECT_THROW(static_cast<void>(Ledger::open(folder / "ledger")), DataError);
  EXPECT_FALSE(std::filesystem::exists(folder / "ledger"));
  folder.write("ledger", "");
  EXPECT_THROW(static_cast<void>(Ledger::open(folder / "ledger")), DataError);
}

}  // namespace starling::ledger_damage_test
