/// Memory that processes of a host share, beside a child process that attaches it.
#include "net/host/shared_memory.hpp"

#include <cstdint>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

#include "core/check.hpp"
#include "core/memory/huge_pages.hpp"
#include "support/testing.hpp"

namespace starling::shared_memory_test {

using namespace testing_support;

/// What a child process finds: 0 if all is well.
int in_child(const std::function<int()>& look) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(look());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::byte content(std::size_t i) {
  return static_cast<std::byte>(i * 2654435761U >> 13);
}

class AnySharedMemory : public testing::TestWithParam<std::size_t> {};

TEST_P(AnySharedMemory, IsReadByWhoAttachesIt) {
  const std::size_t bytes = GetParam();
  const SharedMemory memory = SharedMemory::create(bytes);
  for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(memory.data()[i], std::byte{0}) << i;
  for (std::size_t i = 0; i < bytes; ++i) memory.data()[i] = content(i);
  const SharedPlace place = memory.place();
  EXPECT_EQ(in_child([&] {
              const SharedMemory theirs = SharedMemory::attach(place);
              if (theirs.data() == memory.data()) return 1;
              for (std::size_t i = 0; i < bytes; ++i) {
                if (theirs.data()[i] != content(i)) return 2;
              }
              return 0;
            }),
            0);
}

TEST_P(AnySharedMemory, LosesWhatIsDroppedForAll) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  SharedMemory memory = SharedMemory::create(page + GetParam());
  const SharedMemory same = SharedMemory::attach(memory.place());
  const std::size_t last = page + GetParam() - 1;
  for (const std::size_t i : {page - 1, page, last}) memory.data()[i] = std::byte{7};
  memory.drop(page - 3);
  EXPECT_EQ(same.data()[page - 1], std::byte{7});
  EXPECT_EQ(same.data()[page], std::byte{0});
  EXPECT_EQ(memory.data()[last], std::byte{0});
  memory.data()[last] = std::byte{9};
  EXPECT_EQ(same.data()[last], std::byte{9});
}

TEST_P(AnySharedMemory, ShowsWhatIsWrittenAfterwards) {
  const SharedMemory memory = SharedMemory::create(GetParam());
  const SharedMemory same = SharedMemory::attach(memory.place());
  for (const std::size_t i : {std::size_t{0}, GetParam() / 2, GetParam() - 1}) {
    memory.data()[i] = std::byte{7};
    EXPECT_EQ(same.data()[i], std::byte{7});
  }
}

// A file's huge pages are such in a process only where the first of them lies at a multiple of their size.
TEST_P(AnySharedMemory, BeginsAtAPageHugeWhereItCanBe) {
  const SharedMemory memory = SharedMemory::create(GetParam());
  const SharedMemory same = SharedMemory::attach(memory.place());
  const std::size_t page = GetParam() < 2 * huge_page ? 4096 : huge_page;
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % page, 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(same.data()) % page, 0U);
}

TEST_P(AnySharedMemory, StaysWithWhoHasItWhenItsOwnerGoes) {
  SharedMemory same;
  {
    const SharedMemory memory = SharedMemory::create(GetParam());
    memory.data()[GetParam() - 1] = std::byte{9};
    same = SharedMemory::attach(memory.place());
  }
  EXPECT_EQ(same.data()[GetParam() - 1], std::byte{9});
}

INSTANTIATE_TEST_SUITE_P(Sizes, AnySharedMemory,
                         testing::Values(1, 4096, 5000, 2 * huge_page - 1, 2 * huge_page, 2 * huge_page + 5000));

TEST(SharedMemory, CannotBeAttachedOnceItIsClosed) {
  SharedMemory memory = SharedMemory::create(4096);
  const SharedPlace place = memory.place();
  memory.close();
  EXPECT_ERROR(FailureError, "cannot be opened", SharedMemory::attach(place));
}

}  // namespace starling::shared_memory_test
