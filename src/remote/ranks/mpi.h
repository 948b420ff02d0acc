#pragma once
// MPI, in a library of its own: the command needs none where it works alone.
#include <cstddef>
#include <string_view>

namespace millrace::remote {

/// What libmillrace_mpi.so exports as millrace_mpi(). The process begins once, and ends once.
struct Mpi {
  /// Says which rank this process is, and of how many.
  void (*begin)(std::size_t& rank, std::size_t& count);
  /// Gives each rank's bytes to `take`, in the order of ranks, when all have come. Sleeps
  /// meanwhile: another rank may be measuring on this machine.
  void (*gather)(std::string_view own, void (*take)(void* to, std::string_view bytes), void* to);
  void (*end)();
};

inline constexpr const char* mpi_library = "libmillrace_mpi.so";

}  // namespace millrace::remote
