// Any bytes as the body of a request, and all that is asked of one.
#include <string_view>

#include "attend/core/error.h"
#include "attend/serve/fields.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attend;
  using namespace attend::serve;
  const auto attempt = [](auto&& read) {
    try {
      read();
    } catch (const Error&) {
    }
  };
  attempt([&] {
    const Json body = parse_object({reinterpret_cast<const char*>(data), size});
    if (parse_object(dump(body)) != body) __builtin_trap();
    Fields fields(body);
    attempt([&] { fields.text("model"); });
    attempt([&] { fields.texts("prompt"); });
    attempt([&] { fields.optional_texts("stop"); });
    attempt([&] { fields.integer("n", 1, 128); });
    attempt([&] { fields.integer("seed", -1, std::int64_t{1} << 53); });
    attempt([&] { fields.number("temperature", 0, 100); });
    attempt([&] { fields.flag("stream"); });
    attempt([&] { fields.integers("layers"); });
    attempt([&] { fields.choice("long", {"error", "slide"}); });
    attempt([&] { fields.refuse("logit_bias", {Json::object()}, "not here"); });
    attempt([&] {
      if (const Json* options = fields.find("stream_options")) Fields(*options, "stream_options.").refuse_others();
    });
    attempt([&] { fields.refuse_others(); });
  });
  return 0;
}
