#pragma once
// One function per network, each like the table of its publication. They give the serialised
// ONNX model.
#include <string>

#include "network/zoo/builder.h"

namespace millrace::network::zoo {

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

}  // namespace millrace::network::zoo
