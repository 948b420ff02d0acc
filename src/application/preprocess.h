#pragma once
// Pictures to the input of a network.
#include <memory>

#include "application/application.h"
#include "application/processing.h"

namespace millrace::application {

/// The picture scaled into `placement.size`, three floats of 0 to 255 per pixel, as `how` says.
/// `darknet` is Darknet's own rule: corners of the picture on corners of the input, first along
/// rows, then along columns, in float.
std::vector<float> resized(const Image& image, const Size& size, Interpolation how);

/// Built-in (kind `image`) or a plug-in's. InputError if it does not fit the network.
std::unique_ptr<Processing> make_preprocessing(const Application& application,
                                               const network::Network& network,
                                               const Registry& registry);

/// Size of the network's first input, which has to be that of pictures.
Size input_size(const network::Network& network, const ImageSettings& settings,
                const std::string& place);

}  // namespace millrace::application
