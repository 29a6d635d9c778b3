// Grammars and JSON Schemas of strangers, with a small stack. The input is a grammar, a schema if it begins with {, or
// a regular expression if it begins with /. Any of them gives a grammar or an InputError. The shortest text of a
// grammar conforms to it, and that of a schema is JSON.
#include "attend/text/grammar/grammar.h"

#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "attend/core/error.h"
#include "attend/text/grammar/grammar_matcher.h"
#include "attend/text/grammar/json_schema.h"
#include "tests/support/small_stack.h"

namespace {

using namespace attend;

void follow(std::string_view input) {
  const bool is_schema = input.starts_with('{'), is_pattern = input.starts_with('/');
  std::string gbnf(input);
  if (is_schema) gbnf = json_schema_grammar(input).gbnf;
  if (is_pattern) gbnf = json_schema_grammar(nlohmann::json{{"pattern", std::string(input.substr(1))}}.dump()).gbnf;
  GrammarMatcher matcher{Grammar(gbnf)};
  const std::string shortest = matcher.shortest(matcher.start());
  std::uint32_t set = matcher.start();
  for (const char c : shortest) set = matcher.step(set, static_cast<unsigned char>(c));
  if (!matcher.accepts(set)) std::abort();
  if ((is_schema || is_pattern) && !nlohmann::json::accept(shortest)) std::abort();
  // Another text: the grammar's own bytes where they are allowed, otherwise the shortest end.
  set = matcher.start();
  for (std::size_t i = 0; i < 3 * input.size(); ++i) {
    matcher.renew_budget();
    if (const std::uint32_t next = matcher.step(set, static_cast<unsigned char>(input[i % input.size()])); next != 0)
      set = next;
  }
  for (const char c : matcher.shortest(set)) {
    matcher.renew_budget();
    set = matcher.step(set, static_cast<unsigned char>(c));
  }
  if (!matcher.accepts(set)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (size == 0 || size > 2000) return 0;
  attend::test::run_with_small_stack([&] {
    try {
      follow(input);
    } catch (const InputError&) {
    } catch (const nlohmann::json::exception&) {  // a pattern that is not UTF-8 cannot be written as JSON
      if (!input.starts_with('/')) throw;
    }
  });
  return 0;
}
