# Read by cpack. In Debian's versions a hyphen begins the revision of the packaging: 0.1.0-12-gabc is 0.1.0+12+gabc.
if(EXISTS "${CPACK_WEFT_VERSION_FILE}")
  file(STRINGS "${CPACK_WEFT_VERSION_FILE}" version LIMIT_COUNT 1)
  string(REPLACE "-" "+" version "${version}")
  set(CPACK_DEBIAN_PACKAGE_VERSION "${version}")
  set(CPACK_PACKAGE_VERSION "${version}")
endif()
