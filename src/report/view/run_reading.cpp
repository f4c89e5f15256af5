#include "report/view/run_reading.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <new>
#include <numeric>
#include <sstream>

#include "core/text/exact_number.hpp"
#include "files/text.hpp"
#include "files/text_files.hpp"
#include "hdf5/file.hpp"

namespace starling {

namespace {

namespace fs = std::filesystem;
using hdf5::File;
using hdf5::Handle;

constexpr std::size_t longest_attribute = std::size_t{1} << 24U;

/// Runs `action` on a file of the run; whatever HDF5 cannot make of it is bad data.
template <class Action>
auto reading(const std::string& path, Action&& action) {
  const auto damaged = [&](const std::string& why) {
    return DataError(
        fmt::format("cannot read '{}', which is missing, damaged or of another program: {}. Restore it.", path, why));
  };
  std::error_code ignored;
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) throw damaged("it is no regular file");
  try {
    const File file(path, File::Mode::read);
    return action(file);
  } catch (const FailureError& error) {
    throw damaged(error.what());
  } catch (const std::bad_alloc&) {
    throw damaged("sizes beyond memory");
  } catch (const std::length_error&) {
    throw damaged("sizes beyond memory");
  }
}

/// An attribute of the file if it is a text.
std::optional<std::string> text_attribute(const File& file, const std::string& name) {
  if (H5Aexists(file.id(), name.c_str()) <= 0) return std::nullopt;
  const Handle attribute(H5Aopen(file.id(), name.c_str(), H5P_DEFAULT), H5Aclose, name);
  const Handle type(H5Aget_type(attribute), H5Tclose, name);
  const std::size_t size = H5Tget_size(type);
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0 || size > longest_attribute) return std::nullopt;
  std::string text(size, '\0');
  hdf5::require(H5Aread(attribute, type, text.data()), name);
  return text.substr(0, text.find('\0'));
}

/// Clients and coordinates, also of a run that does not keep its final models.
hdf5::Sizes sizes_of_models(const File& file) {
  if (!file.has("/final_model")) {
    hdf5::Sizes sizes;
    for (const char* name : {"clients", "dimension"}) {
      const std::string text = text_attribute(file, name).value_or("");
      const auto size = exact_number<hsize_t>(text);
      check<FailureError>(size.has_value(), "there is neither '/final_model' nor a number '{}'", name);
      sizes.push_back(*size);
    }
    return sizes;
  }
  const Handle set(H5Dopen2(file.id(), "/final_model", H5P_DEFAULT), H5Dclose, "'/final_model'");
  const Handle space(H5Dget_space(set), H5Sclose, "'/final_model'");
  hdf5::Sizes sizes(2, 0);
  check<FailureError>(H5Sget_simple_extent_ndims(space) == 2, "'/final_model' is not a matrix");
  H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
  return sizes;
}

std::vector<Client> clients_in(const File& file, const std::string& name) {
  std::vector<Client> clients;
  for (const std::int64_t u : file.read<std::int64_t>(name).second) {
    clients.push_back(static_cast<Client>(u));
  }
  return clients;
}

/// The records that every rank's file holds: the shortest of the files' lists of rounds, which begin alike.
std::vector<Round> rounds_of_all(const std::string& run) {
  std::optional<std::vector<Round>> shortest;
  std::size_t clients = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run + "/clients", error)) {
    if (entry.path().extension() != ".h5") continue;
    reading(entry.path().string(), [&](const File& file) {
      auto rounds = file.read<std::int64_t>("/rounds").second;
      clients += file.read<std::int64_t>("/clients").second.size();
      if (!shortest || rounds.size() < shortest->size()) shortest = std::move(rounds);
    });
  }
  // HDF5 shows zeros for the parts of a file that is missing.
  check<DataError>(clients == static_cast<std::size_t>(read_notes(run).clients) && shortest,
                   "the files '{}/clients/*.h5' are those of {} clients and run.h5 is that of {}: some are missing, of "
                   "another run, or until the run stops on hosts that do not see it. Restore them.",
                   run, clients, read_notes(run).clients);
  return *shortest;
}

}  // namespace

std::string RunNotes::text(const std::string& attribute) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? "" : found->second;
}

std::optional<double> RunNotes::number(const std::string& attribute) const {
  const std::string value = text(attribute);
  if (value.empty()) return std::nullopt;
  const auto number = exact_number<double>(value);
  check<DataError>(number.has_value(), "attribute {} = '{}' of run.h5: a number is expected. Restore the file.",
                   attribute, value);
  return number;
}

RunNotes read_notes(const std::string& run) {
  return reading(run + "/run.h5", [](const File& file) {
    RunNotes notes;
    for (const char* name : {"command", "command_line", "task", "rounds_planned", "started", "epsilon_per_release",
                             "noise_key", "run_id", "aggregated"}) {
      if (auto value = text_attribute(file, name)) notes.attributes.emplace(name, std::move(*value));
    }
    const hdf5::Sizes sizes = sizes_of_models(file);
    notes.clients = static_cast<Client>(std::min<hsize_t>(sizes[0], std::numeric_limits<Client>::max()));
    notes.dimension = sizes[1];
    notes.shares_losses = file.has("/loss") || text_attribute(file, "shares_losses").has_value();
    return notes;
  });
}

RecordedModels read_models(const std::string& run) {
  std::vector<Round> rounds = rounds_of_all(run);
  return reading(run + "/run.h5", [&](const File& file) {
    RecordedModels models;
    models.clients = clients_in(file, "/recorded_clients");
    models.rounds = std::move(rounds);
    if (models.clients.empty()) return models;
    auto [sizes, values] = file.read<double>("/model");
    check<FailureError>(sizes.size() == 3 && sizes[1] == models.clients.size(),
                        "'/model' is not records x clients x d");
    models.dimension = sizes[2];
    models.values = std::move(values);
    models.rounds.resize(std::min(models.rounds.size(), static_cast<std::size_t>(sizes[0])));
    models.values.resize(models.rounds.size() * models.clients.size() * models.dimension);
    return models;
  });
}

NetworkRecords read_network(const std::string& run) {
  std::vector<Round> rounds = rounds_of_all(run);
  const auto clients = static_cast<std::size_t>(read_notes(run).clients);
  return reading(run + "/run.h5", [&](const File& file) {
    NetworkRecords records;
    if (!file.has("/presence") || !file.has("/mass")) return records;
    const auto [sizes, masses] = file.read<double>("/mass");
    const auto presences = file.read<double>("/presence").second;
    check<FailureError>(sizes.size() == 2 && presences.size() == masses.size(),
                        "'/mass' and '/presence' are not both records x clients");
    records.clients = clients;
    records.listed = clients_in(file, file.has("/listed_clients") ? "/listed_clients" : "/recorded_clients");
    if (sizes[1] == records.clients) {
      records.listed.resize(records.clients);
      std::iota(records.listed.begin(), records.listed.end(), 0);
    }
    check<FailureError>(sizes[1] == records.listed.size(), "'/mass' is not records x listed clients");
    records.rounds = std::move(rounds);
    records.rounds.resize(std::min(records.rounds.size(), static_cast<std::size_t>(sizes[0])));
    const std::size_t count = records.rounds.size() * records.listed.size();
    records.masses.assign(masses.begin(), masses.begin() + static_cast<long>(count));
    records.presences.assign(presences.begin(), presences.begin() + static_cast<long>(count));
    return records;
  });
}

Round last_recorded_round(const std::string& run) {
  const std::vector<Round> rounds = rounds_of_all(run);
  return rounds.empty() ? 0 : rounds.back();
}

std::map<std::string, std::string> read_configuration(const std::string& run) {
  std::istringstream lines(read_text(run + "/config.ini"));
  std::map<std::string, std::string> values;
  for (std::string line; std::getline(lines, line);) {
    line = trimmed(std::string_view(line).substr(0, line.find('#')));
    const auto equals = line.find('=');
    if (equals != std::string::npos)
      values[std::string(trimmed(line.substr(0, equals)))] = trimmed(line.substr(equals + 1));
  }
  return values;
}

}  // namespace starling
