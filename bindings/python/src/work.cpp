#include "work.h"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <thread>

#include "millrace/error.h"

namespace millrace::python {

void Heard::note(const std::string& text) {
  const std::lock_guard lock(mutex_);
  notes_.push_back(text);
}

void Heard::progress(const std::string& task, double share, const std::string& text) {
  const std::lock_guard lock(mutex_);
  latest_ = Moment{task, text, share};
}

void Heard::pass_on(nb::handle listener) {
  std::vector<std::string> notes;
  std::optional<Moment> latest;
  {
    const std::lock_guard lock(mutex_);
    notes.swap(notes_);
    latest.swap(latest_);
  }
  if (listener.is_none()) return;
  for (const std::string& text : notes) listener.attr("note")(nb::str(text.c_str()));
  if (latest)
    listener.attr("progress")(nb::str(latest->task.c_str()), latest->share,
                              nb::str(latest->text.c_str()));
}

namespace {

using Clock = std::chrono::steady_clock;
thread_local std::optional<Clock::time_point> waits_until;

}  // namespace

WaitsFor::WaitsFor(std::optional<double> seconds) {
  if (seconds)
    waits_until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(*seconds));
}
WaitsFor::~WaitsFor() { waits_until.reset(); }

bool AsksForSignals::wants_to_end() {
  if (Py_IsInitialized() == 0) return true;
  const nb::gil_scoped_acquire gil;
  if (waits_until && Clock::now() >= *waits_until && PyErr_Occurred() == nullptr)
    PyErr_SetString(PyExc_TimeoutError, "no result came in time");
  return PyErr_Occurred() != nullptr || PyErr_CheckSignals() != 0;
}

int OwnProcess::forks() {
  static std::atomic<int> count{0};
  static const int asked = pthread_atfork(nullptr, nullptr, [] { ++count; });
  static_cast<void>(asked);
  return count;
}

void OwnProcess::check(const char* place, const char* remedy) const {
  static const char* const finding =
      "was started before this process was forked, and its threads are not here";
  if (!is_here())
    throw Error(ErrorKind::input, std::string(place) + ": " + finding + "; " + remedy,
                {place, finding, remedy});
}

void run_interruptibly(nb::handle listener, Options& options, const std::function<void()>& work) {
  constexpr std::chrono::milliseconds between_looks{50};
  const auto heard = std::make_shared<Heard>();
  options.listener = heard;
  std::exception_ptr of_work, of_python;
  std::mutex mutex;
  std::condition_variable moment;
  bool done = false;
  std::thread thread([&] {
    try {
      work();
    } catch (...) {
      of_work = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    done = true;
    moment.notify_all();
  });
  for (bool ended = false; !ended;) {
    {
      const nb::gil_scoped_release released;
      std::unique_lock lock(mutex);
      ended = moment.wait_for(lock, between_looks, [&] { return done; });
    }
    if (of_python) continue;
    try {
      heard->pass_on(listener);
      if (!ended && PyErr_CheckSignals() != 0) throw nb::python_error();
    } catch (...) {
      of_python = std::current_exception();
      heard->end();
    }
  }
  thread.join();
  options.listener = nullptr;
  if (of_python) std::rethrow_exception(of_python);
  if (of_work) std::rethrow_exception(of_work);
}

}  // namespace millrace::python
