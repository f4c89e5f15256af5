/// Tables whose columns are split among parties. Other modules call open_vertical.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/passes.hpp"
#include "data/vertical/vertical.hpp"

namespace starling {

/// Columns or labels of one file's records, in the file's order.
struct StoredRows {
  std::string file;  ///< for messages
  std::size_t width = 1;
  Secret<Vector> values{};           ///< records × width, row after row
  std::vector<std::string> ids{};    ///< of each record, where records are aligned by them
  std::vector<std::size_t> order{};  ///< the row that each record of the common order stands in; empty: its own
};

/// Sets `rows.order` to the common order. Throws DataError for another number of ids and for ids that do not match.
void align_rows(StoredRows& rows, std::span<const std::uint64_t> order);

/// Stream of tables in memory.
class TableStream final : public VerticalStream {
 public:
  /// `labels` has the targets, or width 0 where this rank does not know them; `by_id` if rows must be aligned first.
  TableStream(std::vector<StoredRows> parts, StoredRows labels, const VerticalSettings& settings, std::int64_t records,
              bool by_id);
  void load(Round t) override;
  [[nodiscard]] std::int64_t participations() const override { return passes_.participations(); }
  void align(std::span<const std::uint64_t> order) override;
  void settle(const VerticalShape& joined) override;
  std::int64_t group(std::span<const std::int64_t> persons, std::size_t places) override;
  [[nodiscard]] const std::vector<std::string>& ids(std::size_t k) const override { return parts_[k].ids; }
  std::optional<Round> match(std::vector<std::vector<std::size_t>> rows, std::optional<std::size_t> labels_of) override;
  [[nodiscard]] Secret<Vector> matched_targets() const override;
  void take_targets(const Secret<Vector>& targets) override;

 private:
  std::vector<StoredRows> parts_;  // of each hosted party
  StoredRows labels_;
  Batching batching_;
  Passes passes_;
  std::int64_t records_;
  std::vector<std::size_t> places_;  ///< with persons: the record in each place, or `no_record`
  std::size_t places_of_person_ = 1;
  bool by_id_;
  bool aligned_ = false;
};

[[nodiscard]] VerticalDataset open_common_table(VerticalSettings settings, std::size_t parties, std::size_t first,
                                                std::size_t count, bool targets_known);
[[nodiscard]] VerticalDataset open_party_files(const VerticalSettings& settings, std::size_t parties, std::size_t first,
                                               std::size_t count, bool targets_known);

}  // namespace starling
