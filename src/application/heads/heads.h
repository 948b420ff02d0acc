#pragma once
// One fit and one decode function for each head; head.h says what they do.
#include "application/heads/head.h"

namespace millrace::application {

// yolo.cpp: boxes in pixels of the input.
std::optional<BoxLayout> fit_yolov5(const Outputs& outputs, bool named);
std::optional<BoxLayout> fit_yolov6(const Outputs& outputs, bool named);
void decode_yolov5(const BoxLayout& layout, Frame frame, const Size& input, MostProbable& found);
std::optional<BoxLayout> fit_yolox(const Outputs& outputs, bool named);
void decode_yolox(const BoxLayout& layout, Frame frame, const Size& input, MostProbable& found);
std::optional<BoxLayout> fit_yolov8(const Outputs& outputs, bool named);
void decode_yolov8(const BoxLayout& layout, Frame frame, const Size& input, MostProbable& found);
// queries.cpp: a list of boxes that needs no suppression.
std::optional<BoxLayout> fit_end_to_end(const Outputs& outputs, bool named);
void decode_end_to_end(const BoxLayout& layout, Frame frame, const Size& input,
                       MostProbable& found);
std::optional<BoxLayout> fit_rtdetr(const Outputs& outputs, bool named);
void decode_rtdetr(const BoxLayout& layout, Frame frame, const Size& input, MostProbable& found);
std::optional<BoxLayout> fit_detr(const Outputs& outputs, bool named);
void decode_detr(const BoxLayout& layout, Frame frame, const Size& input, MostProbable& found);
// grids.cpp: from the cells of grids.
std::optional<BoxLayout> fit_nanodet(const Outputs& outputs, bool named);
void decode_nanodet(const BoxLayout& layout, Frame frame, const Size& input, MostProbable& found);
std::optional<BoxLayout> fit_centernet(const Outputs& outputs, bool named);
void decode_centernet(const BoxLayout& layout, Frame frame, const Size& input, MostProbable& found);
// priors.cpp: scores and boxes in outputs of their own.
std::optional<BoxLayout> fit_ssd(const Outputs& outputs, bool named);
void decode_ssd(const BoxLayout& layout, Frame frame, const Size& input, MostProbable& found);
std::optional<BoxLayout> fit_yolo_nas(const Outputs& outputs, bool named);
void decode_yolo_nas(const BoxLayout& layout, Frame frame, const Size& input, MostProbable& found);
std::optional<BoxLayout> fit_ultraface(const Outputs& outputs, bool named);
void decode_ultraface(const BoxLayout& layout, Frame frame, const Size& input, MostProbable& found);
std::optional<BoxLayout> fit_retinaface(const Outputs& outputs, bool named);
void decode_retinaface(const BoxLayout& layout, Frame frame, const Size& input,
                       MostProbable& found);
std::vector<Keypoint> keypoints_of_retinaface(const BoxLayout& layout, Frame frame,
                                              const Size& input, std::int64_t row);
// scrfd.cpp
std::optional<BoxLayout> fit_scrfd(const Outputs& outputs, bool named);
void decode_scrfd(const BoxLayout& layout, Frame frame, const Size& input, MostProbable& found);
std::vector<Keypoint> keypoints_of_scrfd(const BoxLayout& layout, Frame frame, const Size& input,
                                         std::int64_t row);

}  // namespace millrace::application
