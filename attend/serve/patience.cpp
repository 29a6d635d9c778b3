#include "attend/serve/patience.h"

#include "attend/serve/api_error.h"

namespace attend::serve {

void Patience::check() const {
  if (*stopped) throw shutting_down();
  if (hung_up && hung_up()) throw ApiError(499, "hung_up", "the client has hung up");
  if (std::chrono::steady_clock::now() >= deadline)
    throw ApiError(504, "timeout", "the request took longer than the server allows");
}

}  // namespace attend::serve
