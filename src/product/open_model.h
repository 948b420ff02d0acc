#pragma once
// Models into networks.
#include <string>

#include "formats/model_source.h"
#include "network/network.h"
#include "product/context.h"

namespace millrace::product {

/// InputError if it is neither a readable file nor a zoo name. Says so if the weights of a Darknet
/// configuration are random.
network::Network open_model(const formats::ModelSource& source, const Context& context = {});

/// Before a network answers on real input. InputError if its weights are random: of the zoo, or of
/// a Darknet configuration without weights. Where `source` wants them random, that is only noted.
void check_weights(const network::Network& network, const formats::ModelSource& source,
                   const millrace::Context& context);

/// How the model of a plan was read; from another file if one is given. InputError if the model is
/// not there any more.
formats::ModelSource model_of_plan(const std::string& plan, const std::string& other_file = {});
/// The same, whether the model is there or not.
formats::ModelSource model_named_in(const std::string& plan, const std::string& other_file = {});

}  // namespace millrace::product
