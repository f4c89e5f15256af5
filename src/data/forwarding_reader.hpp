/// Base of readers that change the records of another reader.
#pragma once

#include <memory>
#include <utility>

#include "data/source.hpp"

namespace starling {

/// A reader that answers as another one does. Derived classes override what they change.
class ForwardingReader : public RecordReader {
 public:
  explicit ForwardingReader(std::unique_ptr<RecordReader> reader) : reader_(std::move(reader)) {}

  [[nodiscard]] bool next(Record& record) override { return reader_->next(record); }
  [[nodiscard]] bool next_label(Record& record) override { return reader_->next_label(record); }
  [[nodiscard]] std::size_t features() const override { return reader_->features(); }
  [[nodiscard]] bool sparse() const override { return reader_->sparse(); }
  [[nodiscard]] std::vector<std::string> names() const override { return reader_->names(); }
  [[nodiscard]] std::string label_name() const override { return reader_->label_name(); }
  [[nodiscard]] PublicConstants constants() const override { return reader_->constants(); }
  [[nodiscard]] std::string where() const override { return reader_->where(); }
  [[nodiscard]] Mark mark() const override { return reader_->mark(); }
  void seek(const Mark& mark) override { reader_->seek(mark); }
  [[nodiscard]] std::optional<std::int64_t> records() const override { return reader_->records(); }

 protected:
  std::unique_ptr<RecordReader> reader_;
};

}  // namespace starling
