# A file that must not compile, and differs in one line from one that must:
#   cmake -DCOMPILER=… -DFLAGS=file -DHEADERS=module.hpp -DSOURCE=x.cpp -P check.cmake
# compiles SOURCE as it is (must succeed), then with STARLING_MUST_FAIL defined (must fail). The file says on a line
# "// Expected: regex" what the compiler has to complain of in one line, so that it does not fail for another reason.
set(ENV{LC_ALL} C)
set(command ${COMPILER} -std=c++20 -fsyntax-only @${FLAGS} -include ${HEADERS})

file(STRINGS ${SOURCE} expected REGEX "^// Expected: ")
list(LENGTH expected count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "${SOURCE} has ${count} lines '// Expected: regex' (it needs one)")
endif()
string(REGEX REPLACE "^// Expected: " "" expected "${expected}")
string(REPLACE ".*" "[^\n]*" expected "${expected}")  # CMake's dot matches line ends too

execute_process(COMMAND ${command} ${SOURCE} RESULT_VARIABLE status ERROR_VARIABLE errors)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the control does not compile, so a failure proves nothing:\n${errors}")
endif()

execute_process(COMMAND ${command} -DSTARLING_MUST_FAIL ${SOURCE} RESULT_VARIABLE status ERROR_VARIABLE errors)
if(status EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles with STARLING_MUST_FAIL: a barrier is down")
endif()
if(NOT errors MATCHES "${expected}")
  message(FATAL_ERROR "${SOURCE} fails, but not with '${expected}':\n${errors}")
endif()
