#pragma once
// One function per network, each like the table of its publication. They give the serialised
// ONNX model.
#include <string>

#include "formats/zoo/layers.h"

namespace millrace::formats::zoo {

std::string bvlc_alexnet(Builder& net, const Value& image);
std::string vgg_19(Builder& net, const Value& image);
std::string bvlc_googlenet(Builder& net, const Value& image);
std::string inception_v1(Builder& net, const Value& image);
std::string tiny_yolo_v2(Builder& net, const Value& image);
std::string resnet18(Builder& net, const Value& image);
std::string resnet50(Builder& net, const Value& image);
std::string densenet121(Builder& net, const Value& image);
std::string emotion_ferplus(Builder& net, const Value& image);
std::string squeezenet1_1(Builder& net, const Value& image);
std::string mobilenet_v1(Builder& net, const Value& image);
std::string mobilenet_v2(Builder& net, const Value& image);
// At any multiple of 32 pixels.
std::string yolov2(Builder& net, const Value& image);
std::string yolov2_tiny(Builder& net, const Value& image);
std::string yolov3(Builder& net, const Value& image);
std::string yolov3_tiny(Builder& net, const Value& image);
std::string yolov4(Builder& net, const Value& image);
std::string yolov4_tiny(Builder& net, const Value& image);
std::string yolov4_csp(Builder& net, const Value& image);
std::string csresnext50_panet(Builder& net, const Value& image);
std::string densenet201_yolo(Builder& net, const Value& image);

}  // namespace millrace::formats::zoo
