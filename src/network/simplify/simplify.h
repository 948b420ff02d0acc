#pragma once
// The passes between the file and the network that is mapped. Each is network to network.
#include "network/network.h"
#include "network/simplify/folding.h"

namespace millrace::network {

/// float16 becomes float32 everywhere but in the network's inputs and outputs, behind and before
/// which stands a Cast: constants are converted once, results in between are not rounded to half
/// precision, and all kernels for float32 serve. Casts between the two types inside vanish.
Network widen_half(Network network);
/// Layers whose inputs are all constants become constants. Those that were dequantised keep the
/// integers they were made of, through transpositions too (see Tensor::quantized).
Network fold_constants(Network network);
/// The same with what is left of the budget that the network was read with.
Network fold_constants_within(Network network, FoldingBudget budget);
/// BatchNormalization, and Mul or Add by a per-channel constant, into the convolution before
/// them, or into one BatchNormalization where there is none. Quantised weights stay quantised, with
/// a scale for every channel.
Network fold_batch_normalization(Network network);
/// Reshapes that change nothing, and those whose result is reshaped again.
Network merge_reshapes(Network network);
/// A Pad with zeros around images into the convolutions that read it.
Network fold_padding(Network network);
/// A convolution without the rows and columns of its kernel that only ever meet padding, such as
/// those that are dilated beyond a small image. Quantised weights stay whole, and those that
/// several layers share.
Network cut_unseen_taps(Network network);
/// Several layers that compute a known function of one number, in whatever order, become that
/// function: the forms of GELU, of Swish with a factor, Mish, HardSwish. Recognised by its values.
Network recognise_functions(Network network);
/// LayerNormalization and RMSNormalization that were written as means, squares and roots.
Network recognise_normalizations(Network network);
/// A convolution of single pixels behind a concatenation of images that were enlarged: enlarging
/// is linear, so that the small images are convolved and the sums enlarged.
Network weigh_before_enlarging(Network network);
/// Layers and constants that no output needs; inputs stay.
Network remove_unused(Network network);
/// All of them, in the one order that works; read_network applies it.
Network simplify(Network network);
Network simplify(Network network, const FoldingBudget& budget);

}  // namespace millrace::network
