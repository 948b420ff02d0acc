#pragma once
// What a phase, or the caller, has to do with a tensor that another phase reads or makes.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/channel.h"

namespace millrace::runtime {

/// One channel, or one for each replica on the other side. Channels are borrowed.
class Link {
 public:
  /// Adds the channel of these frames, or of all frames if it is the only one that this side sees.
  void add(Channel* channel, const schedule::Frames& frames) {
    channels_.resize(static_cast<std::size_t>(frames.step));
    channels_[static_cast<std::size_t>(frames.first)] = channel;
  }
  /// The channel that carries this frame. Null: there is none.
  Channel* at(std::int64_t frame) const {
    if (channels_.empty()) return nullptr;
    return channels_.size() == 1 ? channels_.front()
                                 : channels_[static_cast<std::size_t>(frame) % channels_.size()];
  }
  /// No frame will come any more.
  void finish() const {
    for (Channel* channel : channels_)
      if (channel != nullptr) channel->finish();
  }
  /// How many of `most` frames, each `step` behind the other, have a token from the first on.
  std::int64_t tokens(std::int64_t first, std::int64_t step, std::int64_t most) const {
    return counted(first, step, most, &Channel::tokens);
  }
  std::int64_t spaces(std::int64_t first, std::int64_t step, std::int64_t most) const {
    return counted(first, step, most, &Channel::spaces);
  }
  /// Who waits is woken by the channels of all these frames.
  void watch_tokens(const schedule::Firing& frames) const {
    for_each(frames, [](Channel& channel, std::int64_t) { channel.watch_token(); });
  }
  void watch_spaces(const schedule::Firing& frames) const {
    for_each(frames, [](Channel& channel, std::int64_t) { channel.watch_space(); });
  }
  void push(const schedule::Firing& frames) const {
    for_each(frames, [](Channel& channel, std::int64_t count) { channel.push(count); });
  }
  void pop(const schedule::Firing& frames) const {
    for_each(frames, [](Channel& channel, std::int64_t count) { channel.pop(count); });
  }

 private:
  std::int64_t counted(std::int64_t first, std::int64_t step, std::int64_t most,
                       std::int64_t (Channel::*count)()) const {
    if (channels_.size() == 1) return std::min(most, (channels_.front()->*count)());
    const std::int64_t turns = turns_of(step);
    for (std::int64_t i = 0; i < std::min(turns, most); ++i)
      most = std::min(most, (at(first + i * step)->*count)() * turns + i);
    return most;
  }
  template <class Do>
  void for_each(const schedule::Firing& frames, const Do& act) const {
    const std::int64_t turns = turns_of(frames.step);
    for (std::int64_t i = 0; i < std::min(turns, frames.count); ++i)
      act(*at(frames.frame + i * frames.step), (frames.count - i + turns - 1) / turns);
  }
  /// After so many of these frames the same channel comes again.
  std::int64_t turns_of(std::int64_t step) const {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(channels_.size()) / step);
  }

  std::vector<Channel*> channels_;
};

}  // namespace millrace::runtime
