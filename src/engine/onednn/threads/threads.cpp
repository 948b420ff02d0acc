#include "engine/onednn/threads/threads.h"

#include <dlfcn.h>
#include <sched.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace millrace::engine::onednn {
namespace {

/// Entry points of the runtime that oneDNN itself is linked with. Looked up instead of linked: a
/// compiler may bring another runtime of its own, and setting that one's threads would do nothing.
struct Runtime {
  using Work = void (*)(void*);
  int (*get_threads)() = nullptr;
  void (*set_threads)(int) = nullptr;
  int (*thread_number)() = nullptr;
  void (*parallel)(Work, void*, unsigned, unsigned) = nullptr;
  int (*pause)(int) = nullptr;

  bool known() const { return get_threads && set_threads; }
};

template <class Function>
void look_up(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

const Runtime& runtime() {
  static const Runtime found = [] {
    Runtime r;
    look_up(r.get_threads, "omp_get_max_threads");
    look_up(r.set_threads, "omp_set_num_threads");
    look_up(r.thread_number, "omp_get_thread_num");
    look_up(r.parallel, "GOMP_parallel");
    look_up(r.pause, "omp_pause_resource_all");
    return r;
  }();
  return found;
}

/// Denormal operands cost up to a hundred times the time of others and mean nothing here. Set
/// always, so that sequential and pipelined runs agree.
unsigned flush_denormals() {
#if defined(__x86_64__)
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040u);
  return before;
#else
  return 0;
#endif
}

/// What happened meanwhile, such as an operation that gave NaN, stays noted.
void restore_float_control([[maybe_unused]] unsigned before) {
#if defined(__x86_64__)
  constexpr unsigned happened = 0x3f;
  _mm_setcsr(before | (_mm_getcsr() & happened));
#endif
}

/// Runs on every thread of the team; the caller has pinned itself.
void prepare_helper(void* argument) {
  const auto number = static_cast<std::size_t>(runtime().thread_number());
  const auto& cores = *static_cast<const std::vector<int>*>(argument);
  if (number == 0 || number >= cores.size()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (const int core = cores[number]; core >= 0 && core < CPU_SETSIZE) CPU_SET(core, &set);
  // A core that this process may not use is the caller's mistake and was reported when it pinned
  // itself; the helpers then stay where they are.
  static_cast<void>(sched_setaffinity(0, sizeof set, &set));
  flush_denormals();
}

/// The runtime keeps helper threads from one parallel region to the next, with the binding of
/// their first; so they are bound anew when the cores change.
thread_local std::vector<int> bound;

void bind_helpers(const std::vector<int>& cores) {
  if (cores.size() < 2 || !runtime().parallel || !runtime().thread_number || bound == cores) return;
  runtime().parallel(prepare_helper, const_cast<std::vector<int>*>(&cores),
                     static_cast<unsigned>(cores.size()), 0);
  bound = cores;
}

}  // namespace

ThreadScope::ThreadScope(const std::vector<int>& cores) {
  float_control_before_ = flush_denormals();
  if (!runtime().known()) return;
  threads_before_ = runtime().get_threads();
  runtime().set_threads(static_cast<int>(cores.size()));
  bind_helpers(cores);
}

ThreadScope::~ThreadScope() {
  restore_float_control(float_control_before_);
  if (threads_before_ > 0) runtime().set_threads(threads_before_);
}

void end_helpers() {
  constexpr int keeping_what_is_set = 1;  // omp_pause_soft
  if (runtime().pause) runtime().pause(keeping_what_is_set);
  bound.clear();
}

const char* thread_runtime() { return runtime().known() ? "OpenMP" : "no thread control"; }

}  // namespace millrace::engine::onednn
