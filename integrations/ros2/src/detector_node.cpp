#include "millrace_ros/detector_node.hpp"

#include <chrono>
#include <string>
#include <utility>

#include <rclcpp_components/register_node_macro.hpp>

namespace millrace_ros {
namespace {

diagnostic_msgs::msg::KeyValue value(const std::string& key, std::int64_t number) {
  diagnostic_msgs::msg::KeyValue pair;
  pair.key = key;
  pair.value = std::to_string(number);
  return pair;
}

}  // namespace

DetectorNode::DetectorNode(const rclcpp::NodeOptions& options)
    : LifecycleNode("millrace_detector", options) {
  declare_parameter<std::string>("config", "");
  declare_parameter<std::string>("plan", "");
}

DetectorNode::CallbackReturn DetectorNode::on_configure(const rclcpp_lifecycle::State&) {
  try {
    application_ = millrace::Application::from_file(get_parameter("config").as_string());
    const std::string plan = get_parameter("plan").as_string();
    plan_ = plan.empty() ? millrace::plan(application_->model())
                         : millrace::Plan::from_file(plan, application_->model());
  } catch (const millrace::Error& error) {
    RCLCPP_ERROR(get_logger(), "%s", error.what());
    return CallbackReturn::FAILURE;
  }
  detections_ = create_publisher<vision_msgs::msg::Detection2DArray>("~/detections",
                                                                     rclcpp::SystemDefaultsQoS());
  diagnostics_ = create_publisher<diagnostic_msgs::msg::DiagnosticArray>(
      "/diagnostics", rclcpp::SystemDefaultsQoS());
  return CallbackReturn::SUCCESS;
}

DetectorNode::CallbackReturn DetectorNode::on_activate(const rclcpp_lifecycle::State& state) {
  LifecycleNode::on_activate(state);
  try {
    session_ = application_->start(
        *plan_, [this](const millrace::Outcome& outcome) { publish(outcome); });
  } catch (const millrace::Error& error) {
    RCLCPP_ERROR(get_logger(), "%s", error.what());
    return CallbackReturn::FAILURE;
  }
  images_ = create_subscription<sensor_msgs::msg::Image>(
      "~/image", rclcpp::SensorDataQoS(),
      [this](sensor_msgs::msg::Image::ConstSharedPtr message) { take(std::move(message)); });
  timer_ = create_wall_timer(std::chrono::seconds(1), [this] { diagnose(); });
  return CallbackReturn::SUCCESS;
}

DetectorNode::CallbackReturn DetectorNode::on_deactivate(const rclcpp_lifecycle::State& state) {
  stop();
  LifecycleNode::on_deactivate(state);
  return CallbackReturn::SUCCESS;
}

DetectorNode::CallbackReturn DetectorNode::on_cleanup(const rclcpp_lifecycle::State&) {
  plan_.reset();
  application_.reset();
  detections_.reset();
  diagnostics_.reset();
  return CallbackReturn::SUCCESS;
}

DetectorNode::CallbackReturn DetectorNode::on_shutdown(const rclcpp_lifecycle::State&) {
  stop();
  return CallbackReturn::SUCCESS;
}

void DetectorNode::take(sensor_msgs::msg::Image::ConstSharedPtr message) {
  auto image = image_of(*message);
  if (!image) {
    ++refused_;
    RCLCPP_WARN_ONCE(get_logger(), "an image of encoding '%s' was refused; expected rgb8, bgr8, "
                                   "mono8, rgba8 or bgra8, and all of its rows",
                     message->encoding.c_str());
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (static_cast<std::int64_t>(headers_.size()) >= session_->depth()) {
      ++dropped_;
      return;
    }
    headers_.push_back(message->header);
  }
  session_->submit(*image);
}

void DetectorNode::publish(const millrace::Outcome& outcome) {
  std_msgs::msg::Header header;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    header = headers_.front();
    headers_.pop_front();
  }
  ++frames_;
  latency_ns_ = outcome.latency.count();
  detections_->publish(detections_of(header, outcome.findings, application_->labels()));
}

void DetectorNode::diagnose() {
  diagnostic_msgs::msg::DiagnosticStatus status;
  status.name = std::string(get_name()) + ": network";
  status.hardware_id = application_->model().name();
  status.level = dropped_ > 0 || refused_ > 0 ? diagnostic_msgs::msg::DiagnosticStatus::WARN
                                              : diagnostic_msgs::msg::DiagnosticStatus::OK;
  status.message = dropped_ > 0 ? "images come faster than the network works" : "running";
  status.values = {value("frames", frames_), value("dropped", dropped_), value("refused", refused_),
                   value("latency_us", latency_ns_ / 1000)};
  diagnostic_msgs::msg::DiagnosticArray array;
  array.header.stamp = now();
  array.status.push_back(status);
  diagnostics_->publish(array);
}

/// Frames on their way are published first.
void DetectorNode::stop() {
  timer_.reset();
  images_.reset();
  if (!session_) return;
  try {
    session_->wait();
  } catch (const millrace::Error& error) {
    RCLCPP_ERROR(get_logger(), "%s", error.what());
  }
  session_.reset();
  const std::lock_guard<std::mutex> lock(mutex_);
  headers_.clear();
}

}  // namespace millrace_ros

RCLCPP_COMPONENTS_REGISTER_NODE(millrace_ros::DetectorNode)
