#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "arrays.h"
#include "millrace/millrace.h"
#include "module.h"
#include "work.h"

namespace millrace::python {
namespace {

using namespace nb::literals;

[[noreturn]] void refuse(const char* finding, const char* remedy) {
  throw Error(ErrorKind::input, std::string("session: ") + finding + "; " + remedy,
              {"session", finding, remedy});
}

nb::object interned(const char* text) { return nb::steal(PyUnicode_InternFromString(text)); }

/// A lock that waits without the GIL, and until Ctrl-C.
class Turn {
 public:
  explicit Turn(std::timed_mutex& mutex) : lock_(mutex, std::try_to_lock) {
    while (!lock_.owns_lock()) {
      {
        const nb::gil_scoped_release released;
        if (lock_.try_lock_for(std::chrono::milliseconds(50))) return;
      }
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
  }

 private:
  std::unique_lock<std::timed_mutex> lock_;
};

/// A session of Python: any thread may call any function, and none waits with the GIL.
class Running {
 public:
  Running(const Plan& plan, bool pin, nb::object result_type);
  ~Running() { end(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void submit(nb::handle frame);
  nb::object next(std::optional<double> timeout);
  nb::object run(nb::handle frame);
  void finish();
  void end();
  std::int64_t depth() { return alive().depth(); }
  std::int64_t in_flight() const { return submitted_ - taken_ - stale_; }
  bool is_closed() const { return !session_.has_value(); }
  nb::list statistics();

  // Of an iterator, which has the session to itself.
  void begin_map();
  void end_map(std::int64_t on_their_way);
  bool try_put(const Frame& frame);
  /// The next result; before it the frame is put in, if there is room and one is given. Says
  /// whether it was.
  nb::object take(const Frame& frame, bool& was_put);
  const std::vector<TensorInfo>& inputs() const { return inputs_; }

 private:
  Session alive() const;
  void refuse_beside_map() const;
  void put(const Frame& frame);
  std::optional<Result> taken_result(Session& session);
  nb::object object_of(Result result);
  void drop_stale();

  std::vector<TensorInfo> inputs_;
  std::vector<nb::object> names_;  // of the outputs
  nb::object result_type_, frame_name_ = interned("frame"), latency_name_ = interned("latency");
  std::optional<Session> session_;  // changes with the GIL
  OwnProcess process_;
  std::timed_mutex writing_, reading_, running_;
  std::atomic<std::int64_t> submitted_{0}, taken_{0}, stale_{0};  // stale: dropped when they come
  std::atomic<bool> in_map_{false};
};

Running::Running(const Plan& plan, bool pin, nb::object result_type)
    : inputs_(plan.model().inputs()), result_type_(std::move(result_type)) {
  for (const TensorInfo& output : plan.model().outputs())
    names_.push_back(interned(output.name.c_str()));
  SessionOptions options;
  options.pin = pin;
  options.options.listener = std::make_shared<AsksForSignals>();
  const nb::gil_scoped_release released;
  session_.emplace(plan.start(options));
}

Session Running::alive() const {
  process_.check("session", "start one in the child");
  if (!session_) refuse("is closed", "Plan.session() starts another one");
  return *session_;
}

void Running::refuse_beside_map() const {
  if (in_map_) refuse("is at work for map()", "use a session of its own, or end the loop first");
}

void Running::put(const Frame& frame) {
  Session session = alive();
  const nb::gil_scoped_release released;
  if (!session.submit(frame)) refuse("has ended", "Plan.session() starts another one");
  ++submitted_;
}

void Running::submit(nb::handle frame) {
  alive();
  refuse_beside_map();
  const Frame tensors = frame_of(frame, inputs_);
  const Turn turn(writing_);
  put(tensors);
}

std::optional<Result> Running::taken_result(Session& session) {
  const nb::gil_scoped_release released;
  auto result = session.next();
  if (result) ++taken_;
  return result;
}

/// Of loops that were left before their end.
void Running::drop_stale() {
  while (stale_ > 0) {
    Session session = alive();
    if (!taken_result(session)) return;
    --stale_;
  }
}

nb::object Running::object_of(Result result) {
  nb::object made = result_type_();
  fill(made, std::move(result.outputs), names_);
  nb::setattr(made, frame_name_, nb::int_(result.frame));
  nb::setattr(made, latency_name_, nb::float_(seconds_of(result.latency)));
  return made;
}

nb::object Running::next(std::optional<double> timeout) {
  alive();
  refuse_beside_map();
  const Turn turn(reading_);
  drop_stale();
  Session session = alive();
  const WaitsFor waits(timeout);
  auto result = taken_result(session);
  return result ? object_of(std::move(*result)) : nb::none();
}

nb::object Running::run(nb::handle frame) {
  alive();
  refuse_beside_map();
  const Frame tensors = frame_of(frame, inputs_);
  const Turn one(running_), writing(writing_), reading(reading_);
  drop_stale();
  if (in_flight() > 0) refuse("has frames on their way", "take their results with next() first");
  put(tensors);
  Session session = alive();
  try {
    auto result = taken_result(session);
    if (!result) refuse("was closed", "Plan.session() starts another one");
    return object_of(std::move(*result));
  } catch (...) {
    stale_ += submitted_ - taken_ - stale_;
    throw;
  }
}

void Running::finish() { alive().finish(); }

void Running::end() {
  end_or_leave(session_, process_, [](Session& session) { session.stop(); });
}

nb::list Running::statistics() {
  nb::list rows;
  for (const StageStatistics& stage : alive().statistics())
    rows.append(nb::make_tuple(stage.name, stage.frames, seconds_of(stage.busy),
                               seconds_of(stage.waiting), stage.memory_bytes));
  return rows;
}

void Running::begin_map() {
  alive();
  if (in_map_.exchange(true)) {
    refuse("is at work for map()", "use a session of its own, or end the loop first");
  }
  try {
    drop_stale();
    if (in_flight() > 0) refuse("has frames on their way", "take their results with next() first");
  } catch (...) {
    in_map_ = false;
    throw;
  }
}

void Running::end_map(std::int64_t on_their_way) {
  stale_ += on_their_way;
  in_map_ = false;
}

bool Running::try_put(const Frame& frame) {
  Session session = alive();
  const nb::gil_scoped_release released;
  if (!session.try_submit(frame)) return false;
  ++submitted_;
  return true;
}

nb::object Running::take(const Frame& frame, bool& was_put) {
  Session session = alive();
  std::optional<Result> result;
  {
    const nb::gil_scoped_release released;
    was_put = !frame.empty() && session.try_submit(frame);
    if (was_put) ++submitted_;
    result = session.next();
    if (result) ++taken_;
  }
  if (!result) refuse("was closed", "Plan.session() starts another one");
  return object_of(std::move(*result));
}

/// Frames of any iterator through a session, in order, as many on their way as the plan holds.
class Map {
 public:
  Map(nb::object running, nb::object frames)
      : owner_(std::move(running)),
        running_(nb::cast<Running&>(owner_)),
        frames_(nb::iter(frames)) {
    running_.begin_map();
    depth_ = running_.depth();
  }
  ~Map() { close(); }
  Map(const Map&) = delete;
  Map& operator=(const Map&) = delete;

  nb::object next() {
    if (at_work_.exchange(true)) refuse("has another thread in this loop", "use a loop for each");
    struct Leave {
      std::atomic<bool>& at_work;
      ~Leave() { at_work = false; }
    } leave{at_work_};
    if (is_closed_) throw nb::stop_iteration();
    try {
      fill();
      if (on_their_way_ == 0 && waiting_.empty()) {
        close();
        throw nb::stop_iteration();
      }
      return take();
    } catch (...) {
      close();
      throw;
    }
  }

  void close() {
    if (std::exchange(is_closed_, true)) return;
    frames_ = nb::object();
    taking_.reset();
    running_.end_map(on_their_way_);
  }

 private:
  /// The next frame waits for room; false: there is none.
  bool fetch() {
    if (!frames_.is_valid()) return false;
    const nb::object frame = nb::steal(PyIter_Next(frames_.ptr()));
    if (frame.is_valid()) {
      waiting_ = frame_of(frame, running_.inputs());
      return true;
    }
    frames_ = nb::object();
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    return false;
  }

  /// All places but one; the frame for that waits, and goes in with the next result's taking.
  void fill() {
    while (on_their_way_ < depth_ && (!waiting_.empty() || fetch())) {
      if (on_their_way_ == depth_ - 1 || !running_.try_put(waiting_)) return;
      waiting_.clear();
      ++on_their_way_;
    }
  }

  nb::object take() {
    struct Put {
      Map& map;
      bool done = false;
      ~Put() {
        if (!done) return;
        map.waiting_.clear();
        ++map.on_their_way_;
      }
    } put{*this};
    nb::object result = running_.take(waiting_, put.done);
    --on_their_way_;
    return result;
  }

  nb::object owner_;
  Running& running_;
  nb::object frames_;  // nothing: all were taken
  Frame waiting_;      // for room
  std::optional<TakesFrames> taking_{std::in_place};
  std::int64_t depth_ = 1, on_their_way_ = 0;
  std::atomic<bool> at_work_{false};
  bool is_closed_ = false;
};

}  // namespace

void add_sessions(nb::module_& module) {
  nb::class_<Running>(module, "Session", nb::is_weak_referenceable())
      .def(nb::init<const Plan&, bool, nb::object>(), "plan"_a, "pin"_a, "result_type"_a)
      .def("submit", &Running::submit, "frame"_a)
      .def("next", &Running::next, "timeout"_a.none())
      .def("run", &Running::run, "frame"_a)
      .def("finish", &Running::finish)
      .def("close", &Running::end)
      .def("statistics", &Running::statistics)
      .def_prop_ro("depth", &Running::depth)
      .def_prop_ro("in_flight", &Running::in_flight)
      .def_prop_ro("closed", &Running::is_closed);
  nb::class_<Map>(module, "Map")
      .def(nb::init<nb::object, nb::object>(), "session"_a, "frames"_a)
      .def("__iter__", [](nb::object self) { return self; })
      .def("__next__", &Map::next)
      .def("close", &Map::close);
}

}  // namespace millrace::python
