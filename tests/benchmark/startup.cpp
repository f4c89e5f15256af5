/// An MPI program that does nothing: what starting and ending one takes. Rank 0 says on stderr when all have started.
#include <cstdio>

#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::fputs("started\n", stderr);
  MPI_Finalize();
  return 0;
}
