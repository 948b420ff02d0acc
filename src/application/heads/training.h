#pragma once
// What pictures the networks of a head are trained with, as their authors publish it.
#include <string>

#include "application/application.h"
#include "network/network.h"

namespace millrace::application {

/// An application of the post-processing `detect` that says nothing of the pixels takes what the
/// networks of its head are trained with. False if nothing changed: other kinds, other heads.
/// InputError as make_postprocessing().
bool take_training(Application& application, const network::Network& network);

/// "fit: letterbox, fill: 0.447": what differs from the default, as an application says it.
std::string pixels_text(const ImageSettings& image);

}  // namespace millrace::application
