/// The options of every command that reads records, and the help on sources.
#pragma once

#include "data/settings.hpp"
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

/// Throws UsageError for --class-labels that are not those of `loss`, as messages call it, whose classes have so many
/// `scores`: 1 for the classes −1 and 1, 0 for no classes.
void check_class_labels(const ReadSettings& settings, std::size_t scores, const std::string& loss);
/// The same of a model whose loss is `--loss spec`; `own`: its users wrote it, and it names classes itself.
void check_class_labels(const ReadSettings& settings, const Loss& loss, const std::string& spec, bool own = false);

/// Sources for help: files, pipes and every generator with its parameters.
[[nodiscard]] OptionValues source_values();

}  // namespace starling
