// The library that ranks.cpp loads. MPI ends all processes where one of its functions fails.
#include <mpi.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include "remote/ranks/mpi.h"

namespace millrace::remote {
namespace {

constexpr std::size_t piece = std::size_t{1} << 26;  // MPI counts in int

/// MPI has no event to wait for, and its own waiting keeps a core busy. So it is asked, less and
/// less often: each pause is a small part of what it has waited.
void wait_for(MPI_Request& request) {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t part = 16, longest_ns = 1'000'000;
  constexpr std::chrono::microseconds soon{20};
  const Clock::time_point start = Clock::now();
  int is_done = 0;
  while (true) {
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    if (is_done != 0) return;
    const std::chrono::nanoseconds waited = Clock::now() - start;
    if (waited < soon) continue;
    const timespec pause{0, std::min<std::int64_t>(waited.count() / part, longest_ns)};
    ppoll(nullptr, 0, &pause, nullptr);
  }
}

int ranks() {
  int count = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  return count;
}

void begin(std::size_t& rank, std::size_t& count) {
  MPI_Init(nullptr, nullptr);
  int number = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  rank = static_cast<std::size_t>(number);
  count = static_cast<std::size_t>(ranks());
}

std::vector<std::uint64_t> sizes_of_all(std::uint64_t own) {
  std::vector<std::uint64_t> sizes(static_cast<std::size_t>(ranks()));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(&own, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD, &request);
  wait_for(request);
  return sizes;
}

/// What the ranks have from `begin` on, at most a piece of each, is added to theirs.
void gather_piece(std::string_view own, std::size_t begin, const std::vector<std::uint64_t>& sizes,
                  std::vector<std::string>& all) {
  std::vector<int> counts, places;
  int place = 0;
  for (const std::uint64_t size : sizes) {
    const auto count = std::min<std::uint64_t>(piece, size - std::min<std::uint64_t>(begin, size));
    counts.push_back(static_cast<int>(count));
    places.push_back(place);
    place += counts.back();
  }
  std::string bytes(static_cast<std::size_t>(place), '\0');
  const std::string_view mine = own.substr(std::min(begin, own.size()), piece);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgatherv(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, bytes.data(), counts.data(),
                  places.data(), MPI_BYTE, MPI_COMM_WORLD, &request);
  wait_for(request);
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    all[rank].append(bytes, static_cast<std::size_t>(places[rank]),
                     static_cast<std::size_t>(counts[rank]));
}

void gather(std::string_view own, void (*take)(void* to, std::string_view bytes), void* to) {
  const std::vector<std::uint64_t> sizes = sizes_of_all(own.size());
  const std::uint64_t most = *std::max_element(sizes.begin(), sizes.end());
  std::vector<std::string> all(sizes.size());
  for (std::size_t begin = 0; begin < most; begin += piece) gather_piece(own, begin, sizes, all);
  for (const std::string& bytes : all) take(to, bytes);
}

void end() { MPI_Finalize(); }

}  // namespace
}  // namespace millrace::remote

extern "C" __attribute__((visibility("default"))) const millrace::remote::Mpi* millrace_mpi() {
  static constexpr millrace::remote::Mpi mpi{millrace::remote::begin, millrace::remote::gather,
                                             millrace::remote::end};
  return &mpi;
}
