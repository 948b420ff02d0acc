#pragma once
// Pictures and findings, between Python and the library.
#include <nanobind/nanobind.h>

#include <string>

#include "millrace/findings.h"

namespace millrace::python {

namespace nb = nanobind;

/// Of uint8, HEIGHTxWIDTHx3 or HEIGHTxWIDTH; `colours`: "rgb" or "bgr". Copies.
Image image_of(nb::handle array, const std::string& colours);
/// HEIGHTxWIDTHx3, red first; shares the memory. None: there is no picture.
nb::object pixels_of(Image image);
/// What is there: boxes, classes, map, embedding, text, json, crops.
nb::dict dict_of(const Findings& findings);

}  // namespace millrace::python
