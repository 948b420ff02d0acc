#pragma once
// Stand-in: the fields of vision_msgs/Detection2DArray from version 4 on (ROS 2 Humble and later).
#include <vector>

#include "std_msgs/msg/header.hpp"
namespace vision_msgs::msg {
struct Point2D {
  double x = 0, y = 0;
};
struct Pose2D {
  Point2D position;
  double theta = 0;
};
struct BoundingBox2D {
  Pose2D center;
  double size_x = 0, size_y = 0;
};
struct ObjectHypothesis {
  std::string class_id;
  double score = 0;
};
struct ObjectHypothesisWithPose {
  ObjectHypothesis hypothesis;  // and a pose, which stays as it is
};
struct Detection2D {
  std_msgs::msg::Header header;
  std::vector<ObjectHypothesisWithPose> results;
  BoundingBox2D bbox;
  std::string id;
};
struct Detection2DArray {
  std_msgs::msg::Header header;
  std::vector<Detection2D> detections;
};
}  // namespace vision_msgs::msg
