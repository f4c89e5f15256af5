/// Output of commands that print a text and end.
#pragma once

#include <string>
#include <string_view>

namespace starling {

/// Writes the text to standard output, or to the PrintedText that lives. Throws FailureError if it cannot be written.
void print(std::string_view text);

/// What `print` is given while this object lives; nothing of it goes to standard output. One object at a time.
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

}  // namespace starling
