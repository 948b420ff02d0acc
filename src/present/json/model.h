#pragma once
// What models have in them, for programs: schemas/inspection.schema.json and zoo.schema.json.
#include <cstdint>
#include <string>
#include <vector>

#include "product/engines.h"

namespace millrace::present {

/// Of the first; "-" if the layer has none.
std::string shape_of_output(const network::Network& network, const network::Layer& layer);

std::string inspection_json(const network::Network& network,
                            const std::vector<product::Support>& engines);

/// All networks of the zoo.
std::string zoo_json();
/// One that was written into a file.
std::string zoo_model_json(const std::string& name, const std::string& file, std::uint64_t seed);

}  // namespace millrace::present
