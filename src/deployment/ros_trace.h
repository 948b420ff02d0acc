#pragma once
// Inside the room: releases from ROS 2's tracing (LTTng), as `babeltrace2` prints it.
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace millrace::deployment {

/// Events of ros2_tracing (Bedard, Lütkebohle and Dagenais, "ros2_tracing: Multipurpose
/// Low-Overhead Framework for Real-Time Tracing of ROS 2", 2022). A frame of a group comes at each
/// ros2:callback_start of its callback. Which one that is, a key says: "callback=0x55d0a8",
/// "symbol=TEXT", a part of the function's name, or "topic=/camera/image"; the last two need the
/// events with which nodes begin.
class RosTrace {
 public:
  /// The group's key, of these three; false: it is none.
  bool set_key(std::size_t group, const std::string& key);
  bool has_key(std::size_t group) const { return keys_.contains(group); }
  /// A line "[TIME] (+DELTA) HOST NAME: { KEY = VALUE, ... }, ...". False: it is none.
  bool read_line(std::string_view line);
  bool is_empty() const { return starts_.empty(); }

  /// When the group's callbacks began, as the clock of the trace has it; ascending.
  std::vector<Time> releases(std::size_t group) const;

 private:
  using Fields = std::map<std::string, std::string, std::less<>>;
  struct Key {
    std::string kind, value;
  };
  struct Start {
    Time at{};
    std::string callback;  // process and address
  };

  void learn(const std::string& event, const Fields& fields);
  bool is_of(const std::string& callback, const Key& key) const;
  std::optional<Time> time_of(std::string_view text);

  std::map<std::size_t, Key> keys_;  // by group
  /// By handle: the topic of a subscription of rcl; the handle of one of rclcpp; the subscription
  /// of a callback; and the function of a callback.
  std::map<std::string, std::string> topics_, handles_, subscriptions_, symbols_;
  std::vector<Start> starts_;
  Time last_{}, days_{};  // of times of a day: whole days before them
};

}  // namespace millrace::deployment
