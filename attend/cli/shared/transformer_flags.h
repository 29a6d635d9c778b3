// Flags of a new encoder–decoder Transformer, for all verbs that train one.
#pragma once
#include "attend/cli/shared/flags.h"
#include "attend/models/transformer.h"

namespace attend::cli {

/// --width, --heads, --inner, --activation, dropouts inside the layers, norms, positions. Encoder and decoder get the
/// same values.
void add_transformer_flags(Verb& group, TransformerOptions& options);

/// --NAME VALUE that sets two variables, whose types may differ. The default is that of the first.
template <typename Value, typename One, typename Other>
Flag* add_shared(Verb& verb, const char* name, One& one, Other& other, const char* help, const char* type) {
  return verb
      .add_option_function<Value>(
          name,
          [&one, &other](const Value& value) { one = static_cast<One>(value), other = static_cast<Other>(value); },
          help)
      ->type_name(type);
}

}  // namespace attend::cli
