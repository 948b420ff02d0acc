#pragma once
// A live page: annotated pictures, rates, and what the processors did in the last second.
#include <string>
#include <vector>

#include "application/live/observer.h"
#include "serve/http/http.h"
#include "serve/metrics/figures.h"
#include "serve/streams.h"
#include "serve/view/newest.h"

namespace millrace::serve {

/// Observes beside the figures, which it borrows.
class View final : public application::Observer {
 public:
  explicit View(Figures& figures) : figures_(figures) { traced_frames_ = 2000; }

  void begun(const application::AtWork& work) override { begin(Streams(work)); }
  void begun(const application::DeploymentAtWork& work) override { begin(Streams(work)); }
  void take(const application::Outcome& outcome) override;

  /// "/", "/state.json", "/gantt.svg", "/stream?input=0", "/picture.jpg?input=0". Inputs have their
  /// numbers of Streams.
  void add_to(Pages& pages);
  /// Streams end.
  void close() { newest_.end(); }

 private:
  void begin(Streams streams);
  Answer state();
  Answer gantt();
  Answer picture(const Query& query);
  Pieces stream(const Query& query);
  std::string jpeg_of(const application::Outcome& outcome);

  Figures& figures_;
  Newest newest_;
  std::mutex mutex_;
  Streams streams_;  // under mutex_
};

}  // namespace millrace::serve
