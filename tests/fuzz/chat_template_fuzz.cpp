// Any bytes either are a chat template that makes a prompt, or give an InputError.
#include "attend/text/chat_template.h"

#include <cstdint>
#include <string>

#include "attend/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attend;
  try {
    const ChatTemplate chat(std::string(reinterpret_cast<const char*>(data), size));
    chat.render(
        {.messages =
             R"([{"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": "é"}]},
                                 {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1.5}}}]}])",
         .tools =
             R"([{"type": "function", "function": {"name": "f", "parameters": {"properties": {"a": {"type": "number"}}}}}])",
         .arguments = R"({"bos_token": "<s>", "n": [3, 1, 2], "d": {"b": 1, "a": null}})"});
  } catch (const InputError&) {
  }
  return 0;
}
