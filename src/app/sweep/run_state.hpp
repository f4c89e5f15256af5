/// How far a run of a sweep has come, by its directory.
#pragma once

#include <string>

#include "sweep_spec.hpp"

namespace starling {

enum class SweepState {
  missing,   ///< nothing is there
  finished,  ///< all its rounds, or all that its budget allowed
  begun,     ///< `--resume` goes on with it: releases that were made are neither made nor charged again
  broken,    ///< killed before its first round, or of a kind that cannot be resumed
  busy,      ///< a process works on it
};

/// Throws UsageError if the directory OUTPUT/NAME holds a run with other options, or another thing.
[[nodiscard]] SweepState state_of(const std::string& output, const SweepRun& run);

/// Notes the options of a run that is to start, beside its directory.
void note_options(const std::string& output, const SweepRun& run);
/// Where the i-th thing goes, from 1, that a broken run left at this place.
[[nodiscard]] std::string place_aside(const std::string& run, int i);
/// Moves what a broken run has left aside, and returns where to.
std::string put_aside(const std::string& output, const SweepRun& run);

}  // namespace starling
