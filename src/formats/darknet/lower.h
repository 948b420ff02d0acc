#pragma once
// One function per kind of section: each appends the section's layers and gives their output.
#include "formats/darknet/reading.h"

namespace millrace::formats::darknet {

/// Reads all sections but [net]. InputError for a kind that is unknown or not supported.
void lower_sections(Reading& reading);

// lower_product.cpp
TensorId lower_convolutional(Reading& reading);
TensorId lower_connected(Reading& reading);
TensorId lower_batchnorm(Reading& reading);
// lower_window.cpp
TensorId lower_maxpool(Reading& reading);
TensorId lower_avgpool(Reading& reading);
TensorId lower_upsample(Reading& reading);
// lower_arrange.cpp
TensorId lower_route(Reading& reading);
TensorId lower_shortcut(Reading& reading);
TensorId lower_reorg(Reading& reading);
TensorId lower_scale_channels(Reading& reading);
TensorId lower_sam(Reading& reading);
TensorId lower_nothing(Reading& reading);
// lower_head.cpp
TensorId lower_yolo(Reading& reading);
TensorId lower_region(Reading& reading);
TensorId lower_detection(Reading& reading);
TensorId lower_softmax(Reading& reading);

// lower_activation.cpp
/// The layers of the section's 'activation' behind `x`.
TensorId activate(Reading& reading, TensorId x, std::string_view fallback);

}  // namespace millrace::formats::darknet
