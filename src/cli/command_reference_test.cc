// Every command and every option stands in what shells and man(1) are given.
#include "cli/command_reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "base/fd.h"
#include "base/subprocess.h"
#include "cli/command_table.h"
#include "support/temporary_directory.h"

namespace cephmark {
namespace {

using testing::HasSubstr;

void each(const std::vector<CommandReference>& commands,
          const std::function<void(const CommandReference&)>& look) {
  for (const CommandReference& command : commands) {
    look(command);
    each(command.subcommands, look);
  }
}

bool has_word(const std::string& text, const std::string& word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const char behind = at + word.size() < text.size() ? text[at + word.size()] : ' ';
    if (!std::isalnum(static_cast<unsigned char>(behind)) && behind != '-') return true;
  }
  return false;
}

TEST(CommandReference, TellsEveryCommandWithItsOptions) {
  const auto all = command_reference();
  ASSERT_EQ(all.size(), command_table().size());
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].name, command_table()[i].name);
  const CommandReference& run = all.front();
  ASSERT_EQ(run.name, "run");
  bool runner = false, positional = false;
  for (const OptionReference& option : run.options) {
    positional |= option.positional && option.names == std::vector<std::string>{"JOBFILE"};
    if (option.names != std::vector<std::string>{"--runner"}) continue;
    runner = true;
    EXPECT_EQ(option.choices, (std::vector<std::string>{"native", "fio"}));
    EXPECT_EQ(option.value, "RUNNER");
  }
  EXPECT_TRUE(runner);
  EXPECT_TRUE(positional);
  size_t lab_verbs = 0;
  each(all, [&](const CommandReference& command) { lab_verbs += command.name == "pause"; });
  EXPECT_EQ(lab_verbs, 1u) << "lab osd pause";
}

TEST(CommandReference, ShellsAndManHaveEveryCommandAndOption) {
  // Without the marks of typefaces and of plain hyphens.
  const std::string page = man_page();
  std::string man;
  for (size_t i = 0; i < page.size(); ++i)
    if (page[i] != '\\')
      man += page[i];
    else if (page.compare(i, 2, "\\f") == 0)
      i += 2;
  const std::string bash = completion_script("bash"), zsh = completion_script("zsh"),
                    fish = completion_script("fish");
  const std::vector<const std::string*> texts = {&man, &bash, &zsh, &fish};
  each(command_reference(), [&](const CommandReference& command) {
    for (const std::string* text : texts)
      EXPECT_TRUE(has_word(*text, command.name)) << command.name;
    for (const OptionReference& option : command.options)
      for (const std::string& name : option.names) {
        EXPECT_TRUE(has_word(man, name)) << command.name << " " << name;
        if (option.positional) continue;
        EXPECT_TRUE(has_word(bash, name)) << command.name << " " << name;
        EXPECT_TRUE(has_word(zsh, name)) << command.name << " " << name;
        const bool is_long = name.starts_with("--");
        EXPECT_TRUE(has_word(fish, (is_long ? "-l " : "-s ") + name.substr(is_long ? 2 : 1)))
            << command.name << " " << name;
      }
  });
  EXPECT_THROW(completion_script("tcsh"), Error);
}

class Bash : public testing::Test {
 protected:
  /// What bash offers behind these words, the last of which is being written.
  std::string offers(const std::vector<std::string>& words) {
    const std::string script = scratch_.path() + "/completion.sh";
    write_file_atomically(script, completion_script("bash"));
    std::string list;
    for (const std::string& word : words) list += " '" + word + "'";
    const CommandResult result =
        run_command({"bash", "-c",
                     "source " + script + "; COMP_WORDS=(" + list +
                         "); COMP_CWORD=" + std::to_string(words.size() - 1) +
                         "; _cephmark; echo \"${COMPREPLY[*]}\""});
    EXPECT_EQ(result.err, "");
    return result.out;
  }
  testing_support::TemporaryDirectory scratch_;
};

TEST_F(Bash, OffersWhatMayStandThere) {
  if (find_program("bash").empty()) GTEST_SKIP() << "NOT TESTED: bash is not installed";
  EXPECT_EQ(offers({"cephmark", "ru"}), "run\n");
  EXPECT_EQ(offers({"cephmark", "run", "--runt"}), "--runtime\n");
  EXPECT_EQ(offers({"cephmark", "run", "--runner", ""}), "native fio\n");
  EXPECT_EQ(offers({"cephmark", "run", "x.fio", "--output", "cs"}), "csv\n");
  EXPECT_EQ(offers({"cephmark", "lab", "osd", "pa"}), "pause\n");
  EXPECT_THAT(offers({"cephmark", "lab", "up", "--"}), HasSubstr("--osd-size"));
  EXPECT_THAT(offers({"cephmark", "run", scratch_.path() + "/comp"}), HasSubstr("completion.sh"));
}

TEST(CommandReference, ManReadsThePageWithoutAComplaint) {
  if (find_program("groff").empty()) GTEST_SKIP() << "NOT TESTED: groff is not installed";
  testing_support::TemporaryDirectory scratch;
  write_file_atomically(scratch.path() + "/cephmark.1", man_page());
  const CommandResult result =
      run_command({"groff", "-man", "-ww", "-Tascii", "-P-cbou", scratch.path() + "/cephmark.1"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, HasSubstr("cephmark lab osd pause"));
}

}  // namespace
}  // namespace cephmark
