/// Output of commands that print a text and end.
#pragma once

#include <array>
#include <concepts>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace starling {

/// Writes the text to standard output, or to the PrintedText that lives. Throws FailureError if it cannot be written.
void print(std::string_view text);

/// "1 rank", "2 ranks".
template <std::integral Count>
std::string counted(Count count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// The catcher of texts: `print` gives them to this object while it lives, and nothing goes to standard output. One
/// object at a time.
class PrintedText {
 public:
  PrintedText();
  ~PrintedText();
  PrintedText(const PrintedText&) = delete;
  PrintedText& operator=(const PrintedText&) = delete;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  friend void print(std::string_view text);
  std::string text_;
};

/// A stream for a long text, which goes to `print` in pieces.
class PrintStream final : public std::ostream {
 public:
  PrintStream() : std::ostream(nullptr) { rdbuf(&pieces_); }
  /// Prints the rest. Throws FailureError if something could not be written.
  void finish();

 private:
  class Pieces final : public std::streambuf {
   public:
    Pieces() { setp(text_.data(), text_.data() + text_.size()); }

   protected:
    int_type overflow(int_type next) override;
    int sync() override;

   private:
    std::array<char, 65536> text_;
  };
  Pieces pieces_;
};

}  // namespace starling
