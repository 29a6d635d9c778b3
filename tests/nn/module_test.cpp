#include "attend/nn/module.h"

#include <gtest/gtest.h>

#include "attend/nn/feed_forward.h"
#include "attend/ops/tape.h"
#include "tests/support/errors.h"
#include "tests/support/gradcheck.h"
#include "tests/support/temp_folder.h"

namespace attend {
namespace {

struct Stack {
  std::vector<FeedForward> layers;
  std::optional<Linear> head;
  Linear own;  // its parameters have no prefix

  Stack() : head(Linear(4, 3, false)), own(2, 2) {
    for (int i = 0; i < 2; ++i) layers.emplace_back(FeedForwardOptions{.width = 4, .inner = 6});
  }
  void visit(auto&& v) { v("layers", layers), v("head", head), v("", own); }
};

struct Tied {
  Linear a{3, 3, false}, b;
  Tied() { b.weight = a.weight; }
  void visit(auto&& v) { v("a", a), v("b", b); }
};

std::vector<std::string> names_of(Stack& stack) {
  std::vector<std::string> names;
  for (const NamedTensor& parameter : parameters(stack)) names.push_back(parameter.name);
  return names;
}

TEST(Module, VisitNamesEveryParameterByItsPath) {
  Stack stack;
  const std::vector<std::string> expected = {"layers.0.up.weight",
                                             "layers.0.up.bias",
                                             "layers.0.down.weight",
                                             "layers.0.down.bias",
                                             "layers.1.up.weight",
                                             "layers.1.up.bias",
                                             "layers.1.down.weight",
                                             "layers.1.down.bias",
                                             "head.weight",
                                             "weight",
                                             "bias"};
  EXPECT_EQ(names_of(stack), expected);
  EXPECT_EQ(count_parameters(stack), 2 * (24 + 6 + 24 + 4) + 12 + 6);
}

TEST(Module, TiedWeightsBecomeOneLeaf) {
  Tied tied;
  EXPECT_EQ(count_parameters(tied), 9);
  train_parameters(tied);
  EXPECT_EQ(tied.a.weight.node(), tied.b.weight.node());
  train_parameters(tied, false);
  EXPECT_FALSE(requires_grad(tied.a.weight));
}

TEST(Module, ParametersSurviveARoundTrip) {
  const test::TempFolder folder;
  Stack saved, loaded;
  save_parameters(saved, folder / "model.safetensors");
  load_parameters(loaded, folder / "model.safetensors");
  const std::vector<NamedTensor> a = parameters(saved), b = parameters(loaded);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].tensor.to_vector(), b[i].tensor.to_vector()) << a[i].name;
}

TEST(Module, TiedWeightsAreLoadedFromAnyOfTheirNames) {
  const test::TempFolder folder;
  const auto path = folder / "model.safetensors";
  Tied loaded;
  const Tensor weight = test::normal({3, 3});
  for (const char* name : {"a.weight", "b.weight"}) {
    loaded.a.weight.fill(0.f);
    save_safetensors(path, {{{name, weight}}});
    load_parameters(loaded, path);
    EXPECT_EQ(loaded.b.weight.to_vector(), weight.to_vector()) << name;
  }
  save_safetensors(path, {{{"a.weight", weight}, {"b.weight", weight}}});
  EXPECT_TRUE(load_parameters(loaded, path).missing.empty());
  save_safetensors(path, {{{"a.weight", weight}, {"b.weight", Tensor::zeros({3, 3})}}});
  EXPECT_ERROR(load_parameters(loaded, path), "tensors \"a.weight\" and \"b.weight\" differ");
}

TEST(Module, BorrowedParametersShareTheFileAndStayTied) {
  const test::TempFolder folder;
  Stack saved;
  save_parameters(saved, folder / "stack.safetensors");
  const init::Skipped skipped;
  Stack borrower;
  const std::byte* before = borrower.own.weight.raw();
  borrow_parameters(borrower, folder / "stack.safetensors");
  EXPECT_NE(borrower.own.weight.raw(), before);
  EXPECT_FALSE(borrower.own.weight.sole_owner());
  const std::vector<NamedTensor> expected = parameters(saved), got = parameters(borrower);
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(got[i].tensor.to_vector(), expected[i].tensor.to_vector()) << expected[i].name;

  Tied one, other;
  save_parameters(one, folder / "tied.safetensors");
  borrow_parameters(other, folder / "tied.safetensors");
  EXPECT_EQ(other.a.weight.raw(), other.b.weight.raw());
  EXPECT_EQ(other.a.weight.to_vector(), one.a.weight.to_vector());
}

TEST(Module, OptionalNamesMayBeMissingOrUnused) {
  const test::TempFolder folder;
  Linear part(2, 2);
  save_safetensors(folder / "model.safetensors", {{{"weight", Tensor::zeros({2, 2})}, {"more", Tensor::zeros({3})}}});
  EXPECT_ERROR(load_parameters(part, folder.path()), "1 parameters are missing from the file: \"bias\"");
  EXPECT_ERROR(load_parameters(part, folder.path(), {.optional = {"bias"}}), "belong to no parameter: \"more\"");
  const std::vector<float> bias = part.bias.to_vector();
  load_parameters(part, folder.path(), {.optional = {"bias", "more", "others"}});
  EXPECT_EQ(part.weight.to_vector(), std::vector<float>(4, 0.f));
  EXPECT_EQ(part.bias.to_vector(), bias);
}

TEST(Module, MissingAndUnusedNamesAreReportedAndNothingChanges) {
  const test::TempFolder folder;
  const auto path = folder / "model.safetensors";
  Stack stack;
  stack.head.reset();
  save_parameters(stack, path);
  Stack whole;
  const std::vector<float> before = whole.own.weight.to_vector();
  EXPECT_ERROR(load_parameters(whole, path), "1 parameters are missing from the file: \"head.weight\"");
  EXPECT_EQ(whole.own.weight.to_vector(), before);
  EXPECT_EQ(load_parameters(whole, path, {.allow_missing = true}).missing, std::vector<std::string>{"head.weight"});

  Linear part(2, 2);
  EXPECT_ERROR(load_parameters(part, path), "tensors of the file belong to no parameter: \"layers.0.down.bias\"");
  EXPECT_EQ(load_parameters(part, path, {.allow_unused = true}).unused.size(), 8u);
  EXPECT_EQ(part.weight.to_vector(), stack.own.weight.to_vector());

  Linear wider(3, 2);
  EXPECT_ERROR(load_parameters(wider, path, {.allow_unused = true}),
               "\"weight\" has the wrong shape: got [2, 2], expected [2, 3]");

  part.weight = Tensor::zeros({2, 2}, DType::i8);
  EXPECT_ERROR(load_parameters(part, path, {.allow_unused = true}),
               "\"weight\" has the wrong dtype: got float32, expected int8");
  part.weight = Tensor::zeros({2, 2}, DType::i32);
  EXPECT_ERROR(load_parameters(part, path, {.allow_unused = true}), "\"weight\" has the wrong dtype: got int32");
}

}  // namespace
}  // namespace attend
