#include "generated_text.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/check.hpp"
#include "core/text/names.hpp"
#include "files/text_files.hpp"

namespace starling {

namespace {

std::string man_page_of(const std::vector<Command>& table, const std::vector<std::string>& names) {
  if (names.empty()) return man_page(table);
  const std::vector<Command>* commands = &table;
  const Command* command = nullptr;
  for (const std::string& name : names) {
    command = find_command(*commands, name);
    check(command != nullptr, "{}", unknown_name("command", name, names_in(*commands)));
    commands = &command->subcommands;
  }
  return man_page(*command, fmt::format("{}", fmt::join(names, " ")));
}

std::string completion_for(const std::string& shell, const std::vector<Command>& table) {
  if (shell == "bash") return bash_completion(table);
  if (shell == "zsh") return zsh_completion(table);
  check(shell == "fish", "{}", unknown_name("shell", shell, {"bash", "zsh", "fish"}));
  return fish_completion(table);
}

/// Pages of the commands and of those below them.
void add_pages(const std::vector<Command>& commands, const std::string& above,
               std::vector<std::pair<std::string, std::string>>& files) {
  for (const Command& command : commands) {
    const std::string path = above.empty() ? command.name : above + " " + command.name;
    std::string page = path;
    std::ranges::replace(page, ' ', '-');
    files.emplace_back("man/man1/starling-" + page + ".1", man_page(command, path));
    add_pages(command.subcommands, path, files);
  }
}

std::string install(const std::vector<Command>& table, const std::filesystem::path& folder) {
  std::vector<std::pair<std::string, std::string>> files{
      {"man/man1/starling.1", man_page(table)},
      {"bash-completion/completions/starling", bash_completion(table)},
      {"zsh/site-functions/_starling", zsh_completion(table)},
      {"fish/vendor_completions.d/starling.fish", fish_completion(table)}};
  add_pages(table, "", files);
  std::string list;
  for (const auto& [name, text] : files) {
    const std::filesystem::path path = folder / name;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    check<FailureError>(!error, "cannot make the folder '{}' ({}). Name another.", path.parent_path().string(),
                        error.message());
    write_text(path.string(), text);
    list += path.string() + "\n";
  }
  return list;
}

}  // namespace

std::string generated_text(const std::vector<Command>& table, const std::vector<std::string>& words) {
  const std::string& what = words.front();
  if (what == "man") return man_page_of(table, {words.begin() + 1, words.end()});
  if (what != "completion" && what != "install") {
    std::vector<std::string> known = names_in(table);
    known.insert(known.end(), {"man", "completion", "install"});
    throw UsageError(unknown_name("command", what, known) + " See starling --help.");
  }
  check(words.size() == 2, "`starling help {}` takes one word: {}.", what,
        what == "install" ? "a folder" : "bash, zsh or fish");
  if (what == "completion") return completion_for(words[1], table);
  return install(table, words[1]);
}

}  // namespace starling
