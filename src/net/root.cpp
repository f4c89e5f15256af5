#include "starling/net/root.hpp"

#include "state.hpp"

namespace starling {

Columns Root::gather(const Released<Columns>& block) {
  World::State& state = world_.state();
  const std::size_t rows = block.value().rows();
  std::vector<int> counts;
  std::vector<int> offsets;
  for (int r = 0; r < layout_.ranks(); ++r) {
    counts.push_back(static_cast<int>(rows) * layout_.count(r));
    offsets.push_back(static_cast<int>(rows) * layout_.first(r));
  }
  Columns all(rows, state.rank == 0 ? static_cast<std::size_t>(layout_.clients()) : 0);
  const View own = block.value().flat();
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Igatherv(own.data(), static_cast<int>(own.size()), MPI_DOUBLE, all.flat().data(), counts.data(), offsets.data(),
               MPI_DOUBLE, 0, state.agreement, &request);
  state.wait_collective(request, "aggregation");
  return all;
}

void Root::broadcast(Released<Vector>& value) {
  World::State& state = world_.state();
  value.update([&](Vector& numbers) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE, 0, state.agreement, &request);
    state.wait_collective(request, "broadcast of the aggregate");
  });
}

}  // namespace starling
