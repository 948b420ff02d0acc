#pragma once
// Edges between the groups of a running deployment, and how old what their chains make is.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "application/live/live_group.h"
#include "base/units.h"
#include "network/network.h"
#include "runtime/controller/response_times.h"

namespace millrace::application {

/// From an output of one group's network to an input of another one's.
struct EdgeBetween {
  std::size_t from = 0, to = 0;         // groups
  std::string output = {}, input = {};  // empty: the only one
  std::int64_t capacity = 0;            // of a queue; 0: the newest value is read
  std::string place = {};               // for messages
};

/// Ages and reactions of a chain in one scenario at one level.
struct ChainTimes {
  /// From when the first group's frame was due to the end of each of the last one's that uses it.
  runtime::ResponseTimes ages;
  /// From when a change may have been missed by the first group to the first end that knows it.
  runtime::ResponseTimes reactions;
};

struct EdgesSpecification {
  std::vector<EdgeBetween> edges;
  std::vector<std::vector<std::size_t>> chains;   // of groups
  std::vector<const network::Network*> networks;  // by group; null: it has none
};

/// InputError at an edge's place: a network has no such output or input, or several and none is
/// named; their types or shapes are not the same.
void check(const EdgesSpecification& specification);

/// A value is written when its frame ends, and read when the reader's frame begins. Frames before
/// begin() are to warm up, and write nothing. Groups use it with threads of their own.
class GroupEdges {
 public:
  /// Borrows the networks. InputError as check().
  explicit GroupEdges(EdgesSpecification specification);
  ~GroupEdges();

  /// Stands before and behind a group in place of `inner`, which may be null; `inner` itself if the
  /// group has no edge. Once for each; this must outlive it.
  std::shared_ptr<LiveGroup> around(std::size_t group, std::shared_ptr<LiveGroup> inner);
  void begin();

  // After the last frame.
  /// By chain, then by runtime::EndedFrame::operation: of those in which all of it was due.
  const std::vector<std::map<std::size_t, ChainTimes>>& times() const;
  /// By edge: values that nobody read.
  std::vector<std::int64_t> unread() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::application
