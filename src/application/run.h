#pragma once
// An application at work: frames from its source through the network to its results.
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "application/application.h"
#include "application/cascade/crops.h"
#include "application/processing.h"
#include "application/sink.h"
#include "application/source.h"
#include "base/error.h"
#include "base/units.h"
#include "runtime/sequential.h"
#include "runtime/session.h"
#include "runtime/waiting/live_queue.h"

namespace millrace::application {

/// What frames spent their time with, summed over all that came out.
struct StepTimes {
  Time reading{};   // in the source: a video's decoding
  Time before{};    // decoding an image file, pre-processing
  Time entry{};     // from there into the pipeline
  Time pipeline{};  // in the network's stages, with their waiting
  Time exit{};      // from the pipeline to post-processing
  Time after{};     // post-processing
  Time crops{};     // from there through the second network, with the waiting before it
  Time turn{};      // until all frames before were given
  Time total{};     // since the picture was taken

  Time waiting() const { return entry + exit + turn; }
};

/// What came of one of several inputs.
struct InputTotals {
  std::string name;
  std::int64_t frames = 0;     // that came out
  runtime::QueueCounts queue;  // if it is live
  Gaps gaps = {};
  // In a deployment:
  std::int64_t waiting = 0;  // pictures that nobody took before the end
  std::int64_t skipped = 0;  // that cannot be decoded
  std::int64_t passes = 1;   // how often a file was read
};

/// How old pictures of cameras were: when they came from it, and with their findings.
struct Ages {
  Time longest_lag{}, last_lag{}, longest{}, last{};
};

/// What a second network was given, of all frames together.
struct CropTotals {
  std::int64_t crops = 0, most = 0;  // most: of a frame
  std::int64_t too_many = 0;         // boxes above the bound, which got none
  std::int64_t outside = 0;          // boxes without a pixel in their picture
};

struct Totals {
  std::int64_t frames = 0;  // that came out
  Time elapsed{};
  StepTimes times;
  Ages ages;
  runtime::QueueCounts queue;       // of live input, all together
  std::vector<InputTotals> inputs;  // of several
  Gaps gaps;                        // of all
  // By input, if they are live: when the last picture that it gave was due, dropped or not.
  std::vector<std::optional<Time>> last_due = {};
  std::optional<Complaint> complaint;  // of the source
  CropTotals crops;
  bool finite = true;                  // no output of the network held NaN or infinity
  std::string not_finite_input = {};   // the first frame whose input did; empty: none
  /// Inputs of the network with which a stage may have made NaN: see Session::may_have_made_nan.
  std::vector<std::vector<network::Array>> suspects = {};
};

class Intake;

/// Borrowed by a run.
struct Parts {
  Source* source = nullptr;
  const Processing* before = nullptr;
  const Processing* after = nullptr;
  /// Takes what is wrong with a picture that cannot be decoded and may be skipped, one thread at a
  /// time; the picture is left out. None: such a picture ends the run.
  std::function<void(const InputError&)> skip = {};
  std::int64_t batch = 1;  // pictures that the network takes at once
  const CropParts* crops = nullptr;  // none: there is no second network
  /// Intake that has begun, of the same source, and that others use after this run; none: its own.
  Intake* intake = nullptr;
  const Totals* so_far = nullptr;  // of the run before, which has handed over; none: there is none
};

/// One thread at a time, frames in order.
using Give = std::function<void(Outcome)>;

/// Starts at once; its threads are those of docs/methods/pictures.md.
class Run {
 public:
  Run(const Application& application, const Parts& parts, runtime::Session& session, Give give);
  /// Stops without draining.
  ~Run();

  /// Whether all frames have come out; waits for that so long at most. Rethrows the first error,
  /// when all frames before it have come out.
  bool wait_for(std::chrono::milliseconds time);
  /// No more frames are taken; those on their way still arrive. What waits for a network that wants
  /// the newest counts as dropped.
  void finish();
  /// The same, but the intake goes on, for another run: before that is made comes its go_on().
  void hand_over();
  /// After wait_for() has said that all have come out.
  Totals totals() const;
  /// What came and was dropped so far, by input; `frames` are not counted here. Any thread.
  std::vector<InputTotals> inputs() const;
  /// Whether the network has frames on their way. Any thread.
  bool is_busy() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Everything one after the other on the calling thread: the baseline.
Totals run_in_turn(const Application& application, const Parts& parts, runtime::Sequential& network,
                   const Give& give);

}  // namespace millrace::application
