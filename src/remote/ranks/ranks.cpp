#include "remote/ranks/ranks.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "product/setup.h"
#include "remote/ranks/mpi.h"

namespace millrace::remote {
namespace {

/// What a message is, by its first letter.
constexpr char value = 'v', wrong_input = 'i', failed = 'f', ended = 'e';

/// How many processes the starter of this one says that there are; 1: it says nothing. Open MPI,
/// MPICH and Slurm.
int ranks_by_environment() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const char* const text = std::getenv(name)) return std::max(1, std::atoi(text));
  return 1;
}

const Mpi& load_mpi(int count) {
  // Global: MPI loads parts of itself, which look for it there.
  void* const library = dlopen(mpi_library, RTLD_NOW | RTLD_GLOBAL);
  using Entry = const Mpi* (*)();
  const auto entry =
      library == nullptr ? nullptr : reinterpret_cast<Entry>(dlsym(library, "millrace_mpi"));
  if (entry != nullptr) return *entry();
  const char* const reason = dlerror();
  throw InputError(
      "MPI", fmt::format("{} processes were started, but this build cannot connect them ({}); "
                         "start one, or build Millrace where MPI's headers are "
                         "(libopenmpi-dev)",
                         count, reason == nullptr ? "no function millrace_mpi" : reason));
}

/// The words of the command, and what computes: all that must be the same.
std::string command_here() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string words{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name = words.find('\0');
  words.erase(0, name == std::string::npos ? words.size() : name);
  return words + '\0' + MILLRACE_VERSION + ' ' + product::architecture_of({});
}

std::string host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

class MpiRanks final : public Ranks {
 public:
  explicit MpiRanks(const Mpi& mpi) : mpi_(mpi) { mpi_.begin(rank_, count_); }
  ~MpiRanks() override { mpi_.end(); }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  std::size_t rank() const override { return rank_; }
  std::size_t count() const override { return count_; }

  std::vector<std::string> exchange(const std::string& own) override {
    ++exchanges_;
    std::vector<std::string> all = gather(value + own);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const char kind = all[rank].front();
      all[rank].erase(0, 1);
      if (kind == value) continue;
      has_ended_ = true;
      if (rank_ > 0) throw RanksReleased();  // the first one says it
      if (kind == wrong_input) throw InputError("", all[rank]);
      throw EngineError(all[rank]);
    }
    return all;
  }

  /// For the first one. Whether there was anything to share.
  bool release() {
    if (!has_ended_) gather(std::string(1, ended));
    has_ended_ = true;
    return exchanges_ > 1;
  }

  /// What this rank has come upon ends all of them.
  void fail(char kind, const char* text) {
    if (has_ended_) return;
    has_ended_ = true;
    gather(kind + fmt::format("rank {} on {}: {}", rank_, host(), text));
  }

 private:
  std::vector<std::string> gather(const std::string& own) {
    std::vector<std::string> all;
    mpi_.gather(
        own,
        [](void* to, std::string_view bytes) {
          static_cast<std::vector<std::string>*>(to)->emplace_back(bytes);
        },
        &all);
    return all;
  }

  const Mpi& mpi_;
  std::size_t rank_ = 0, count_ = 1;
  std::size_t exchanges_ = 0;
  bool has_ended_ = false;  // no other rank waits for this one
};

int run_first(MpiRanks& ranks, const Context& context, const std::function<int()>& work) {
  const int exit_code = work();
  if (!ranks.release())
    context.note(
        fmt::format("rank 0 of {} did all of it: ranks share nothing of this work", ranks.count()));
  return exit_code;
}

int run_follower(MpiRanks& ranks, const std::function<int()>& work) {
  try {
    work();
    wait_for_first(&ranks);
  } catch (const RanksReleased&) {
  }
  return 0;
}

/// Only the first one is heard; a signal ends the others at once.
void set_up(Context& context, MpiRanks& ranks) {
  context.ranks = &ranks;
  if (!is_follower(&ranks)) return;
  context.listener = nullptr;
  context.interrupt = nullptr;
}

}  // namespace

int on_all_ranks(Context& context, const std::function<int()>& work) {
  const int count = ranks_by_environment();
  if (count < 2) return work();
  MpiRanks ranks(load_mpi(count));
  set_up(context, ranks);
  try {
    check_same(&ranks, "its command, version or architecture is", command_here());
    return is_follower(&ranks) ? run_follower(ranks, work) : run_first(ranks, context, work);
  } catch (const InputError& error) {
    ranks.fail(wrong_input, error.what());
    if (!is_follower(&ranks)) throw;
  } catch (const std::exception& error) {
    ranks.fail(failed, error.what());
    if (!is_follower(&ranks)) throw;
  }
  return 0;
}

}  // namespace millrace::remote
