#pragma once
// What a phase, or the caller, has to do with a tensor that another phase reads or makes.
#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "runtime/channel.h"

namespace millrace::runtime {

/// One channel, or one for each replica on the other side, by its turn. Channels are borrowed.
class Link {
 public:
  /// Of the frames of a turn, or of all frames if it is the only channel that this side sees.
  void add(Channel* channel, const plan::Turn& turn) {
    channels_.resize(static_cast<std::size_t>(turn.of));
    channels_[static_cast<std::size_t>(turn.index)] = channel;
  }
  /// The one of this frame's turn. Null: there is none.
  Channel* at(std::int64_t frame) const {
    if (channels_.empty()) return nullptr;
    return channels_.size() == 1 ? channels_.front()
                                 : channels_[static_cast<std::size_t>(frame) % channels_.size()];
  }
  /// No frame will come any more.
  void finish() const {
    for (Channel* channel : channels_) channel->finish();
  }

 private:
  std::vector<Channel*> channels_;
};

}  // namespace millrace::runtime
