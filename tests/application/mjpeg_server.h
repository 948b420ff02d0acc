#pragma once
// A camera on this machine: pictures over HTTP, each with a number that can be read from its
// pixels. It can be restarted, be frozen and change its size.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <opencv2/core.hpp>
#include <stdexcept>
#include <string>
#include <thread>

#include "application/codecs/codecs.h"
#include "application/picture.h"
#include "runtime/waiting/pace.h"

namespace millrace::test {

/// Sixteen cells, black or white: the bits of a number.
inline cv::Mat numbered(std::int64_t number, cv::Size size) {
  cv::Mat image(size, CV_8UC3, cv::Scalar::all(0));
  for (int bit = 0; bit < 16; ++bit)
    if (((number >> bit) & 1) != 0)
      image(cv::Rect(bit % 4 * size.width / 4, bit / 4 * size.height / 4, size.width / 4,
                     size.height / 4)) = cv::Scalar::all(255);
  return image;
}
inline std::int64_t number_of(const application::Image& image) {
  std::int64_t number = 0;
  for (int bit = 0; bit < 16; ++bit) {
    const int x = (2 * (bit % 4) + 1) * image.width / 8, y = (2 * (bit / 4) + 1) * image.height / 8;
    const auto at = static_cast<std::size_t>(3 * (y * image.width + x));
    if (image.bytes()[at] > 127) number |= std::int64_t{1} << bit;
  }
  return number;
}

/// Serves one reader at a time, from its construction to its destruction.
class MjpegServer {
 public:
  MjpegServer() { begin(); }
  ~MjpegServer() { end(); }
  MjpegServer(const MjpegServer&) = delete;
  MjpegServer& operator=(const MjpegServer&) = delete;

  std::string address() const { return fmt::format("http://127.0.0.1:{}/c.mjpg", port_); }
  void restart() {
    end();
    begin();
  }
  void end() {
    is_over_ = true;
    if (thread_.joinable()) thread_.join();
    if (listening_ >= 0) close(listening_);
    listening_ = -1;
  }
  /// This connection gives no more pictures; the next one does.
  void freeze() { is_frozen_ = true; }
  /// No connection gives any.
  void fall_silent() { is_silent_ = true; }
  void set_size(cv::Size size) {
    const std::lock_guard lock(mutex_);
    size_ = size;
  }
  std::int64_t connections() const { return connections_; }

 private:
  void begin() {
    is_over_ = false;
    listening_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    setsockopt(listening_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    place.sin_port = htons(port_);
    auto* const address = reinterpret_cast<sockaddr*>(&place);
    socklen_t length = sizeof place;
    // A reader that asks for a closed port may get it as its own, until it gives up.
    int is_taken = bind(listening_, address, length);
    for (int tries = 0; is_taken != 0 && tries < 500; ++tries) {
      poll(nullptr, 0, 20);
      is_taken = bind(listening_, address, length);
    }
    if (is_taken != 0 || listen(listening_, 4) != 0 ||
        getsockname(listening_, address, &length) != 0)
      throw std::runtime_error("the loopback has no port");
    port_ = ntohs(place.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  void serve() {
    while (!is_over_) {
      pollfd waiting{listening_, POLLIN, 0};
      if (poll(&waiting, 1, 20) <= 0) continue;
      const int reader = accept(listening_, nullptr, nullptr);
      ++connections_;
      is_frozen_ = false;
      give(reader);
      close(reader);
    }
  }
  static bool send_all(int reader, const std::string& text) {
    for (std::size_t sent = 0; sent < text.size();) {
      const auto count = send(reader, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return false;
      sent += static_cast<std::size_t>(count);
    }
    return true;
  }
  void give(int reader) {
    runtime::Pace pace(std::chrono::milliseconds(10));
    char asked[1024];
    if (recv(reader, asked, sizeof asked, 0) <= 0) return;
    if (!send_all(reader, "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; "
                          "boundary=frame\r\n\r\n"))
      return;
    while (!is_over_ && pace.wait()) {
      if (is_frozen_ || is_silent_) {
        pollfd gone{reader, POLLIN | POLLRDHUP, 0};
        if (poll(&gone, 1, 5) > 0) return;
        continue;
      }
      const std::lock_guard lock(mutex_);
      const auto bytes = application::codecs().encode(".jpg", numbered(next_++, size_));
      if (!send_all(reader, fmt::format("--frame\r\nContent-Type: image/jpeg\r\nContent-Length: "
                                        "{}\r\n\r\n",
                                        bytes.size())) ||
          !send_all(reader, std::string(bytes.begin(), bytes.end()) + "\r\n"))
        return;
    }
  }

  std::uint16_t port_ = 0;
  int listening_ = -1;
  std::atomic<bool> is_over_{false}, is_frozen_{false}, is_silent_{false};
  std::atomic<std::int64_t> connections_{0};
  std::mutex mutex_;
  cv::Size size_{64, 64};
  std::int64_t next_ = 0;
  std::thread thread_;
};

}  // namespace millrace::test
