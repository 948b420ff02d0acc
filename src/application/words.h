#pragma once
// The names of the processings that are built in.
#include <algorithm>
#include <array>
#include <string_view>

namespace millrace::application {

inline constexpr std::array<std::string_view, 10> built_in{
    "image",        "top_k",     "detect",    "yolo", "region",
    "segmentation", "keypoints", "embedding", "text", "raw"};

inline bool is_built_in(std::string_view name) {
  return std::find(built_in.begin(), built_in.end(), name) != built_in.end();
}

}  // namespace millrace::application
