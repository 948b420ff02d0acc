#pragma once
// What a phase, or the caller, has to do with a tensor that another phase reads or makes.
#include <cstdint>
#include <vector>

#include "runtime/channel.h"

namespace millrace::runtime {

/// One channel, or one for each replica on the other side. Channels are borrowed.
class Link {
 public:
  /// Of these frames, or of all frames if it is the only channel that this side sees.
  void add(Channel* channel, const schedule::Frames& frames) {
    channels_.resize(static_cast<std::size_t>(frames.step));
    channels_[static_cast<std::size_t>(frames.first)] = channel;
  }
  /// The one that carries this frame. Null: there is none.
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
