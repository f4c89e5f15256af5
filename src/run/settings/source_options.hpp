/// The options of every command that reads records, and the help on sources.
#pragma once

#include "data/serving/dataset.hpp"
#include "options/options.hpp"

namespace starling {

class Loss;

/// Adds --format, --label, … that say how a file's columns are found, and the options with public constants.
void add_column_options(Options& options, ReadSettings& settings);

/// Adds the options of a table of text: its columns, delimiter, decimals and header.
void add_table_options(Options& options, ReadSettings& settings);

/// Adds --format, --label, … to `options`; `settings` must outlive it.
void add_reading_options(Options& options, ReadSettings& settings);

/// Adds --missing-person, which the unit person alone takes.
void add_missing_person_option(Options& options, ReadSettings::MissingKey& rule);

/// Has labels be read as those of this loss, which must outlive the reading.
void read_labels_of(const Loss& loss, DataSettings& data);

/// Throws UsageError for --class-labels beside a loss that does not tell the classes −1 and 1 apart.
void check_class_labels(const ReadSettings& settings, bool two_classes, const std::string& loss);

/// Sources for help: files, pipes and every generator with its parameters.
[[nodiscard]] OptionValues source_values();

}  // namespace starling
