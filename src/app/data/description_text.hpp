/// The figures of a source as a table and as JSON.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/links.hpp"
#include "data/description/description.hpp"

namespace starling {

/// A source, with facts about the source beside its records.
struct DescribedSource {
  std::string source;
  std::vector<std::pair<std::string, std::string>> digests;  ///< file (or generator) and SHA-256
  bool replayable = false;
  std::optional<Client> clients;         ///< of sources with one file per client
  bool has_ids = false;                  ///< whether keys are ids, of which each should stand once
  std::vector<std::string> layout = {};  ///< notes on how its tables are read
  bool is_tuned = false;                 ///< whether only runs that standardise features by themselves are to read it
  Description figures;
};

/// Whether all labels are whole numbers, and not very many.
[[nodiscard]] bool are_whole(const Description& figures);

/// Classification losses that take the source's labels, as --loss wants them.
[[nodiscard]] std::vector<std::string> fitting_losses(const Description& figures);

/// A loss of classes whose labels must be named, and these labels, as --class-labels takes them.
struct NamedClasses {
  std::string loss;
  std::string labels;
};

/// The classes of two labels that no loss takes as they are, or of the labels 1 to K; none for other labels.
[[nodiscard]] std::optional<NamedClasses> classes_to_name(const Description& figures);

/// Notes on points that the owner of the source should check before a run.
[[nodiscard]] std::vector<std::string> notes_on(const DescribedSource& source);

[[nodiscard]] std::string to_text(const DescribedSource& source);
/// One object on one line.
[[nodiscard]] std::string to_json(const DescribedSource& source);

}  // namespace starling
