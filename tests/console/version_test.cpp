/// What the program says of itself.
#include "console/version.hpp"

#include "core/digest.hpp"
#include "files/durable_file.hpp"
#include "support/testing.hpp"

namespace starling::version_test {

/// The linker's note as it stands in the program's file: sizes of name and digest, kind, name, digest.
std::string note_in_file() {
  const std::string content = read_whole_file("/proc/self/exe").value();
  const std::string begin("\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0", 16);
  // The test's own copy of these bytes, if there is one, lies behind the program's notes.
  const std::size_t at = content.find(begin);
  return at == std::string::npos ? "" : content.substr(at + begin.size(), 20);
}

TEST(BuildDigest, IsTheLinkersNoteOrThatOfTheFile) {
  const std::string note = note_in_file();
  EXPECT_EQ(build_digest(), note.empty() ? sha256_of_file("/proc/self/exe") : to_hex(note));
  EXPECT_EQ(build_digest(), build_digest());
}

}  // namespace starling::version_test
