#include "net/agreement.hpp"

#include <cstring>
#include <exception>

#include "core/numerics/kernels.hpp"
#include "net/sealed_parts.hpp"
#include "state.hpp"

namespace starling {

namespace {

/// Offset of each rank's part in the joined whole, and the length of the whole.
std::pair<std::vector<int>, int> offsets_of(const std::vector<int>& lengths) {
  std::vector<int> offsets;
  offsets.reserve(lengths.size());
  int total = 0;
  for (const int length : lengths) {
    offsets.push_back(total);
    total += length;
  }
  return {offsets, total};
}

template <class Part>
using Values = std::vector<typename Part::value_type>;

/// The parts of a joined whole.
template <class Part>
std::vector<Part> parts_of(const Values<Part>& joined, const std::vector<int>& lengths) {
  std::vector<Part> parts;
  parts.reserve(lengths.size());
  auto next = joined.begin();
  for (const int length : lengths) {
    parts.emplace_back(next, next + length);
    next += length;
  }
  return parts;
}

/// The MPI type of a part's elements.
MPI_Datatype element_type(const std::string&) {
  return MPI_CHAR;
}
MPI_Datatype element_type(const std::vector<std::int64_t>&) {
  return MPI_INT64_T;
}
MPI_Datatype element_type(const Vector&) {
  return MPI_DOUBLE;
}

template <class Part>
std::span<const std::byte> bytes_in(const Part& part) {
  return std::as_bytes(std::span(part.data(), part.size()));
}

/// The parts of the ranks by which they have come.
template <class Part>
std::vector<Part> parts_in(const std::vector<BytesOfRank>& bytes) {
  std::vector<Part> parts;
  parts.reserve(bytes.size());
  for (const BytesOfRank& each : bytes) parts.push_back(part_from<Part>(each));
  return parts;
}

/// The ranks that get what is gathered.
enum class Receivers { all, first };

/// Every rank's part, in rank order; nothing on a rank that receives nothing.
template <class Part>
std::vector<Part> parts_sealed(World::State& state, const Part& own, Receivers receivers = Receivers::all) {
  const std::vector<int> all = all_ranks(state);
  const bool receives = receivers == Receivers::all || state.rank == 0;
  const auto came = gather_parts(state, bytes_in(own), receivers == Receivers::all ? all : std::vector{0},
                                 receives ? all : std::vector<int>(), "gathering");
  return receives ? parts_in<Part>(came) : std::vector<Part>();
}

/// Likewise.
template <class Part>
std::vector<Part> parts_of_ranks(World::State& state, const Part& own, Receivers receivers) {
  const bool to_all = receivers == Receivers::all;
  if (to_all ? state.size > 1 : state.rank != 0) {
    state.agreement_bytes += static_cast<std::int64_t>(sizeof(typename Part::value_type) * own.size());
  }
  if (state.seal) return parts_sealed(state, own, receivers);
  const int length = static_cast<int>(own.size());
  std::vector<int> own_length{length};
  std::vector<int> lengths(to_all || state.rank == 0 ? static_cast<std::size_t>(state.size) : 0);
  MPI_Request request = MPI_REQUEST_NULL;
  to_all ? MPI_Iallgather(own_length.data(), 1, MPI_INT, lengths.data(), 1, MPI_INT, state.agreement, &request)
         : MPI_Igather(own_length.data(), 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, state.agreement, &request);
  state.wait_collective(request, "gathering", own_length, lengths);
  auto [offsets, total] = offsets_of(lengths);
  Values<Part> joined(static_cast<std::size_t>(total));
  Values<Part> copy;
  const MPI_Datatype type = element_type(own);
  const auto* const sent = state.sent_from(own, copy);
  to_all ? MPI_Iallgatherv(sent, length, type, joined.data(), lengths.data(), offsets.data(), type, state.agreement,
                           &request)
         : MPI_Igatherv(sent, length, type, joined.data(), lengths.data(), offsets.data(), type, 0, state.agreement,
                        &request);
  state.wait_collective(request, "gathering", copy, joined, lengths, offsets);
  return parts_of<Part>(joined, lengths);
}

std::int64_t reduced(World::State& state, std::int64_t own, MPI_Op operation) {
  if (state.seal) {
    const auto parts = parts_sealed(state, std::vector<std::int64_t>{own});
    std::int64_t result = own;
    for (int r = 0; r < state.size; ++r) {
      if (r == state.rank) continue;
      const std::int64_t other = parts[static_cast<std::size_t>(r)].at(0);
      result = operation == MPI_MAX   ? std::max(result, other)
               : operation == MPI_MIN ? std::min(result, other)
                                      : result + other;
    }
    return result;
  }
  std::vector<std::int64_t> sent{own};
  std::vector<std::int64_t> result{0};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(sent.data(), result.data(), 1, MPI_INT64_T, operation, state.agreement, &request);
  state.wait_collective(request, "agreement", sent, result);
  return result[0];
}

/// Rank 0's elements, in place.
template <class Element>
void spread(World::State& state, std::vector<Element>& elements, int root = 0) {
  if (state.seal) {
    const std::vector<int> receivers = state.rank == root ? all_ranks(state) : std::vector<int>();
    const auto came = gather_parts(state, bytes_in(elements), receivers, {root}, "broadcast");
    elements = part_from<std::vector<Element>>(came[static_cast<std::size_t>(root)]);
    return;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(elements.data(), static_cast<int>(elements.size() * sizeof(Element)), MPI_BYTE, 0, state.agreement,
             &request);
  state.wait_collective(request, "broadcast", elements);
}

constexpr auto bytes_of_numbers = static_cast<std::int64_t>(sizeof(double));

/// The exit codes of a step that all ranks have taken.
std::vector<int> codes_of_all(World::State& state, int code) {
  if (state.seal) {
    std::vector<int> codes;
    for (const std::vector<int>& each : parts_sealed(state, std::vector<int>{code})) codes.push_back(each.at(0));
    return codes;
  }
  std::vector<int> own_code{code};
  std::vector<int> codes(static_cast<std::size_t>(state.size));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(own_code.data(), 1, MPI_INT, codes.data(), 1, MPI_INT, state.agreement, &request);
  state.wait_collective(request, "validation", own_code, codes);
  return codes;
}

}  // namespace

void Agreement::together(const std::function<void()>& step) {
  World::State& state = world_.state();
  std::exception_ptr own;
  int code = 0;
  std::string message;
  try {
    step();
  } catch (const StepAbandoned&) {
    // The rank that failed says so below.
  } catch (const PeerError&) {
    throw;  // already known to all
  } catch (const Error& error) {
    own = std::current_exception();
    code = static_cast<int>(error.code());
    message = error.what();
  } catch (const std::exception& error) {
    own = std::current_exception();
    code = static_cast<int>(ExitCode::failure);
    message = error.what();
  }
  if (own) {
    for (int r = 0; r < state.size; ++r) {
      if (r != state.rank) state.send_notice(r, Notice{.kind = NoticeKind::step_failed});
    }
  }
  const std::vector<int> codes = codes_of_all(state, code);
  for (int r = 0; r < state.size; ++r) {
    const int theirs = codes[static_cast<std::size_t>(r)];
    if (theirs == 0) continue;
    state.failed = static_cast<ExitCode>(theirs);
    if (r == state.rank) std::rethrow_exception(own);
    throw PeerError(static_cast<ExitCode>(theirs), fmt::format("rank {} failed in validation", r));
  }
}

void Agreement::same(const std::string& what, const Public<std::string>& value) {
  const bool differs = broadcast(value) != value.value();
  const std::int64_t first = min(declare_public(static_cast<std::int64_t>(differs ? rank() : ranks())));
  together([&] {
    check(first == ranks(),
          "the {} of rank {} differs from that of rank 0: all ranks must run the same job. Start every rank with the "
          "same options and files.",
          what, first);
  });
}

bool Agreement::alike(const Public<std::string>& value) {
  return all(declare_public(broadcast(value) == value.value()));
}

bool Agreement::any(const Public<bool>& value) {
  return reduced(world_.state(), value.value() ? 1 : 0, MPI_MAX) == 1;
}

bool Agreement::all(const Public<bool>& value) {
  return reduced(world_.state(), value.value() ? 1 : 0, MPI_MIN) == 1;
}

std::int64_t Agreement::min(const Public<std::int64_t>& value) {
  return reduced(world_.state(), value.value(), MPI_MIN);
}

std::int64_t Agreement::max(const Public<std::int64_t>& value) {
  return reduced(world_.state(), value.value(), MPI_MAX);
}

std::int64_t Agreement::sum(const Public<std::int64_t>& value) {
  return reduced(world_.state(), value.value(), MPI_SUM);
}

bool Agreement::broadcast(const Public<bool>& value) {
  std::vector<std::int64_t> number{value.value() ? 1 : 0};
  spread(world_.state(), number);
  return number[0] == 1;
}

double Agreement::broadcast(const Public<double>& value) {
  std::vector<double> number{value.value()};
  spread(world_.state(), number);
  return number[0];
}

std::string Agreement::broadcast(const Public<std::string>& text) {
  std::vector<std::size_t> length{text.value().size()};
  spread(world_.state(), length);
  std::vector<char> result(text.value().begin(), text.value().end());
  result.resize(length[0]);
  spread(world_.state(), result);
  return {result.begin(), result.end()};
}

std::vector<std::string> Agreement::all_gather(const Public<std::string>& text) {
  return parts_of_ranks(world_.state(), text.value(), Receivers::all);
}

std::vector<std::vector<std::int64_t>> Agreement::all_gather(const Public<std::vector<std::int64_t>>& numbers) {
  return parts_of_ranks(world_.state(), numbers.value(), Receivers::all);
}

std::vector<Vector> Agreement::all_gather(const Released<Vector>& numbers) {
  return parts_of_ranks(world_.state(), numbers.value(), Receivers::all);
}

std::vector<Vector> Agreement::exchange(const std::vector<Released<Vector>>& parts) {
  World::State& state = world_.state();
  if (state.seal) {
    const std::vector<int> all = all_ranks(state);
    std::vector<std::span<const std::byte>> to;
    for (const Released<Vector>& part : parts) {
      to.push_back(bytes_in(part.value()));
      state.agreement_bytes += static_cast<std::int64_t>(to.back().size());
    }
    state.agreement_bytes -= static_cast<std::int64_t>(to[static_cast<std::size_t>(state.rank)].size());
    return parts_in<Vector>(swap_parts(state, all, to, all, "exchanging"));
  }
  std::vector<int> lengths;
  Vector outgoing;
  for (const Released<Vector>& part : parts) {
    lengths.push_back(static_cast<int>(part.value().size()));
    outgoing.insert(outgoing.end(), part.value().begin(), part.value().end());
  }
  std::vector<int> theirs(lengths.size());
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ialltoall(lengths.data(), 1, MPI_INT, theirs.data(), 1, MPI_INT, state.agreement, &request);
  state.wait_collective(request, "exchanging", lengths, theirs);
  auto [from, sent] = offsets_of(lengths);
  auto [to, received] = offsets_of(theirs);
  Vector joined(static_cast<std::size_t>(received));
  MPI_Ialltoallv(outgoing.data(), lengths.data(), from.data(), MPI_DOUBLE, joined.data(), theirs.data(), to.data(),
                 MPI_DOUBLE, state.agreement, &request);
  state.wait_collective(request, "exchanging", outgoing, joined, lengths, theirs, from, to);
  state.agreement_bytes += bytes_of_numbers * (sent - lengths[static_cast<std::size_t>(state.rank)]);
  return parts_of<Vector>(joined, theirs);
}

std::vector<Vector> Agreement::gather(const Released<Vector>& numbers) {
  return parts_of_ranks(world_.state(), numbers.value(), Receivers::first);
}

std::vector<std::string> Agreement::gather(const Released<std::string>& text) {
  return parts_of_ranks(world_.state(), text.value(), Receivers::first);
}

Vector Agreement::ordered_sum(const Released<Columns>& columns) {
  World::State& state = world_.state();
  const Columns& own = columns.value();
  Vector total(own.rows(), 0.0);
  const int length = static_cast<int>(own.rows());
  MPI_Request request = MPI_REQUEST_NULL;
  if (state.seal) {
    if (state.rank > 0) {
      const auto came = gather_parts(state, {}, {}, {state.rank - 1}, "adding up");
      total = part_from<Vector>(came[static_cast<std::size_t>(state.rank - 1)]);
    }
    for (std::size_t k = 0; k < own.size(); ++k) axpy(1, own[k], total);
    if (state.rank + 1 < state.size) {
      static_cast<void>(gather_parts(state, bytes_in(total), {state.rank + 1}, {}, "adding up"));
      state.agreement_bytes += static_cast<std::int64_t>(sizeof(double)) * length;
    }
    spread(state, total, state.size - 1);
    return total;
  }
  if (state.rank > 0) {
    MPI_Irecv(total.data(), length, MPI_DOUBLE, state.rank - 1, 0, state.agreement, &request);
    state.wait_collective(request, "adding up", total);
  }
  for (std::size_t k = 0; k < own.size(); ++k) axpy(1, own[k], total);
  if (state.rank + 1 < state.size) {
    MPI_Isend(total.data(), length, MPI_DOUBLE, state.rank + 1, 0, state.agreement, &request);
    state.wait_collective(request, "adding up", total);
    state.agreement_bytes += static_cast<std::int64_t>(sizeof(double)) * length;
  }
  MPI_Ibcast(total.data(), length, MPI_DOUBLE, state.size - 1, state.agreement, &request);
  state.wait_collective(request, "adding up", total);
  return total;
}

void Agreement::barrier() {
  World::State& state = world_.state();
  if (state.seal) return static_cast<void>(parts_sealed(state, std::string()));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(state.agreement, &request);
  state.wait_collective(request, "barrier");
}

void Agreement::report(const Released<Vector>& numbers) {
  World::State& state = world_.state();
  if (state.rank == 0) {
    state.received_reports[0].push_back(numbers.value());
    return;
  }
  drop_delivered(state.sent_reports);
  World::State::Report& report = state.sent_reports.emplace_back();
  if (state.seal) {
    report.sealed = state.seal->closed(MessageKind::report, 0, 0, bytes_in(numbers.value()));
    MPI_Isend(report.sealed.data(), static_cast<int>(report.sealed.size()), MPI_BYTE, 0, 0, state.reports,
              &report.request);
  } else {
    report.numbers = numbers.value();
    MPI_Isend(report.numbers.data(), static_cast<int>(report.numbers.size()), MPI_DOUBLE, 0, 0, state.reports,
              &report.request);
  }
  state.agreement_bytes += static_cast<std::int64_t>(numbers.value().size() * sizeof(double));
}

namespace {

/// A report that has come.
Vector taken_report(World::State& state, MPI_Status& status) {
  int count = 0;
  if (state.seal) {
    MPI_Get_count(&status, MPI_BYTE, &count);
    std::vector<std::byte> way(static_cast<std::size_t>(count));
    MPI_Recv(way.data(), count, MPI_BYTE, status.MPI_SOURCE, 0, state.reports, MPI_STATUS_IGNORE);
    return part_from<Vector>(state.seal->opened(MessageKind::report, status.MPI_SOURCE, 0, way));
  }
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  Vector numbers(static_cast<std::size_t>(count));
  MPI_Recv(numbers.data(), count, MPI_DOUBLE, status.MPI_SOURCE, 0, state.reports, MPI_STATUS_IGNORE);
  return numbers;
}

}  // namespace

std::optional<std::vector<Vector>> Agreement::collect(const std::vector<int>& ranks, bool wait) {
  World::State& state = world_.state();
  PatienceClock clock;
  while (true) {
    int arrived = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, state.reports, &arrived, &status);
    if (arrived != 0) {
      state.received_reports[status.MPI_SOURCE].push_back(taken_report(state, status));
      continue;
    }
    const auto missing =
        std::find_if(ranks.begin(), ranks.end(), [&](int r) { return state.received_reports[r].empty(); });
    if (missing == ranks.end()) break;
    if (!wait) return std::nullopt;
    state.poll();
    check<FailureError>(clock.seconds() <= state.watchdog,
                        "the report of rank {} did not come within {} s: it is silent. See whether it still runs.",
                        *missing, state.watchdog);
    clock.rest();
  }
  std::vector<Vector> result;
  for (const int r : ranks) {
    result.push_back(std::move(state.received_reports[r].front()));
    state.received_reports[r].pop_front();
  }
  return result;
}

std::int64_t Agreement::bytes() const {
  return world_.state().agreement_bytes;
}

}  // namespace starling
