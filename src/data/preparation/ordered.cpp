// Features in the order of a saved model, or of all clients of a run.
#include <algorithm>
#include <utility>

#include "core/check.hpp"
#include "data/column_roles.hpp"
#include "data/formats/readers.hpp"
#include "data/forwarding_reader.hpp"

namespace starling {

namespace {

class OrderedReader final : public ForwardingReader {
 public:
  /// `places` are those of the features in `reader`.
  OrderedReader(std::unique_ptr<RecordReader> reader, std::vector<std::string> names, std::vector<std::size_t> places)
      : ForwardingReader(std::move(reader)), names_(std::move(names)), places_(std::move(places)) {}

  bool next(Record& record) override {
    if (!reader_->next(record)) return false;
    values_.clear();
    for (const std::size_t place : places_) values_.push_back(record.values[place]);
    std::swap(record.values, values_);
    return true;
  }

  [[nodiscard]] std::size_t features() const override { return places_.size(); }
  [[nodiscard]] std::vector<std::string> names() const override { return names_; }
  [[nodiscard]] PublicConstants constants() const override {
    PublicConstants constants = reader_->constants();
    constants.columns = names_;
    for (CategoryColumn& table : constants.categories) {
      if (!table.one_hot) continue;
      const auto place = std::find(places_.begin(), places_.end(), *table.one_hot);
      table.one_hot = static_cast<std::size_t>(place - places_.begin());
    }
    return constants;
  }

 private:
  std::vector<std::string> names_;
  std::vector<std::size_t> places_;
  Vector values_;  // of the record at hand; its storage is reused
};

}  // namespace

std::unique_ptr<RecordReader> order_features(std::unique_ptr<RecordReader> reader, const ReadSettings& settings) {
  const PublicConstants* const constants = settings.constants.get();
  if (constants != nullptr && constants->features == 0) return reader;
  check<DataError>(constants == nullptr || reader->features() > 0, "no features: the model takes {}. Check the file.",
                   constants == nullptr ? 0 : constants->features);
  check<DataError>(
      constants == nullptr || reader->sparse() || reader->features() == constants->features,
      "{} features, where the model takes {}. Give the columns that it was learned from, or name the others "
      "by --drop, --id and --label.",
      reader->features(), constants == nullptr ? 0 : constants->features);
  const std::vector<std::string>& wanted = constants != nullptr ? constants->columns : settings.columns;
  const std::vector<std::string> names = reader->names();
  if (names.empty() || wanted.empty() || names == wanted) return reader;
  std::vector<std::size_t> places = places_of(wanted, names);
  return std::make_unique<OrderedReader>(std::move(reader), wanted, std::move(places));
}

}  // namespace starling
