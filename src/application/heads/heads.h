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

}  // namespace millrace::application
