// The node between stand-ins of ROS: what is published is what the library finds. Nobody's ROS.
#include <cstdlib>
#include <iostream>

#include "millrace_ros/detector_node.hpp"

namespace {

using millrace_ros::DetectorNode;
using sensor_msgs::msg::Image;
using vision_msgs::msg::Detection2DArray;
using Return = DetectorNode::CallbackReturn;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::cerr << "does not hold: " << what << '\n';
  std::exit(1);
}

std::shared_ptr<Image> message_of(const millrace::Image& image, int number, bool bgra) {
  auto message = std::make_shared<Image>();
  message->header.frame_id = "camera " + std::to_string(number);
  message->width = static_cast<std::uint32_t>(image.width());
  message->height = static_cast<std::uint32_t>(image.height());
  message->encoding = bgra ? "bgra8" : "rgb8";
  const std::size_t bytes = bgra ? 4 : 3;
  message->step = static_cast<std::uint32_t>(bytes * message->width + 5);  // rows with gaps
  message->data.resize(std::size_t{message->step} * message->height);
  for (std::uint32_t y = 0; y < message->height; ++y)
    for (std::uint32_t x = 0; x < message->width; ++x)
      for (std::size_t c = 0; c < 3; ++c)
        message->data[y * message->step + x * bytes + (bgra ? 2 - c : c)] =
            image.rgb()[3 * (std::size_t{y} * message->width + x) + c];
  return message;
}

}  // namespace

/// node_test APPLICATION PLAN PICTURE
int main(int, char** words) {
  rclcpp::NodeOptions options;
  options.parameters = {{"config", words[1]}, {"plan", words[2]}};
  DetectorNode node(options);
  const rclcpp_lifecycle::State state;
  expect(node.on_configure(state) == Return::SUCCESS, "configured");
  expect(node.on_activate(state) == Return::SUCCESS, "active");
  const auto application = millrace::Application::from_file(words[1]);
  const auto plan = millrace::Plan::from_file(words[2], application.model());
  const millrace::Image image = millrace::Image::from_file(words[3]);
  const millrace::Findings findings = application.start(plan).run(image);
  expect(findings.detections && !findings.detections->empty(), "there are boxes");
  const auto images =
      std::any_cast<std::shared_ptr<rclcpp::Subscription<Image>>>(node.ends.at("~/image"));
  const auto publisher =
      std::any_cast<std::shared_ptr<rclcpp_lifecycle::LifecyclePublisher<Detection2DArray>>>(
          node.ends.at("~/detections"));
  for (int number = 0; number < 2; ++number) images->call(message_of(image, number, number == 1));
  auto broken = message_of(image, 9, false);
  broken->encoding = "yuv422";
  images->call(broken);
  std::any_cast<rclcpp::TimerBase::SharedPtr>(node.ends.at("timer"))->call();
  expect(node.on_deactivate(state) == Return::SUCCESS, "inactive");
  expect(publisher->published.size() == 2, "two arrays");
  for (int number = 0; number < 2; ++number) {
    const Detection2DArray& array = publisher->published[static_cast<std::size_t>(number)];
    expect(array.header.frame_id == "camera " + std::to_string(number), "the image's header");
    expect(array.detections.size() == findings.detections->size(), "as many boxes");
    for (std::size_t i = 0; i < array.detections.size(); ++i) {
      const auto& box = array.detections[i].bbox;
      const millrace::Detection& found = (*findings.detections)[i];
      expect(box.size_x == found.width && box.size_y == found.height &&
                 box.center.position.x == found.left + found.width / 2 &&
                 box.center.position.y == found.top + found.height / 2 &&
                 array.detections[i].results.front().hypothesis.score == found.probability,
             "the same box");
    }
  }
  expect(node.on_cleanup(state) == Return::SUCCESS, "cleaned up");
  std::cout << findings.detections->size() << " boxes\n";
}
