#include "attend/text/printable.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(Printable, EscapesControlCharactersAndInvalidBytesOnly) {
  EXPECT_EQ(printable("perché\t中😀\n"), "perché\t中😀\n");
  EXPECT_EQ(printable("\x1b[2J"), "\\x1B[2J");
  EXPECT_EQ(printable(std::string_view("a\0b\r\x7f", 5)), "a\\x00b\\x0D\\x7F");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xC2\\x9B");  // CSI as one character
  EXPECT_EQ(printable("\x9b\xe4\xb8"), "\\x9B\\xE4\\xB8");
}

}  // namespace
}  // namespace attend
