// Reading a text only to see where a model looks.
#pragma once
#include <functional>

#include "attend/attention/map.h"

namespace attend {

/// Fills the views of a map, for which there is room (see prepare), while `read` runs a model with the probe. The model
/// is stopped as soon as all has come: of the first layer's weights, the last layer is none of the cost.
void capture(AttentionMap& map, const std::function<void(Probe& probe)>& read);

}  // namespace attend
