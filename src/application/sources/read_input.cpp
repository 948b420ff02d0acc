#include "application/sources/read_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "application/codecs/camera.h"
#include "base/error.h"
#include "base/text/masked.h"
#include "board/read_values.h"

namespace millrace::application {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view input_keys[] = {"name",     "images", "video", "camera", "arrays",
                                           "rate_fps", "drop",   "queue", "frames", "on_error",
                                           "watchdog_s", "reconnect_s"};
constexpr std::string_view drops[] = {"block", "oldest", "newest"};
constexpr std::string_view on_errors[] = {"skip", "stop"};
constexpr std::size_t most_inputs = 64;
constexpr double slowest_fps = 1e-5;  // a frame in 28 hours

std::string read_place(const YamlView& view, InputKind kind) {
  if (kind != InputKind::camera) return view.path();
  const std::string camera = view.scalar();
  camera_of(camera, view.place());
  return camera;
}

void read_on_error(const YamlView& view, Input& input) {
  if (!view.has("on_error")) return;
  if (input.kind != InputKind::images)
    view.at("on_error").fail("is for 'images', a folder of pictures; leave it out");
  input.on_error = static_cast<OnError>(board::read_word(view.at("on_error"), on_errors));
}

void read_watchdog(const YamlView& view, Input& input) {
  constexpr double shortest_s = 0.1, longest_s = 1e6;
  for (const char* key : {"watchdog_s", "reconnect_s"})
    if (view.has(key) && input.kind != InputKind::camera)
      view.at(key).fail("is for a camera; leave it out");
  if (view.has("watchdog_s"))
    input.watchdog =
        time_from_seconds(board::read_number(view.at("watchdog_s"), {shortest_s, longest_s}));
  if (view.has("reconnect_s"))
    input.reconnect = time_from_seconds(board::read_number(view.at("reconnect_s"), {0, longest_s}));
}

void read_queue(const YamlView& view, Input& input) {
  if (input.kind == InputKind::camera && input.rate_fps > 0)
    view.at("rate_fps").fail("a camera has a rate of its own; leave it out");
  for (const char* key : {"drop", "queue"})
    if (view.has(key) && !input.is_live())
      view.at(key).fail("is for live input: a camera, or a file with 'rate_fps'");
  if (input.kind == InputKind::camera && !view.has("drop")) {
    input.drop = Drop::oldest;
    input.queue = 1;
  }
  if (view.has("drop")) input.drop = static_cast<Drop>(board::read_word(view.at("drop"), drops));
  if (view.has("queue")) input.queue = board::read_count(view.at("queue"), 1, 10'000);
}

/// Files and folders are called so.
bool is_plain_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
}

Input read_input(const YamlView& view) {
  view.only(input_keys);
  constexpr std::array<std::string_view, 4> kinds{"images", "video", "camera", "arrays"};
  Input input;
  input.place = view.place();
  int found = 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (!view.has(kinds[i])) continue;
    ++found;
    input.kind = static_cast<InputKind>(i);
    input.path = read_place(view.at(kinds[i]), input.kind);
  }
  if (found != 1)
    view.fail(fmt::format("found {} of images, video, camera and arrays, expected one", found));
  if (view.has("name")) {
    input.name = view.at("name").text();
    if (!is_plain_name(input.name))
      view.at("name").fail(
          fmt::format("found '{}', expected letters, digits, '_' and '-'", input.name));
  }
  if (view.has("rate_fps"))
    input.rate_fps = board::read_number(view.at("rate_fps"), {slowest_fps, 1e6});
  if (view.has("frames")) input.frames = board::read_count(view.at("frames"), 1, 1'000'000'000);
  read_on_error(view, input);
  read_queue(view, input);
  read_watchdog(view, input);
  return input;
}

/// By the file or the camera, with a number where others are called the same.
std::string name_for(const Input& input, const std::vector<Input>& before) {
  const bool is_camera = input.kind == InputKind::camera;
  std::string name =
      is_camera ? "camera" + masked_address(input.path) : fs::path(input.path).stem().string();
  for (char& c : name)
    if (!is_plain_name({c})) c = '_';
  if (name.empty()) name = "input";
  const auto is_taken = [&](const std::string& text) {
    return std::any_of(before.begin(), before.end(),
                       [&](const Input& each) { return each.name == text; });
  };
  std::string result = name;
  for (int number = 2; is_taken(result); ++number) result = fmt::format("{}_{}", name, number);
  return result;
}

void check_beside(const YamlView& view, const Input& input, const std::vector<Input>& before) {
  if (before.empty()) return;
  const Input& first = before.front();
  if (input.is_live() != first.is_live())
    view.fail("some inputs are live and some are not; give each file a 'rate_fps', or none");
  if ((input.kind == InputKind::arrays) != (first.kind == InputKind::arrays))
    view.fail("arrays are not pre-processed, and pictures are; give inputs of one kind");
}

}  // namespace

std::vector<Input> read_inputs(const YamlView& view) {
  if (view.is_map() || view.is_scalar()) {
    std::vector<Input> one{read_input(view)};
    if (!one.front().name.empty())
      view.at("name").fail("is for one of several inputs; leave it out");
    return one;
  }
  std::vector<Input> inputs;
  for (const YamlView& item : view.items()) {
    Input input = read_input(item);
    check_beside(item, input, inputs);
    const bool is_taken = std::any_of(inputs.begin(), inputs.end(), [&](const Input& each) {
      return !input.name.empty() && each.name == input.name;
    });
    if (is_taken) item.at("name").fail(fmt::format("'{}' is given twice", input.name));
    if (input.name.empty()) input.name = name_for(input, inputs);
    inputs.push_back(std::move(input));
  }
  if (inputs.empty() || inputs.size() > most_inputs)
    view.fail(fmt::format("found {} inputs, expected 1 to {}", inputs.size(), most_inputs));
  if (inputs.size() == 1) inputs.front().name.clear();
  return inputs;
}

}  // namespace millrace::application
