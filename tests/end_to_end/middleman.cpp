// Somebody on the network between ranks: a library to preload that changes one message of one rank, and notes what is
// sent.
//
// MIDDLEMAN="RANK ACTION NUMBER FILE [SIZE]": message NUMBER (from 0) that rank RANK sends between two ranks, of those
// with SIZE bytes if this is given, is altered. FILE.done is made when it was. ACTION is flip (a bit), cut (the last
// byte), repeat (the message before comes in its place), replace (by the last to another rank or of another kind), swap
// (with the next to the same rank), drop, or note: nothing is altered, and FILE.RANK holds all bytes that ranks send.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <mpi.h>

namespace {

using Bytes = std::vector<char>;

struct Order {
  int rank = -1;
  std::string action;
  long number = 0;
  std::string file;
  std::size_t size = 0;

  Order() {
    if (const char* const text = std::getenv("MIDDLEMAN"))
      std::istringstream(text) >> rank >> action >> number >> file >> size;
  }
};

struct Held {
  Bytes bytes;
  int to;
  int tag;
  MPI_Comm comm;
};

const Order order;
long sent = 0;
std::list<Bytes> kept;  // MPI may read them until the end
std::map<std::pair<int, int>, Bytes> last;
std::vector<Held> held;

int own_rank() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

void note(const void* place, std::size_t size) {
  const std::string name = order.file + "." + std::to_string(own_rank());
  if (std::FILE* const file = std::fopen(name.c_str(), "ab")) {
    std::fwrite(place, 1, size, file);
    std::fclose(file);
  }
}

std::size_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}

void done() {
  if (std::FILE* const file = std::fopen((order.file + ".done").c_str(), "w")) std::fclose(file);
}

using Send = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

int pass(Send send, const Bytes& bytes, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  kept.push_back(bytes);
  return send(kept.back().data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, comm, request);
}

int on_its_way(Send send, const void* place, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  if (order.rank < 0) return send(place, count, type, to, tag, comm, request);
  const std::size_t size = bytes_of(count, type);
  if (order.action == "note") note(place, size);
  const bool is_other = own_rank() != order.rank || (order.size != 0 && size != order.size);
  if (order.action == "note" || is_other) return send(place, count, type, to, tag, comm, request);
  Bytes bytes(static_cast<const char*>(place), static_cast<const char*>(place) + size);
  const std::pair stream(to, tag);
  if (!held.empty() && held.front().to == to && held.front().tag == tag && held.front().comm == comm) {
    const int code = pass(send, bytes, to, tag, comm, request);
    MPI_Request other = MPI_REQUEST_NULL;
    pass(send, held.front().bytes, to, tag, comm, &other);
    held.clear();
    done();
    return code;
  }
  const bool now = sent++ == order.number;
  const Bytes before = last.count(stream) != 0 ? last[stream] : Bytes(size, 0);
  Bytes other;
  for (const auto& [of_stream, message] : last) {
    if (of_stream != stream) other = message;
  }
  last[stream] = bytes;
  if (!now) return send(place, count, type, to, tag, comm, request);
  *request = MPI_REQUEST_NULL;
  if (order.action == "swap") {
    held.push_back({bytes, to, tag, comm});
    return MPI_SUCCESS;
  }
  done();
  if (order.action == "drop") return MPI_SUCCESS;
  if (order.action == "flip" && size > 0) bytes[static_cast<std::size_t>(order.number) % size] ^= 4;
  if (order.action == "cut" && size > 0) bytes.pop_back();
  if (order.action == "repeat") bytes = before;
  if (order.action == "replace") bytes = other.empty() ? Bytes(size, 0) : other;
  return pass(send, bytes, to, tag, comm, request);
}

}  // namespace

extern "C" {

int MPI_Isend(const void* place, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  return on_its_way(PMPI_Isend, place, count, type, to, tag, comm, request);
}

int MPI_Issend(const void* place, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  return on_its_way(PMPI_Issend, place, count, type, to, tag, comm, request);
}

int MPI_Iallgatherv(const void* place, int count, MPI_Datatype type, void* all, const int counts[], const int offsets[],
                    MPI_Datatype of_all, MPI_Comm comm, MPI_Request* request) {
  if (order.action == "note") note(place, bytes_of(count, type));
  return PMPI_Iallgatherv(place, count, type, all, counts, offsets, of_all, comm, request);
}

int MPI_Ibcast(void* place, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  if (order.action == "note" && own_rank() == root) note(place, bytes_of(count, type));
  return PMPI_Ibcast(place, count, type, root, comm, request);
}
}
