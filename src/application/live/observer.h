#pragma once
// Who looks at an application while it runs.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "application/application.h"
#include "application/run.h"
#include "runtime/controller/group_to_run.h"
#include "runtime/session.h"

namespace millrace::application {

/// A run, borrowed; what any thread may ask of it.
struct AtWork {
  const Application& application;
  const Run& run;
  const runtime::Session& session;
};

/// Must not throw, and must not take long: frames wait for it.
class Observer {
 public:
  virtual ~Observer() = default;
  /// What was borrowed may be asked until ended(). Called again: the application was read anew, and
  /// this takes its place.
  virtual void begun(const AtWork& /*work*/) {}
  /// Or a deployment of these groups begins.
  virtual void begun(const std::vector<std::string>& /*groups*/) {}
  /// One thread at a time, frames in order.
  virtual void take(const Outcome& /*outcome*/) {}
  /// A picture cannot be decoded. Any thread.
  virtual void skipped() {}
  /// A frame of a group is done; on its thread, which has its priority and must not wait.
  virtual void done(std::size_t /*group*/, const runtime::EndedFrame& /*frame*/) {}
  virtual void ended() {}
  /// The number of frames for which stages keep what they did, for Session::recent().
  std::int64_t traced_frames() const { return traced_frames_; }

 protected:
  std::int64_t traced_frames_ = 0;  // before a run begins
};

/// A run, or a deployment, is observed while it lives; by nobody if that is null.
class Observed {
 public:
  Observed(Observer* observer, const AtWork& work) : observer_(observer) {
    if (observer_ != nullptr) observer_->begun(work);
  }
  /// Frames of the groups are told from when they run.
  Observed(Observer* observer, std::vector<runtime::GroupToRun>& groups) : observer_(observer) {
    if (observer_ == nullptr) return;
    std::vector<std::string> names;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      names.push_back(groups[g].name);
      groups[g].ended = [observer, g, own = std::move(groups[g].ended)](
                            const runtime::EndedFrame& frame) {
        observer->done(g, frame);
        if (own) own(frame);
      };
    }
    observer_->begun(names);
  }
  void change(const AtWork& work) const {
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

}  // namespace millrace::application
