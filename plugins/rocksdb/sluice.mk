# Read by RocksDB's CMakeLists.txt; the sources are listed in CMakeLists.txt
# here, which it reads as well.
sluice_FUNC = sluice_register
