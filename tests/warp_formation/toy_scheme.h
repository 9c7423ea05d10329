// The smallest scheme: the tutorial of modules/warp_formation/README.md, built and tested. For tests only.
#ifndef WEFT_TESTS_WARP_FORMATION_TOY_SCHEME_H
#define WEFT_TESTS_WARP_FORMATION_TOY_SCHEME_H

namespace weft::warp_formation::test {

// Registers "toy".
void register_toy();

}  // namespace weft::warp_formation::test

#endif
