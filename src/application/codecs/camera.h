#pragma once
// What an application may name as a camera.
#include <optional>
#include <string>

namespace millrace::application {

/// A video device by its number, or an address in the network.
struct Camera {
  std::optional<int> number = std::nullopt;  // of /dev/videoN
  std::string address = {};                  // if there is no number
};

/// The camera of a number, /dev/videoN, or an address that begins with a scheme of videos, such as
/// rtsp://. Nothing else reaches the libraries that open cameras: some take any text for a program
/// of theirs, and the text may come from anywhere. InputError naming `place`.
Camera camera_of(const std::string& text, const std::string& place);

}  // namespace millrace::application
