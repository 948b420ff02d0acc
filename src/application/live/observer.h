#pragma once
// Who looks at an application, or a deployment, while it runs.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "application/application.h"
#include "application/run.h"
#include "base/units.h"
#include "runtime/controller/controller.h"
#include "runtime/controller/group_to_run.h"
#include "runtime/session.h"

namespace millrace::application {

class Delivery;

/// A run, borrowed; what any thread may ask of it.
struct AtWork {
  const Application& application;
  const Run& run;
  const runtime::Session& session;
};

/// The same of a deployment.
struct DeploymentAtWork {
  struct Group {
    std::string name;
    const Delivery* delivery = nullptr;  // null: nobody takes its results
    /// Of its responses, by runtime::EndedFrame::operation; empty: none is proven.
    std::vector<std::optional<Time>> bounds = {};
  };
  std::string name;
  const runtime::Controller& controller;
  std::vector<Group> groups = {};
};

/// Must not throw, and must not take long: frames wait for it.
class Observer {
 public:
  virtual ~Observer() = default;
  /// What was borrowed may be asked until ended(). Called again: the application was read anew, and
  /// this takes its place.
  virtual void begun(const AtWork& /*work*/) {}
  /// Or a deployment begins. Called again: groups were added to it.
  virtual void begun(const DeploymentAtWork& /*work*/) {}
  /// Frames of an application, or of a group, in order; one thread for each.
  virtual void take(const Outcome& /*outcome*/) {}
  /// A picture cannot be decoded. Any thread.
  virtual void skipped() {}
  /// A frame of a group is done; on its thread, which has its priority and must not wait.
  virtual void done(std::size_t /*group*/, const runtime::EndedFrame& /*frame*/) {}
  virtual void ended() {}
  /// The number of frames for which stages keep what they did, for Session::recent() and
  /// Controller::recent().
  std::int64_t traced_frames() const { return traced_frames_; }

 protected:
  std::int64_t traced_frames_ = 0;  // before a run begins
};

/// A run, or a deployment, is observed while it lives; by nobody if that is null.
class Observed {
 public:
  template <class Work>
  Observed(Observer* observer, const Work& work) : observer_(observer) {
    change(work);
  }
  template <class Work>
  void change(const Work& work) const {
    if (observer_ != nullptr) observer_->begun(work);
  }
  ~Observed() {
    if (observer_ != nullptr) observer_->ended();
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

 private:
  Observer* observer_;
};

/// The observer, which may be null, is told of each frame that is done. The first of these is the
/// deployment's group of this number.
inline std::vector<runtime::GroupToRun> observed_groups(Observer* observer,
                                                        std::vector<runtime::GroupToRun> groups,
                                                        std::size_t first = 0) {
  if (observer == nullptr) return groups;
  for (std::size_t g = 0; g < groups.size(); ++g)
    groups[g].ended = [observer, number = first + g,
                       own = std::move(groups[g].ended)](const runtime::EndedFrame& frame) {
      observer->done(number, frame);
      if (own) own(frame);
    };
  return groups;
}

}  // namespace millrace::application
