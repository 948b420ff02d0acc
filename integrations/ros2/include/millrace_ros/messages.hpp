#pragma once
// Between messages of ROS and values of Millrace.
#include <optional>
#include <string>
#include <vector>

#include <millrace/findings.h>
#include <sensor_msgs/msg/image.hpp>
#include <vision_msgs/msg/detection2_d_array.hpp>

namespace millrace_ros {

/// Copies the pixels. Nothing: the encoding is none of rgb8, bgr8, mono8, rgba8 and bgra8, or the
/// message is shorter than it says.
std::optional<millrace::Image> image_of(const sensor_msgs::msg::Image& message);

/// With the header of the image. A class is its name, or its number where the model has no names.
vision_msgs::msg::Detection2DArray detections_of(const std_msgs::msg::Header& header,
                                                 const millrace::Findings& findings,
                                                 const std::vector<std::string>& labels);

}  // namespace millrace_ros
