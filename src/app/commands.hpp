/// The commands of the program; each takes the words after its name and returns the exit code.
#pragma once

#include <string>
#include <vector>

namespace starling {

/// Dispatches to a command; reports errors on stderr. argv as main got it.
int run_program(const std::vector<std::string>& argv);

/// `command_line` is kept in the results; `speaks` says whether this process prints texts that all ranks would.
int run_omd(const std::vector<std::string>& words, const std::string& command_line, bool speaks);
int run_renewable(const std::vector<std::string>& words, const std::string& command_line, bool speaks);
int run_infer(const std::vector<std::string>& words, const std::string& command_line, bool speaks);
int run_fedavg(const std::vector<std::string>& words, const std::string& command_line, bool speaks);
int run_vertical(const std::vector<std::string>& words, const std::string& command_line, bool speaks);
int run_doctor(const std::vector<std::string>& words, bool speaks);
int run_topology(const std::vector<std::string>& words);
int run_data(const std::vector<std::string>& words, const std::string& command_line, bool speaks);
/// Under mpirun only the process that speaks does anything.
int run_report(const std::vector<std::string>& words, bool speaks);
/// Under mpirun only the process that speaks does anything.
int run_privacy(const std::vector<std::string>& words, bool speaks);

}  // namespace starling
