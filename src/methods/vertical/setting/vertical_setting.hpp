/// The settings, columns and records of one run of `starling vertical`, once its ranks agree on them. Client 0 is the
/// fusion centre or the dealer, client k is party k.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "loss/target_loss.hpp"
#include "run/inputs/rank_key.hpp"
#include "vertical_config.hpp"

namespace starling {

class RunInputs;

/// Records and networks of a run of vertical learning, once they are settled.
struct VerticalSetting {
  VerticalConfig& config;
  const RunInputs& inputs;
  std::unique_ptr<TargetLoss> loss = nullptr;
  VerticalDataset data = {};
  std::optional<VerticalDataset> held_out = {};  ///< of --test
  std::optional<RankKey> rank_key = {};          ///< under which ranks compare digests of records
  VerticalArchitecture architecture = {};
  bool starts_from_parts = false;  ///< that are not in one file

  /// Parties of this rank: the number of the first, from 0, and their count.
  [[nodiscard]] std::size_t first_party() const;
  [[nodiscard]] std::size_t party_count() const;
  /// The records, with labels where this rank knows them.
  [[nodiscard]] VerticalDataset open_source(bool first_rank) const;
  [[nodiscard]] bool knows_labels(bool first_rank) const;
  /// On shares: whether parties standardise their columns, which nothing else does.
  [[nodiscard]] bool standardises() const { return config.has_own_units() && !data.is_public; }
  /// On shares: the places in a hosted party's rows of the columns that are numbers. Others are 0 or 1 by what the
  /// column's text is, or whether it is missing.
  [[nodiscard]] std::vector<std::size_t> numbers(std::size_t hosted) const;
  /// On shares: the party with the labels, from 0. It is the first, unless --label-source is another's file.
  [[nodiscard]] std::size_t labels_at() const;
  /// Matched in private: the party with the labels of such records, from 0.
  [[nodiscard]] std::size_t labels_at(const VerticalSettings& settings) const;
  /// Puts records that were opened again into the order in which they were matched in private.
  void take_matched(VerticalDataset& again) const;
  [[nodiscard]] bool hosts(std::size_t party) const {
    return party >= first_party() && party < first_party() + party_count();
  }
};

}  // namespace starling
