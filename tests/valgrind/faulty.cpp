// Does what valgrind is to find: `faulty leak`, `faulty read` (behind the end) or `faulty branch` (on what was never
// set).
#include <cstdio>
#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const int behind = 2 + argc;  // no compiler knows, and warns
  volatile int* numbers = static_cast<int*>(std::malloc(4 * sizeof(int)));
  if (what == "read" && numbers[behind] == 17) std::puts("17");
  if (what == "branch" && numbers[behind - 2] == 17) std::puts("17");
  if (what != "leak") std::free(const_cast<int*>(numbers));
  return 0;
}
