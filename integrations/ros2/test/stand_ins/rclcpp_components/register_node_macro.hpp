#pragma once
// Stand-in: checks that the class can be made as a component is.
#include <type_traits>

#include "rclcpp_lifecycle/lifecycle_node.hpp"
#define RCLCPP_COMPONENTS_REGISTER_NODE(Class) \
  static_assert(std::is_constructible_v<Class, const rclcpp::NodeOptions&>);
