#pragma once
// What stands before and behind the groups of a deployment while it runs: a program, or sources and
// outputs of their applications.
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "application/findings.h"
#include "application/picture.h"
#include "network/tensor.h"
#include "runtime/controller/group_to_run.h"

namespace millrace::application {

/// What came of a frame of a group: arrays, or of an application its findings.
struct LiveResult {
  std::optional<application::Picture> picture = {};  // that an application's frame was made of
  application::Findings findings = {};
  std::vector<network::Array> outputs = {};  // without an application, or if they are wanted
};

/// Stands before and behind one group. Each function is called by one thread of the group, with its
/// priority: it must neither block nor take long.
class LiveGroup {
 public:
  virtual ~LiveGroup() = default;
  /// The picture of the next frame of an application. Nothing: as without this.
  virtual std::optional<application::Picture> picture() { return std::nullopt; }
  /// Fills the inputs of the next frame of a model alone; dense, in the order of its inputs.
  virtual void fill(std::span<const std::span<std::byte>> /*inputs*/) {}
  /// The frame that was filled last has its inputs from elsewhere, too: a new one, or once more.
  virtual void filled(bool /*is_new*/) {}
  /// Whether take() needs the outputs of an application's network, too.
  virtual bool wants_outputs() const { return false; }
  /// Frames in the order in which they were filled.
  virtual void take(LiveResult /*result*/) {}
  /// All of a frame is done, frames in order; take() was called for it.
  virtual void ended(const runtime::EndedFrame& /*frame*/) {}
};

}  // namespace millrace::application
