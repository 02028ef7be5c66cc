#include "cli/command_table.h"

int main(int argc, char** argv) {
  return cephmark::cli_main(argc, argv);
}
