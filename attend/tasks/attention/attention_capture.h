// Runs a model only for its attention weights.
#pragma once
#include <functional>

#include "attend/attention/map.h"

namespace attend {

/// Fills the views of a map (see prepare()) while `read` runs a model with the probe. The model is stopped as soon as
/// all selected layers are recorded, so that later layers are not computed.
void capture(AttentionMap& map, const std::function<void(Probe& probe)>& read);

}  // namespace attend
