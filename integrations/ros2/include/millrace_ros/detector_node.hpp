#pragma once
// A managed node: images in, detections out, diagnostics each second.
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include <diagnostic_msgs/msg/diagnostic_array.hpp>
#include <millrace/millrace.h>
#include <rclcpp_lifecycle/lifecycle_node.hpp>

#include "millrace_ros/messages.hpp"

namespace millrace_ros {

/// Parameters: `config`, an application's file; `plan`, a plan's file, or empty. Topics: ~/image,
/// ~/detections, /diagnostics. It plans when it is configured, and runs while it is active. An
/// image for which there is no room is dropped and counted: the newest ones matter.
class DetectorNode : public rclcpp_lifecycle::LifecycleNode {
 public:
  using CallbackReturn =
      rclcpp_lifecycle::node_interfaces::LifecycleNodeInterface::CallbackReturn;

  explicit DetectorNode(const rclcpp::NodeOptions& options);

  CallbackReturn on_configure(const rclcpp_lifecycle::State& state) override;
  CallbackReturn on_activate(const rclcpp_lifecycle::State& state) override;
  CallbackReturn on_deactivate(const rclcpp_lifecycle::State& state) override;
  CallbackReturn on_cleanup(const rclcpp_lifecycle::State& state) override;
  CallbackReturn on_shutdown(const rclcpp_lifecycle::State& state) override;

 private:
  void take(sensor_msgs::msg::Image::ConstSharedPtr message);
  void publish(const millrace::Outcome& outcome);
  void diagnose();
  void stop();

  std::optional<millrace::Application> application_;
  std::optional<millrace::Plan> plan_;
  std::optional<millrace::ApplicationSession> session_;
  std::mutex mutex_;  // of the headers, which go in and come out in one order
  std::deque<std_msgs::msg::Header> headers_;
  std::atomic<std::int64_t> frames_{0}, dropped_{0}, refused_{0};
  std::atomic<std::int64_t> latency_ns_{0};
  rclcpp::Subscription<sensor_msgs::msg::Image>::SharedPtr images_;
  rclcpp_lifecycle::LifecyclePublisher<vision_msgs::msg::Detection2DArray>::SharedPtr detections_;
  rclcpp_lifecycle::LifecyclePublisher<diagnostic_msgs::msg::DiagnosticArray>::SharedPtr
      diagnostics_;
  rclcpp::TimerBase::SharedPtr timer_;
};

}  // namespace millrace_ros
