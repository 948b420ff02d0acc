#pragma once
// Models into networks.
#include <string>

#include "api/context.h"
#include "network/model_source.h"
#include "network/network.h"

namespace millrace::api {

/// InputError if it is neither a readable file nor a zoo name. Says so if the weights of a Darknet
/// configuration are random.
network::Network open_model(const network::ModelSource& source, const Context& context = {});

/// Before a network answers on real input. InputError if the file has no weights, though it should:
/// of a Darknet configuration. Notes that weights are random on purpose: of the zoo.
void check_weights(const network::Network& network, const network::ModelSource& source,
                   const Context& context);

/// How the model of a plan was read; from another file if one is given. InputError if the model is
/// not there any more.
network::ModelSource model_of_plan(const std::string& plan, const std::string& other_file = {});
/// The same, whether the model is there or not.
network::ModelSource model_named_in(const std::string& plan, const std::string& other_file = {});

}  // namespace millrace::api
