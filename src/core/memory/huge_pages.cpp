#include "core/memory/huge_pages.hpp"

#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

namespace starling {

namespace {

/// `bytes` rounded up to whole pages, the unit of mappings.
std::size_t whole_pages(std::size_t bytes) {
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

}  // namespace

// The mapping is one huge page larger than needed, so that it contains an aligned block. The parts before and behind
// the block are unmapped.
void* map_block(std::size_t bytes) {
  const std::size_t size = whole_pages(bytes);
  const std::size_t all = size + huge_page;
  void* const memory = ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(memory) % huge_page) % huge_page;
  auto* const block = static_cast<std::byte*>(memory) + before;
  if (before > 0) ::munmap(memory, before);
  ::munmap(block + size, all - size - before);
#ifdef MADV_HUGEPAGE
  ::madvise(block, size, MADV_HUGEPAGE);  // without huge pages this is ordinary memory
#endif
  return block;
}

// The heap's own address is stored before the block.
void* allocate_lines(std::size_t bytes) {
  const std::size_t before = cache_line + sizeof(void*);
  if (bytes > static_cast<std::size_t>(-1) - before) return nullptr;
  void* const memory = std::malloc(bytes + before);
  if (memory == nullptr) return nullptr;
  const auto earliest = reinterpret_cast<std::uintptr_t>(memory) + sizeof(void*);
  auto* const block = reinterpret_cast<void**>((earliest + cache_line - 1) / cache_line * cache_line);
  block[-1] = memory;
  return block;
}

void free_lines(void* block) {
  if (block != nullptr) std::free(static_cast<void**>(block)[-1]);
}

void unmap_block(void* block, std::size_t bytes) {
  ::munmap(block, whole_pages(bytes));
}

}  // namespace starling
