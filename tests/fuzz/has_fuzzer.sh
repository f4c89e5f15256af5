#!/usr/bin/env bash
# Whether clang++ can build a fuzz target: exit code 0 if so.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
printf 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }\n' >"$folder/target.cpp"
clang++ -fsanitize=fuzzer,address,undefined "$folder/target.cpp" -o "$folder/target" >/dev/null 2>&1
