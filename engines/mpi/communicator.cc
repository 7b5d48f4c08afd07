#include "engines/mpi/communicator.h"

#include <cstdlib>

#include <mpi.h>

#include "base/error.h"

namespace gradwire::engines {
namespace {

/// MPI's own way, which is kept, is to end all ranks where a call fails; a return code is a
/// broken invariant.
void check(int code) {
  GRADWIRE_ASSERT(code == MPI_SUCCESS);
}

int size_of(MPI_Comm communicator) {
  int size = 0;
  check(MPI_Comm_size(communicator, &size));
  return size;
}

int ranks_of_this_machine() {
  MPI_Comm machine = MPI_COMM_NULL;
  check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
  const int size = size_of(machine);
  check(MPI_Comm_free(&machine));
  return size;
}

}  // namespace

Communicator::Communicator(int* argc, char*** argv) {
  int provided = 0;  // other threads run, but never call MPI
  check(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided));
  if (provided < MPI_THREAD_FUNNELED)
    throw Error(ErrorKind::kCapability, "run a sweep with", "this MPI", "it allows no threads",
                "use Open MPI 4.1 or later");
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_));
  size_ = size_of(MPI_COMM_WORLD);
  neighbours_ = ranks_of_this_machine();
}

Communicator::~Communicator() {
  MPI_Finalize();
}

void Communicator::send(int rank, Tag tag, const std::string& text) {
  check(MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, rank, static_cast<int>(tag),
                 MPI_COMM_WORLD));
}

std::optional<Message> Communicator::receive() {
  int there = 0;
  MPI_Status status;
  check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status));
  if (there == 0) return std::nullopt;
  int size = 0;
  check(MPI_Get_count(&status, MPI_CHAR, &size));
  Message message{status.MPI_SOURCE, static_cast<Tag>(status.MPI_TAG),
                  std::string(static_cast<std::size_t>(size), '\0')};
  check(MPI_Recv(message.text.data(), size, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  return message;
}

void Communicator::abort() {
  MPI_Abort(MPI_COMM_WORLD, exit_code(ErrorKind::kFailure));
  std::abort();
}

}  // namespace gradwire::engines
