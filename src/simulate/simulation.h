#pragma once
// The simulation itself: from event to event.
#include <deque>
#include <vector>

#include "base/random.h"
#include "schedule/execution.h"
#include "simulate/processor.h"
#include "simulate/recurrence.h"
#include "simulate/releases.h"

namespace millrace::simulate {

/// At each instant first all that ends ends, then the callers take results and put in frames, then
/// stages choose what they do next, then processors begin.
class Simulation {
 public:
  Simulation(const std::vector<Application>& applications, const Options& options);
  Result run();

 private:
  struct FrameTimes {
    Time released{}, submitted{};
  };
  /// An application with its caller.
  struct Running {
    const Application& application;
    schedule::Execution execution;
    Releases releases;
    std::int64_t warmup, wanted;  // frames
    std::deque<FrameTimes> on_their_way = {};
    ApplicationResult result = {};
  };
  /// An actor of an application on its processor.
  struct Worker {
    std::size_t application, actor, processor;
    std::vector<Duration> durations;    // by phase
    std::vector<std::int64_t> kernels;  // by phase
    std::vector<plan::BorderTimes> borders;  // by phase
    double scale;
    Random random;
    std::vector<std::size_t> replayed = {};  // by phase: recorded firings that were had, if any are
    std::optional<schedule::Firing> firing = {};
    Time length{}, done{};  // of the firing
  };

  void add_workers(std::size_t application, const schedule::Schedule& schedule,
                   const Options& options);
  /// The processor's, or a lane of it.
  std::size_t lane_named(const std::string& lane, const std::string& processor,
                         const Options& options);

  void settle();
  void serve(std::size_t application);
  void submit(Running& running);
  void complete(std::size_t application);
  void measure(Running& running, std::int64_t frame, Time latency);
  void begin_measuring();
  bool is_warm() const;
  bool is_done() const;
  void choose(Worker& worker);
  Time time_of(Worker& worker) const;
  void dispatch();
  bool advance();
  void end_piece(Processor& processor);
  void note(const Piece& piece);
  void look_for_recurrence();
  std::vector<ProcessorResult> processor_results() const;
  Result result();

  bool is_single_;  // one application
  Time now_{}, measured_from_{};
  bool measuring_ = false;
  std::int64_t measured_ = 0, completed_ = 0, most_ = 0, traced_frames_;
  std::vector<Running> running_;
  std::vector<Worker> workers_;
  std::vector<Processor> processors_;         // and their lanes, where one application has several
  std::vector<std::string> processor_names_;  // of these
  std::optional<Recurrence> recurrence_;
  std::vector<std::int64_t> state_;
  std::int64_t looked_at_ = 0;  // frames
  Trace trace_;
};

}  // namespace millrace::simulate
