#include "starling/net/agreement.hpp"

#include "state.hpp"
#include <cstring>
#include <exception>

#include "starling/core/numerics/kernels.hpp"

namespace starling {

namespace {

/// Where each rank's part begins in the joined whole, and the whole's length.
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

/// The joined whole, taken apart again.
std::vector<Vector> parts_of(const Vector& joined, const std::vector<int>& lengths) {
  std::vector<Vector> parts;
  parts.reserve(lengths.size());
  auto next = joined.begin();
  for (const int length : lengths) {
    parts.emplace_back(next, next + length);
    next += length;
  }
  return parts;
}

constexpr auto bytes_of_numbers = static_cast<std::int64_t>(sizeof(double));

}  // namespace

void Agreement::together(const std::function<void()>& step) {
  World::State& state = world_.state();
  std::exception_ptr own;
  int code = 0;
  std::string message;
  try {
    step();
  } catch (const StepAbandoned&) {
    // Who has failed says so below.
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
  std::vector<int> codes(static_cast<std::size_t>(state.size));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(&code, 1, MPI_INT, codes.data(), 1, MPI_INT, state.agreement, &request);
  state.wait_collective(request, "validation");
  for (int r = 0; r < state.size; ++r) {
    const int theirs = codes[static_cast<std::size_t>(r)];
    if (theirs == 0) continue;
    state.failed = static_cast<ExitCode>(theirs);
    if (r == state.rank) std::rethrow_exception(own);
    throw PeerError(static_cast<ExitCode>(theirs), fmt::format("rank {} failed in validation", r));
  }
}

void Agreement::same(const std::string& what, const Public<std::string>& value) {
  const std::vector<std::string> all = all_gather(value);
  together([&] {
    for (std::size_t r = 1; r < all.size(); ++r) {
      check(all[r] == all[0],
            "the {} of rank {} differs from that of rank 0 (all ranks must run the same job) start every rank with the "
            "same options and files",
            what, r);
    }
  });
}

std::string Agreement::broadcast(const Public<std::string>& text) {
  World::State& state = world_.state();
  std::int64_t length = static_cast<std::int64_t>(text.value().size());
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(&length, 1, MPI_INT64_T, 0, state.agreement, &request);
  state.wait_collective(request, "broadcast");
  std::string result = text.value();
  result.resize(static_cast<std::size_t>(length));
  MPI_Ibcast(result.data(), static_cast<int>(length), MPI_CHAR, 0, state.agreement, &request);
  state.wait_collective(request, "broadcast");
  return result;
}

std::vector<std::string> Agreement::all_gather(const Public<std::string>& text) {
  World::State& state = world_.state();
  const int length = static_cast<int>(text.value().size());
  std::vector<int> lengths(static_cast<std::size_t>(state.size));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, state.agreement, &request);
  state.wait_collective(request, "gathering");
  const auto [offsets, total] = offsets_of(lengths);
  std::string joined(static_cast<std::size_t>(total), '\0');
  MPI_Iallgatherv(text.value().data(), length, MPI_CHAR, joined.data(), lengths.data(), offsets.data(), MPI_CHAR,
                  state.agreement, &request);
  state.wait_collective(request, "gathering");
  state.agreement_bytes += length;
  std::vector<std::string> result;
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    result.push_back(joined.substr(static_cast<std::size_t>(offsets[r]), static_cast<std::size_t>(lengths[r])));
  }
  return result;
}

std::vector<Vector> Agreement::all_gather(const Released<Vector>& numbers) {
  World::State& state = world_.state();
  const int length = static_cast<int>(numbers.value().size());
  std::vector<int> lengths(static_cast<std::size_t>(state.size));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, state.agreement, &request);
  state.wait_collective(request, "gathering");
  const auto [offsets, total] = offsets_of(lengths);
  Vector joined(static_cast<std::size_t>(total));
  MPI_Iallgatherv(numbers.value().data(), length, MPI_DOUBLE, joined.data(), lengths.data(), offsets.data(), MPI_DOUBLE,
                  state.agreement, &request);
  state.wait_collective(request, "gathering");
  if (state.size > 1) state.agreement_bytes += bytes_of_numbers * length;
  return parts_of(joined, lengths);
}

std::vector<Vector> Agreement::exchange(const std::vector<Released<Vector>>& parts) {
  World::State& state = world_.state();
  std::vector<int> lengths;
  Vector outgoing;
  for (const Released<Vector>& part : parts) {
    lengths.push_back(static_cast<int>(part.value().size()));
    outgoing.insert(outgoing.end(), part.value().begin(), part.value().end());
  }
  std::vector<int> theirs(lengths.size());
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ialltoall(lengths.data(), 1, MPI_INT, theirs.data(), 1, MPI_INT, state.agreement, &request);
  state.wait_collective(request, "exchanging");
  const auto [from, sent] = offsets_of(lengths);
  const auto [to, received] = offsets_of(theirs);
  Vector joined(static_cast<std::size_t>(received));
  MPI_Ialltoallv(outgoing.data(), lengths.data(), from.data(), MPI_DOUBLE, joined.data(), theirs.data(), to.data(),
                 MPI_DOUBLE, state.agreement, &request);
  state.wait_collective(request, "exchanging");
  state.agreement_bytes += bytes_of_numbers * (sent - lengths[static_cast<std::size_t>(state.rank)]);
  return parts_of(joined, theirs);
}

std::vector<Vector> Agreement::gather(const Released<Vector>& numbers) {
  World::State& state = world_.state();
  const int length = static_cast<int>(numbers.value().size());
  const std::size_t ranks = state.rank == 0 ? static_cast<std::size_t>(state.size) : 0;
  std::vector<int> lengths(ranks);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Igather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, state.agreement, &request);
  state.wait_collective(request, "gathering");
  const auto [offsets, total] = offsets_of(lengths);
  Vector joined(static_cast<std::size_t>(total));
  MPI_Igatherv(numbers.value().data(), length, MPI_DOUBLE, joined.data(), lengths.data(), offsets.data(), MPI_DOUBLE, 0,
               state.agreement, &request);
  state.wait_collective(request, "gathering");
  if (state.rank != 0) state.agreement_bytes += static_cast<std::int64_t>(sizeof(double)) * length;
  std::vector<Vector> result;
  for (std::size_t r = 0; r < ranks; ++r) {
    result.emplace_back(joined.begin() + offsets[r], joined.begin() + offsets[r] + lengths[r]);
  }
  return result;
}

Vector Agreement::ordered_sum(const Released<Columns>& columns) {
  World::State& state = world_.state();
  const Columns& own = columns.value();
  Vector total(own.rows(), 0.0);
  const int length = static_cast<int>(own.rows());
  MPI_Request request = MPI_REQUEST_NULL;
  if (state.rank > 0) {
    MPI_Irecv(total.data(), length, MPI_DOUBLE, state.rank - 1, 0, state.agreement, &request);
    state.wait_collective(request, "adding up");
  }
  for (std::size_t k = 0; k < own.size(); ++k) axpy(1, own[k], total);
  if (state.rank + 1 < state.size) {
    MPI_Isend(total.data(), length, MPI_DOUBLE, state.rank + 1, 0, state.agreement, &request);
    state.wait_collective(request, "adding up");
    state.agreement_bytes += static_cast<std::int64_t>(sizeof(double)) * length;
  }
  MPI_Ibcast(total.data(), length, MPI_DOUBLE, state.size - 1, state.agreement, &request);
  state.wait_collective(request, "adding up");
  return total;
}

void Agreement::barrier() {
  World::State& state = world_.state();
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
  report.numbers = numbers.value();
  MPI_Isend(report.numbers.data(), static_cast<int>(report.numbers.size()), MPI_DOUBLE, 0, 0, state.reports,
            &report.request);
  state.agreement_bytes += static_cast<std::int64_t>(report.numbers.size() * sizeof(double));
}

std::optional<std::vector<Vector>> Agreement::collect(const std::vector<int>& ranks, bool wait) {
  World::State& state = world_.state();
  PatienceClock clock;
  while (true) {
    int arrived = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, state.reports, &arrived, &status);
    if (arrived != 0) {
      int count = 0;
      MPI_Get_count(&status, MPI_DOUBLE, &count);
      Vector numbers(static_cast<std::size_t>(count));
      MPI_Recv(numbers.data(), count, MPI_DOUBLE, status.MPI_SOURCE, 0, state.reports, MPI_STATUS_IGNORE);
      state.received_reports[status.MPI_SOURCE].push_back(std::move(numbers));
      continue;
    }
    bool complete = true;
    for (const int r : ranks) complete = complete && !state.received_reports[r].empty();
    if (complete) break;
    if (!wait) return std::nullopt;
    state.poll();
    check<FailureError>(clock.seconds() <= state.watchdog,
                        "a rank's report did not come within {} s (it is silent) see whether all ranks still run",
                        state.watchdog);
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
