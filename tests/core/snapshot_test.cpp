#include "core/snapshot.hpp"

#include <limits>

#include "core/check.hpp"
#include "core/round_set.hpp"
#include "support/testing.hpp"

namespace starling::snapshot_test {

using namespace testing_support;

enum class Colour { red, green };

/// Something of every kind.
struct Everything {
  bool flag = false;
  double number = 0;
  Colour colour = Colour::red;
  std::string text;
  Vector vector;
  std::vector<std::string> texts;
  std::array<std::int64_t, 2> pair{};
  std::optional<double> some;
  std::optional<double> none = 3;
  std::map<int, Vector> map;
  Columns columns;
  Secret<Vector> secret;
  Released<Vector> released = declare_public(Vector());
  std::vector<Secret<double>> secrets;
  RoundSet rounds;
  void persist(Snapshot& snapshot) {
    snapshot(flag, number, colour, text, vector, texts, pair, some, none, map, columns, secret, released, secrets,
             rounds);
  }
};

Everything example() {
  Everything all;
  all.flag = true;
  all.number = -0.0;
  all.colour = Colour::green;
  all.text = std::string("a\0b", 3);
  all.vector = {1, std::numeric_limits<double>::infinity(), 5e-324};
  all.texts = {"", "two"};
  all.pair = {-1, 1};
  all.some = 2;
  all.none.reset();
  all.map = {{3, {1, 2}}, {5, {}}};
  all.columns = Columns(2, 3);
  all.columns[2][1] = 7;
  all.secret = Secret<Vector>({4, 5});
  all.released = declare_public(Vector{6});
  all.secrets.assign(2, Secret<double>(8));
  all.rounds.add(1);
  all.rounds.add(2);
  all.rounds.add(9);
  return all;
}

TEST(Snapshot, GivesBackWhatItWasGiven) {
  Everything before = example();
  Snapshot writing;
  writing.part("all");
  writing(before);
  Snapshot reading(writing.content());
  Everything after;
  reading.part("all");
  reading(after);
  reading.require_end();
  EXPECT_TRUE(after.flag);
  EXPECT_TRUE(std::signbit(after.number));
  EXPECT_EQ(after.colour, Colour::green);
  EXPECT_EQ(after.text, before.text);
  EXPECT_EQ(after.vector, before.vector);
  EXPECT_EQ(after.texts, before.texts);
  EXPECT_EQ(after.pair, before.pair);
  EXPECT_EQ(after.some, before.some);
  EXPECT_FALSE(after.none);
  EXPECT_EQ(after.map, before.map);
  EXPECT_EQ(after.columns.rows(), 2U);
  EXPECT_EQ(after.columns[2][1], 7);
  after.secret.update([](const Vector& value) { EXPECT_EQ(value, (Vector{4, 5})); });
  EXPECT_EQ(after.released.value(), Vector{6});
  ASSERT_EQ(after.secrets.size(), 2U);
  after.secrets[1].update([](double value) { EXPECT_EQ(value, 8); });
  EXPECT_EQ(after.rounds, before.rounds);
}

TEST(Snapshot, ReadsNothingThatIsNotThere) {
  Everything all = example();
  Snapshot writing;
  writing(all);
  Secret<std::string> content = writing.content();
  std::size_t size = 0;
  content.update([&](const std::string& text) { size = text.size(); });
  // Whatever is cut off or changed, it is read as something else or refused, and never beyond its end.
  for (std::size_t cut = 0; cut < size; ++cut) {
    Snapshot reading(content.map([cut](const std::string& text) { return text.substr(0, cut); }));
    Everything read;
    EXPECT_THROW(reading(read), DataError) << cut;
  }
  for (std::size_t byte = 0; byte < size; ++byte) {
    Snapshot reading(content.map([byte](std::string text) {
      text[byte] = static_cast<char>(~text[byte]);
      return text;
    }));
    Everything read;
    try {
      reading(read);
    } catch (const DataError&) {
    }
  }
}

TEST(Snapshot, SaysWhatItMisses) {
  Snapshot writing;
  writing.part("one");
  Snapshot reading(writing.content());
  EXPECT_ERROR(DataError, "part 'one' where 'two' was expected", reading.part("two"));
  Snapshot again(writing.content());
  EXPECT_ERROR(DataError, "20 bytes are left", again.require_end());
}

}  // namespace starling::snapshot_test
