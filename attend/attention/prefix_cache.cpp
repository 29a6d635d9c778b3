#include "attend/attention/prefix_cache.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <list>
#include <map>
#include <utility>

namespace attend {

/// A tree of blocks for each model and kind of text. The blocks of all trees are in a list, the ones that were used
/// last first. A block is used whenever one after it is, and stands before it in the list. So the last one has no
/// others after it, and can be dropped.
struct PrefixCache::Pool {
  using Tokens = std::array<std::int32_t, kBlock>;
  struct Block;
  using Blocks = std::map<Tokens, std::list<Block>::iterator>;
  struct Block {
    Blocks* siblings;
    Tokens tokens;
    Tensor keys_values;
    Blocks next = {};
  };
  std::int64_t limit = 0;
  std::function<std::int64_t()> room = {};
  std::int64_t models = 1;
  std::map<std::pair<std::int64_t, std::int64_t>, Blocks> roots = {};  // by model and kind
  std::list<Block> blocks = {};
  std::atomic<std::int64_t> bytes = 0;

  std::int64_t most() const { return room ? std::min(limit, room()) : limit; }

  /// The blocks that a text begins with.
  std::vector<std::list<Block>::iterator> path(std::span<const std::int32_t> text, std::int64_t model,
                                               std::int64_t kind) {
    std::vector<std::list<Block>::iterator> path;
    const auto root = roots.find({model, kind});
    for (const Blocks* from = root == roots.end() ? nullptr : &root->second; from && std::ssize(text) >= kBlock;
         text = text.subspan(kBlock)) {
      const auto found = from->find(tokens_of(text));
      if (found == from->end()) break;
      path.push_back(found->second);
      from = &found->second->next;
    }
    return path;
  }
  static Tokens tokens_of(std::span<const std::int32_t> text) {
    Tokens tokens;
    std::copy_n(text.begin(), kBlock, tokens.begin());
    return tokens;
  }
  void use(std::span<const std::list<Block>::iterator> path) {
    for (std::size_t i = path.size(); i-- > 0;) blocks.splice(blocks.begin(), blocks, path[i]);
  }
  void drop_last() {
    const Block& last = blocks.back();
    bytes -= static_cast<std::int64_t>(last.keys_values.bytes());
    last.siblings->erase(last.tokens);
    blocks.pop_back();
  }
};

PrefixCache::PrefixCache(std::int64_t bytes, std::function<std::int64_t()> room) : pool_(std::make_shared<Pool>()) {
  pool_->limit = bytes, pool_->room = std::move(room);
}
PrefixCache::PrefixCache(std::shared_ptr<Pool> pool, std::int64_t model) : pool_(std::move(pool)), model_(model) {}

PrefixCache PrefixCache::for_another_model() const { return {pool_, pool_->models++}; }

std::vector<Tensor> PrefixCache::find(std::span<const std::int32_t> text, std::int64_t kind) {
  const auto path = pool_->path(text, model_, kind);
  pool_->use(path);
  std::vector<Tensor> found;
  for (const auto& block : path) found.push_back(block->keys_values);
  return found;
}

std::int64_t PrefixCache::matching(std::span<const std::int32_t> text, std::int64_t kind) const {
  return std::ssize(pool_->path(text, model_, kind)) * kBlock;
}

void PrefixCache::add(std::span<const std::int32_t> text, const std::function<Tensor(std::int64_t first)>& make,
                      std::int64_t kind) {
  Pool& pool = *pool_;
  auto path = pool.path(text, model_, kind);
  pool.use(path);
  const std::int64_t most = pool.most();
  for (std::int64_t first = std::ssize(path) * kBlock; first + kBlock <= std::ssize(text); first += kBlock) {
    Tensor keys_values = make(first);
    const auto bytes = static_cast<std::int64_t>(keys_values.bytes());
    // The blocks of this text are the first ones of the list.
    while (pool.bytes + bytes > most && pool.blocks.size() > path.size()) pool.drop_last();
    if (pool.bytes + bytes > most) return;
    Pool::Blocks& siblings = path.empty() ? pool.roots[{model_, kind}] : path.back()->next;
    const Pool::Tokens tokens = Pool::tokens_of(text.subspan(static_cast<std::size_t>(first)));
    const auto after = path.empty() ? pool.blocks.begin() : std::next(path.back());
    path.push_back(pool.blocks.insert(after, Pool::Block{&siblings, tokens, std::move(keys_values)}));
    siblings.emplace(tokens, path.back());
    pool.bytes += bytes;
  }
}

void PrefixCache::trim() {
  const std::int64_t most = pool_->most();
  while (pool_->bytes > most && !pool_->blocks.empty()) pool_->drop_last();
}

std::int64_t PrefixCache::bytes() const { return pool_->bytes; }

}  // namespace attend
