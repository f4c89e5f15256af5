/// The records of a run of `starling vertical`, and of its --test: opened at their owners, and put into one order.
#pragma once

#include <string>
#include <vector>

#include "methods/vertical/setting/vertical_setting.hpp"
#include "private_matching.hpp"

namespace starling {

class RunContext;

class VerticalRecords {
 public:
  /// Keeps references.
  VerticalRecords(RunContext& run, VerticalSetting& setting) : run_(run), setting_(setting), config_(setting.config) {}

  /// Reads the sources of this rank's parties. Rank-local.
  void open();
  /// Settles what all ranks must know of the records: shape, order and persons. **Collective.**
  void agree();
  /// As Method has it. Covers the held-out records too, as far as rank 0 has read them.
  [[nodiscard]] std::string digest_of_inputs(const std::string& of_all_methods) const;

 private:
  [[nodiscard]] VerticalDataset open_held_out();
  [[nodiscard]] std::vector<std::string> files_of_held_out() const;
  /// **Collective.**
  void agree_on_labels();
  void check_drops() const;
  void check_ids();
  void note_names();
  void match_records();
  void tell_of_own_rows();
  /// **Collective.**
  void agree_on_held_out();
  void match_held_out();
  void compare_held_out();
  [[nodiscard]] MatchingPlace matching_place();

  RunContext& run_;
  VerticalSetting& setting_;
  VerticalConfig& config_;
};

}  // namespace starling
