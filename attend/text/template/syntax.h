// Reads the source of a chat template: Jinja's language with trim_blocks and lstrip_blocks, as in transformers.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attend/text/template/value.h"

namespace attend::jinja {

/// Where something is in the source, from 1.
struct Place {
  std::uint32_t line = 1, column = 1;
};

enum class Operation : std::uint8_t {
  // Expressions: operands are in `parts`.
  constant,  // value
  name,      // symbol
  list,
  tuple,
  dict,       // key, value, key, value, …
  attribute,  // object; text
  item,       // object, key
  slice,      // object, begin, end, step; null where one is missing
  call,       // function; arguments
  filter,     // subject, or null in a filter block; text, arguments
  test,       // subject; text, arguments
  negate,
  plus,
  logical_not,
  logical_and,
  logical_or,
  conditional,  // condition, value, otherwise or null
  concatenate,
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  compare,  // first, then the others; text has a letter for each comparison: = ! < l > g i n
  // Statements
  body,          // statements
  data,          // value
  output,        // expressions
  set,           // target, expression
  set_block,     // target, filter or null, body
  if_block,      // condition, body, condition, body, …, else
  for_block,     // target, iterable, condition or null, body, else or null; flag: recursive
  macro,         // body, defaults…; symbol, parameters
  call_block,    // call, macro
  filter_block,  // filter, body
  with_block,    // body, target, expression, target, expression, …
  scope,         // body
  break_loop,
  continue_loop,
  names_attribute,  // a target: symbol, text
};

struct Node;
using NodePtr = std::unique_ptr<const Node>;
using Symbol = std::uint32_t;

struct Argument {
  std::string name;             // "", a keyword, "*" or "**"
  const Node* value = nullptr;  // of Node::parts
};

struct Node {
  Operation operation;
  bool flag = false;
  Place place;
  std::uint32_t depth = 1;
  Symbol symbol = 0;
  std::string text = {};
  Value value = {};
  std::vector<NodePtr> parts = {};
  std::vector<Argument> arguments = {};
  std::vector<Symbol> parameters = {};  // of a macro
  bool uses_caller = false, uses_kwargs = false, uses_varargs = false;
};

/// A template that was read.
struct Syntax {
  NodePtr body;
  std::vector<std::string> symbols;  // the names of variables
};

/// An error of the source.
class SyntaxProblem : public Problem {
 public:
  SyntaxProblem(Place place, const std::string& what) : Problem(what), place(place) {}
  Place place;
};

/// Throws SyntaxProblem.
Syntax parse(std::string_view source);

}  // namespace attend::jinja
