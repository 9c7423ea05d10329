// In place of the hash of Weft's public headers: as if the plugin had been built against others.
#define WEFT_PLUGIN_HEADERS "0123456789abcdef"
