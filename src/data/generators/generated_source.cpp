#include "data/generators/generated_source.hpp"

#include <utility>

#include "core/check.hpp"

namespace starling {

namespace {

class GeneratedReader final : public RecordReader {
 public:
  GeneratedReader(std::shared_ptr<const Generator> generator, std::string name, std::uint64_t seed, Client client,
                  std::int64_t batch, std::int64_t records)
      : generator_(std::move(generator)),
        name_(std::move(name)),
        seed_(seed),
        client_(client),
        batch_(batch),
        records_(records),
        random_(address(0)) {}

  bool next(Record& record) override {
    if (next_ == records_) return false;
    record.sparse = false;
    record.index.clear();
    record.values.resize(generator_->features());
    draw(record);
    return true;
  }
  [[nodiscard]] std::size_t features() const override { return generator_->features(); }
  [[nodiscard]] std::vector<std::string> names() const override { return generator_->names(); }
  [[nodiscard]] std::string where() const override { return fmt::format("{}: record {}", name_, next_); }
  [[nodiscard]] Mark mark() const override { return {static_cast<std::uint64_t>(next_), next_}; }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return records_; }

  void seek(const Mark& mark) override {
    Record skipped;
    skipped.values.resize(generator_->features());
    const auto to = static_cast<std::int64_t>(mark.offset);
    next_ = to - to % batch_;
    while (next_ < to) draw(skipped);
  }

 private:
  /// Random numbers of round t, counted from 0. Generators count rounds from 1.
  [[nodiscard]] AddressedRandom address(std::int64_t t) const {
    return {seed_, Purpose::data, static_cast<std::uint64_t>(client_), static_cast<std::uint64_t>(t + 1)};
  }
  void draw(Record& record) {
    const std::int64_t t = next_ / batch_;
    if (next_ % batch_ == 0) random_ = address(t);
    record.label = generator_->draw(t + 1, client_, random_, record.values);
    ++next_;
  }

  std::shared_ptr<const Generator> generator_;
  std::string name_;
  std::uint64_t seed_;
  Client client_;
  std::int64_t batch_;
  std::int64_t records_;
  AddressedRandom random_;
  std::int64_t next_ = 0;
};

}  // namespace

std::unique_ptr<RecordReader> open_generated(std::shared_ptr<const Generator> generator, std::string name,
                                             std::uint64_t seed, Client client, std::int64_t batch,
                                             std::int64_t records) {
  return std::make_unique<GeneratedReader>(std::move(generator), std::move(name), seed, client, batch, records);
}

}  // namespace starling
