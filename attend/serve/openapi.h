// The description of the HTTP API that GET /openapi.json returns.
#pragma once
#include <string>

namespace attend::serve {

/// The document. openapi.json is its template: where a request has "x-generation-options", the properties of the
/// declared generation options are added.
const std::string& openapi_document();

}  // namespace attend::serve
