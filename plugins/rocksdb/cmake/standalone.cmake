# The tests of the plug-in, outside of RocksDB's build. Those that need the
# store are built if it is given:
#   ROCKSDB_SOURCE     patched source, for its headers
#   ROCKSDB_LIBRARIES  what to link for the patched library
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
find_package(GTest REQUIRED)
find_package(Threads REQUIRED)
enable_testing()

add_library(sluice_core STATIC ${sluice_CORE})
target_include_directories(sluice_core
  PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} SYSTEM PUBLIC ${ROCKSDB_SOURCE}/include)
target_compile_options(sluice_core PUBLIC -Wall -Wextra -Werror -fno-rtti)
target_link_libraries(sluice_core PUBLIC Threads::Threads)

function(sluice_test name library)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} ${library} GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
endfunction()

sluice_test(core_test sluice_core
  sluice/io/pace_control_test.cc
  sluice/io/pace_test.cc
  sluice/io/token_bucket_test.cc
  sluice/latency/histogram_test.cc
  sluice/latency/operation_latencies_test.cc
  sluice/lease/lease_store_test.cc
  sluice/log/block_device_test.cc
  sluice/log/log_placement_test.cc
  sluice/option_value_test.cc
  sluice/pool/pool_messages_test.cc
  sluice/pool/pool_path_test.cc
  sluice/protocol/methods_test.cc
  sluice/protocol/requests_test.cc
  sluice/protocol/server_test.cc
  sluice/remote/agent_connection_test.cc
  sluice/remote/agent_messages_test.cc
  sluice/remote/agent_silence_test.cc
  sluice/remote/output_folder_test.cc
  sluice/signal_free_thread_test.cc
  sluice/store/compaction_admissions_test.cc
  sluice/store/family_state_test.cc
  sluice/store/figures_test.cc
  sluice/store/order_guard_test.cc
  sluice/store/order_socket_test.cc
  sluice/store/scope_names_test.cc
  sluice/store/store_state_test.cc
  sluice/store/untold_ends_test.cc
  sluice/text/base64_test.cc
  sluice/text/printable_test.cc
  sluice/worker/opened_folder_test.cc
  sluice/worker/opened_folder.cc)

if(NOT ROCKSDB_LIBRARIES)
  return()
endif()

# As RocksDB's own objects are compiled: its internal headers depend on it.
add_library(sluice_store STATIC ${sluice_STORE})
target_compile_definitions(sluice_store PUBLIC
  NDEBUG OS_LINUX ROCKSDB_PLATFORM_POSIX ROCKSDB_LIB_IO_POSIX)
target_include_directories(sluice_store SYSTEM PUBLIC ${ROCKSDB_SOURCE})
target_link_libraries(sluice_store PUBLIC sluice_core ${ROCKSDB_LIBRARIES} dl)

add_executable(sluice-compact ${sluice_WORKER})
target_link_libraries(sluice-compact sluice_store)
add_executable(sluice-wal-export sluice/worker/wal_export_main.cc)
target_link_libraries(sluice-wal-export sluice_store)

# The program `sluice`, for the checks of the local protocol, is named by the
# environment variable SLUICE_BINARY.
sluice_test(store_test sluice_store
  sluice/store/contract_test.cc
  sluice/latency/timing_statistics_test.cc
  sluice/log/blank_ahead_file_test.cc
  sluice/log/log_directory_test.cc
  sluice/log/log_files_test.cc
  sluice/log/log_names_test.cc
  sluice/log/log_sampler_test.cc
  sluice/log/log_tiers_test.cc
  sluice/log/missing_log_test.cc
  sluice/log/recovered_log_test.cc
  sluice/log/slow_folder_test.cc
  sluice/log/simultaneous_openings_test.cc
  sluice/log/slow_part_ahead_test.cc
  sluice/log/tiered_log_test.cc
  sluice/log/torn_log_test.cc
  sluice/pool/pool_session_test.cc
  sluice/pool/pool_writable_file_test.cc
  sluice/pool/pooled_env_test.cc
  sluice/store/bounds_test.cc
  sluice/store/database_test.cc
  sluice/store/exit_test.cc
  sluice/store/orders_test.cc
  sluice/store/safety_test.cc
  sluice/remote/compaction_payload_test.cc
  sluice/remote/local_compactions_test.cc
  sluice/remote/pooled_compactions_test.cc
  sluice/remote/remote_compactions_test.cc
  sluice/worker/exchanged_folders_test.cc
  sluice/worker/job_line_test.cc
  sluice/worker/job_run_test.cc
  sluice/worker/job_statistics_test.cc
  sluice/worker/late_tables_test.cc
  sluice/worker/next_level_cuts_test.cc
  sluice/worker/store_options_test.cc
  sluice/worker/input_tables.cc
  sluice/worker/job_line.cc
  sluice/worker/job_place.cc
  sluice/worker/job_run.cc
  sluice/worker/job_statistics.cc
  sluice/worker/late_tables.cc
  sluice/worker/next_level_cuts.cc
  sluice/worker/opened_folder.cc
  sluice/worker/store_options.cc)
target_compile_definitions(store_test PRIVATE
  SLUICE_COMPACT_PATH="$<TARGET_FILE:sluice-compact>"
  SLUICE_WAL_EXPORT_PATH="$<TARGET_FILE:sluice-wal-export>")
add_dependencies(store_test sluice-compact sluice-wal-export)
