#pragma once
// Tasks on the processors of a board, from piece to piece, by the rules of realtime.
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "base/trace.h"
#include "realtime/dispatch.h"

namespace millrace::simulate {

/// A flow's frame that is through.
struct FrameDone {
  realtime::FlowId flow;
  std::int64_t frame = 0;
};

class TaskRuns {
 public:
  /// Borrowed, with flows whose tasks wait for earlier ones of the flow only.
  /// `drawn`: tasks take between their best and their worst time; else their worst.
  TaskRuns(const realtime::TaskSystem& system, bool drawn, std::uint64_t seed);

  /// How much longer tasks take than the system says, by ResourceId; of pieces that begin later.
  void set_slowdowns(std::vector<double> slowdowns) { slowdowns_ = std::move(slowdowns); }
  /// Frames count up from 0 for each flow.
  void activate(realtime::FlowId flow, std::int64_t frame, Time now);
  /// When a piece ends; never: Time::max().
  Time next() const;
  /// Ends what ends now.
  std::vector<FrameDone> end_pieces(Time now);
  /// Lets begin what may begin.
  void dispatch(Time now);

  /// How long a task had its processor, since it was last asked for. By TaskId.
  std::vector<Time> take_busy();
  /// Appends the pieces of frames below this number.
  void trace_into(Trace& trace, std::int64_t frames) {
    trace_ = &trace;
    traced_frames_ = frames;
  }

 private:
  /// What is kept of a frame on its way.
  struct Frame {
    std::int64_t number = 0;
    std::vector<std::size_t> open;  // by task of the flow: what it waits for
    std::size_t unfinished = 0;
  };

  void release(realtime::TaskId task, std::int64_t frame, Time now);
  std::vector<Time> kernels_of(realtime::TaskId task);
  void stop_piece(realtime::ResourceId resource, Time now, std::vector<FrameDone>& done);
  void queue_again(realtime::TaskJob& job, Time now);
  void end_job(const realtime::TaskJob& job, Time now, std::vector<FrameDone>& done);

  const realtime::TaskSystem& system_;
  bool drawn_;
  Random random_;
  std::vector<double> slowdowns_;                          // by ResourceId
  std::vector<realtime::FlowId> flow_of_;                  // by TaskId
  std::vector<std::size_t> place_;                         // by TaskId: in its flow
  std::vector<std::vector<realtime::TaskId>> successors_;  // by TaskId
  std::vector<std::vector<Frame>> frames_;                 // by FlowId
  std::vector<realtime::ResourceState> resources_;
  std::vector<Time> busy_;  // by TaskId
  std::uint64_t queued_ = 0;
  Trace* trace_ = nullptr;
  std::int64_t traced_frames_ = 0;
};

}  // namespace millrace::simulate
