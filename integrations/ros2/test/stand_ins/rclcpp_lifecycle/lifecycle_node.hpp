#pragma once
// Stand-in: as much of rclcpp and rclcpp_lifecycle as the node uses, for a check that it compiles
// and for a test of it in one process. A message that is published goes to `published`.
#include <any>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "std_msgs/msg/header.hpp"

namespace rclcpp {
struct NodeOptions {
  std::map<std::string, std::string> parameters;  // of the stand-in alone
};
struct QoS {};
struct SystemDefaultsQoS : QoS {};
struct SensorDataQoS : QoS {};
struct Parameter {
  std::string value;
  std::string as_string() const { return value; }
};
struct Logger {};
struct TimerBase {
  using SharedPtr = std::shared_ptr<TimerBase>;
  std::function<void()> call;
};
template <class Message>
struct Subscription {
  using SharedPtr = std::shared_ptr<Subscription>;
  std::function<void(std::shared_ptr<const Message>)> call;
};
}  // namespace rclcpp

namespace rclcpp_lifecycle {
struct State {};
namespace node_interfaces {
struct LifecycleNodeInterface {
  enum class CallbackReturn : std::uint8_t { SUCCESS = 97, FAILURE = 98, ERROR = 99 };
  virtual ~LifecycleNodeInterface() = default;
  virtual CallbackReturn on_configure(const State&) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_cleanup(const State&) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_shutdown(const State&) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_activate(const State&) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_deactivate(const State&) { return CallbackReturn::SUCCESS; }
};
}  // namespace node_interfaces

template <class Message>
struct LifecyclePublisher {
  using SharedPtr = std::shared_ptr<LifecyclePublisher>;
  std::vector<Message> published;
  void publish(const Message& message) { published.push_back(message); }
};

class LifecycleNode : public node_interfaces::LifecycleNodeInterface {
 public:
  LifecycleNode(std::string name, const rclcpp::NodeOptions& options)
      : name_(std::move(name)), given_(options.parameters) {}
  template <class Value>
  void declare_parameter(const std::string& name, const Value& value) {
    parameters_[name] = {given_.count(name) > 0 ? given_.at(name) : value};
  }
  rclcpp::Parameter get_parameter(const std::string& name) const { return parameters_.at(name); }
  rclcpp::Logger get_logger() const { return {}; }
  const char* get_name() const { return name_.c_str(); }
  builtin_interfaces::msg::Time now() const { return {}; }
  template <class Message>
  std::shared_ptr<LifecyclePublisher<Message>> create_publisher(const std::string& topic,
                                                                const rclcpp::QoS&) {
    auto publisher = std::make_shared<LifecyclePublisher<Message>>();
    ends[topic] = publisher;
    return publisher;
  }
  template <class Message, class Call>
  std::shared_ptr<rclcpp::Subscription<Message>> create_subscription(
      const std::string& topic, const rclcpp::QoS&, Call call) {
    auto subscription = std::make_shared<rclcpp::Subscription<Message>>();
    subscription->call = call;
    ends[topic] = subscription;
    return subscription;
  }
  template <class Duration, class Call>
  rclcpp::TimerBase::SharedPtr create_wall_timer(Duration, Call call) {
    auto timer = std::make_shared<rclcpp::TimerBase>();
    timer->call = call;
    ends["timer"] = timer;
    return timer;
  }

  std::map<std::string, std::any> ends;  // of the stand-in alone: by topic

 private:
  std::string name_;
  std::map<std::string, std::string> given_;
  std::map<std::string, rclcpp::Parameter> parameters_;
};
}  // namespace rclcpp_lifecycle

#define RCLCPP_ERROR(logger, ...) ((void)(logger), std::fprintf(stderr, __VA_ARGS__))
#define RCLCPP_WARN_ONCE(logger, ...) ((void)(logger), std::fprintf(stderr, __VA_ARGS__))
