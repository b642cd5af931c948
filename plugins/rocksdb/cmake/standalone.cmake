# The tests of the plug-in, outside of RocksDB's build.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
find_package(GTest REQUIRED)
find_package(Threads REQUIRED)
enable_testing()

add_library(sluice_plugin STATIC ${sluice_SOURCES})
target_include_directories(sluice_plugin PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_options(sluice_plugin PUBLIC -Wall -Wextra -Werror -fno-rtti)
target_link_libraries(sluice_plugin PUBLIC Threads::Threads)

function(sluice_test name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} sluice_plugin GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
endfunction()

sluice_test(lease_test sluice/lease/lease_store_test.cc)
sluice_test(text_test sluice/text/printable_test.cc)
sluice_test(protocol_test
  sluice/protocol/methods_test.cc
  sluice/protocol/requests_test.cc
  sluice/protocol/server_test.cc)
sluice_test(histogram_test sluice/latency/histogram_test.cc)
