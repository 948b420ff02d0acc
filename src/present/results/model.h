#pragma once
// What models have in them, for people and for programs: schemas/inspection.schema.json and
// zoo.schema.json.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "product/engines.h"

namespace millrace::present {

/// Layers, inputs, outputs, and what each engine runs of them.
std::string inspection_text(const network::Network& network,
                            const std::vector<product::Support>& engines);
std::string inspection_json(const network::Network& network,
                            const std::vector<product::Support>& engines);

/// By layer: what it is, how much it computes, reads and writes.
nlohmann::json layers_json(const network::Network& network);

/// All networks of the zoo.
std::string zoo_text();
std::string zoo_json();
/// One that was written into a file.
std::string zoo_model_json(const std::string& name, const std::string& file, std::uint64_t seed);

}  // namespace millrace::present
