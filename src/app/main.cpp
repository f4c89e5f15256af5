#include "program.hpp"

int main(int argc, char** argv) {
  return starling::run_program({argv, argv + argc});
}
