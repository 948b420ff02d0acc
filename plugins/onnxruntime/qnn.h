#pragma once
// Qualcomm's provider QNN, which comes as a plug-in of ONNX Runtime: the package onnxruntime-qnn.
#include "provider.h"

namespace millrace_onnxruntime {

/// With the provider of the package, if that is there; else as it was, for a library that has QNN
/// built in. On a PC the package's HTP computes on cores. LibraryFailure with the library's reason.
void use_qnn_package(Provider& provider, const MillraceOpening& opening);

/// Whether it computes on cores what is meant for an NPU.
bool is_emulated(const Provider& provider);

}  // namespace millrace_onnxruntime
