#pragma once
// What models have in them, for people.
#include <string>
#include <vector>

#include "product/engines.h"

namespace millrace::present {

/// Layers, inputs, outputs, and what each engine runs of them.
std::string inspection_text(const network::Network& network,
                            const std::vector<product::Support>& engines);

/// All networks of the zoo.
std::string zoo_text();

}  // namespace millrace::present
