// Checkpoints as bytes. The first byte of an input chooses what the others are: "0" a file, "1" a state, "2" a state
// that is put into a file of which one bit is turned, "3" two states, one after the other, whose rows are divided
// among other clients.
#include "output/checkpoints/checkpoint.hpp"

#include <map>
#include <optional>
#include <vector>

#include "core/check.hpp"
#include "core/snapshot.hpp"
#include "target.hpp"

namespace {

using namespace starling;

/// Something of every kind that can be kept.
struct Everything {
  bool flag = false;
  double number = 0;
  std::string text;
  Vector vector;
  std::vector<std::string> texts;
  std::optional<std::vector<std::int64_t>> some;
  std::map<int, Vector> map;
  Columns columns;
  Secret<Vector> secret;
  Released<Vector> released = declare_public(Vector());
  void persist(Snapshot& snapshot) {
    snapshot(flag, number, text, vector, texts, some, map);
    snapshot.of_clients(columns, secret);
    snapshot.sums(count, number);
    snapshot(released);
    snapshot.by_client(texts, [](const std::string& each) { return static_cast<Client>(each.size()); });
    snapshot.of_first_rank(flag, text);
    snapshot.of_group(vector);
  }
  std::int64_t count = 0;
};

std::string text_of(const Secret<std::string>& secret) {
  std::string copy;
  Secret<std::string>(secret).update([&](const std::string& text) { copy = text; });
  return copy;
}

void read_file(std::string_view bytes) {
  const CheckpointFile file = read_checkpoint(bytes);
  fuzz::require(bytes.ends_with(text_of(file.state)), "a state that is not in the file");
}

void read_state(std::string_view bytes) {
  Snapshot reading{Secret<std::string>(std::string(bytes))};
  if (reading.group().count > 4) return;  // whoever reads knows how many clients there are
  Everything all;
  reading(all);
  reading.require_end();
  Snapshot writing(reading.group());
  writing(all);
  Snapshot again(writing.content());
  Everything same;
  again(same);
  again.require_end();
}

void turn_a_bit(std::string_view bytes) {
  if (bytes.size() < 2) return;
  const std::size_t place = static_cast<unsigned char>(bytes[0]) * 256U + static_cast<unsigned char>(bytes[1]);
  const std::string state(bytes.substr(2));
  std::string file = text_of(write_checkpoint({{"build", "run", 0, 1, 0, 1}, 5, Secret<std::string>(state)}));
  fuzz::require(text_of(read_checkpoint(file).state) == state, "a state that is another when it is read");
  const std::size_t bit = place % (8 * file.size());
  file[bit / 8] = static_cast<char>(file[bit / 8] ^ (1 << (bit % 8)));
  bool refused = false;
  try {
    static_cast<void>(read_checkpoint(file));
  } catch (const DataError&) {
    refused = true;
  }
  fuzz::require(refused, "a checkpoint with a bit turned was taken");
}

/// What is made of two states can be divided once more.
void divide_states(std::string_view bytes) {
  const std::size_t half = bytes.size() / 2;
  const Secret<std::string> first{std::string(bytes.substr(0, half))};
  const Secret<std::string> second{std::string(bytes.substr(half))};
  const ClientGroup all{0, 4};
  const ClientGroup none{0, 0};
  static_cast<void>(rows_of({rows_of({first, second}, {0, 1}), rows_of({first, second}, {1, 3})}, all));
  static_cast<void>(rows_of({first}, none));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.empty()) return -1;
  const std::size_t kind = fuzz::choose(bytes, 4);
  fuzz::answers([&] {
    if (kind == 0) read_file(bytes);
    if (kind == 1) read_state(bytes);
    if (kind == 2) turn_a_bit(bytes);
    if (kind == 3) divide_states(bytes);
  });
  return 0;
}
