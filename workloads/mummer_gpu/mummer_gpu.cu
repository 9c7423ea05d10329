// Matching of DNA reads against a reference through its suffix tree: one read per thread. Tree and reference
// lie in textures or in global memory.
//
// The kernels on a packed tree (the last two of this file) are the program as Rodinia ships it: the tree in
// two textures, in the layout of packed_tree.h, reference and reads in global memory. The others have both in
// textures or both in global memory; their algorithm is the same, so it is written once, over `Tree`.
//
// A node of theirs: begin and end of its edge's label in the reference, its suffix link (of a leaf: kLeaf |
// where its suffix begins), its depth in bases; beside them its children by base, 0 where there is none.
#include "weft/workloads/device.h"

constexpr unsigned kNone = 0, kRoot = 1, kLeaf = 0x80000000u, kWidth = 2048;
constexpr unsigned kEnd = 4;  // follows the last base of a read, and of the reference

struct Edge {
  unsigned begin, end;
};

// Two texels of a two-dimensional texture are a node: the node itself and its children.
struct TreeInTextures {
  cudaTextureObject_t nodes, reference;

  __device__ uint4 texel(unsigned node, unsigned which) const {
    const unsigned x = 2 * (node % (kWidth / 2)) + which, y = node / (kWidth / 2);
    return tex2D<uint4>(nodes, static_cast<float>(x), static_cast<float>(y));
  }
  __device__ Edge edge(unsigned node) const {
    const uint4 all = texel(node, 0);
    return {all.x, all.y};
  }
  __device__ unsigned link(unsigned node) const { return texel(node, 0).z; }
  __device__ unsigned base(unsigned at) const { return tex1Dfetch<unsigned>(reference, at); }
  __device__ unsigned child(unsigned node, unsigned base) const {
    const uint4 all = texel(node, 1);
    switch (base) {
      case 0:
        WEFT_KEEP_BRANCH();
        return all.x;
      case 1:
        WEFT_KEEP_BRANCH();
        return all.y;
      case 2:
        WEFT_KEEP_BRANCH();
        return all.z;
      default:
        return all.w;
    }
  }
};

struct Node {
  unsigned begin, end, link, depth;
  unsigned children[4];
};

// Each arm of child() has a load of its own, as in a program that loads what it needs; the comments
// in the PTX differ, or clang would join them. `volatile` keeps it from loading begin and end at once.
struct TreeInArrays {
  const volatile Node* nodes;
  const unsigned char* reference;

  __device__ Edge edge(unsigned node) const { return {nodes[node].begin, nodes[node].end}; }
  __device__ unsigned link(unsigned node) const { return nodes[node].link; }
  __device__ unsigned base(unsigned at) const { return reference[at]; }
  __device__ unsigned child(unsigned node, unsigned base) const {
    unsigned next;
    switch (base) {
      case 0:
        next = nodes[node].children[0];
        asm volatile("// A");
        break;
      case 1:
        next = nodes[node].children[1];
        asm volatile("// C");
        break;
      case 2:
        next = nodes[node].children[2];
        asm volatile("// G");
        break;
      default:
        next = nodes[node].children[3];
        asm volatile("// T");
        break;
    }
    return next;
  }
};

// For every start in the read from which `least` bases are left: how many of them occur in the reference, if
// at least `least`, and the first node at or below the place in the tree where the search stopped. From one
// start to the next the search goes through the suffix link of the last node it left, and passes without
// comparing the part of an edge that it has already seen (McCreight 1976).
//
// Both loops are left by goto, as in the published program: threads that are done with a start wait at its
// end, not behind the loop that compares an edge. What goto leaves is declared outside of the loops: clang
// would route the way out of a variable's scope through a switch, where all threads would meet.
template <class Tree>
__device__ static void match(const Tree& tree, const unsigned char* reads, int count, int length, int least,
                             int2* matches) {
  const int read = blockIdx.x * blockDim.x + threadIdx.x;
  if (read >= count) return;
  const unsigned char* text = reads + read * (length + 1);
  const int last = length - least;
  int2* found = matches + read * (last + 1);

  unsigned node = kRoot, above = kRoot, begin = 0, end = 0, at = 0, base = 0, stopped = kRoot;
  int matched = 0;  // bases from `start`
  int longest = 0;
  int known = 0;  // of the next edge, bases that need not be compared
#pragma unroll 1
  for (int start = 0; start <= last; ++start, ++text, ++found) {
    if (matched < 0) {
      node = kRoot;
      matched = 0;
      known = 0;
    }
    base = text[matched];
#pragma unroll 1
    while (base != kEnd) {
      above = node;
      node = tree.child(node, base);
      if (node == kNone) {
        stopped = above;
        longest = matched;
        matched -= 1;
        known = 0;
        goto NEXT_SUBSTRING;
      }
      {
        const Edge edge = tree.edge(node);
        begin = edge.begin;
        end = edge.end;
      }
      if (known != 0) {
        const int label = static_cast<int>(end - begin);
        at = begin + min(known, label);
        matched += min(known, label);
        known = max(known - label, 0);
      } else {
        ++matched;  // the child was chosen by it
        at = begin + 1;
      }
#pragma unroll 1
      while (true) {
        base = text[matched];
        if (at >= end || base == kEnd) break;
        if (tree.base(at) != base) goto RECORD_RESULT;
        ++matched;
        ++at;
      }
    }
  RECORD_RESULT:
    stopped = node;
    longest = matched;
    known = static_cast<int>(at - begin);
    matched -= known + 1;
  NEXT_SUBSTRING:
    if (longest >= least) *found = int2{static_cast<int>(stopped), longest};
    node = tree.link(above);
  }
}

extern "C" __global__ void match_reads_in_textures(cudaTextureObject_t nodes, cudaTextureObject_t reference,
                                                   const unsigned char* reads, int count, int length,
                                                   int least, int2* matches) {
  match(TreeInTextures{nodes, reference}, reads, count, length, least, matches);
}

extern "C" __global__ void match_reads_in_arrays(const Node* nodes, const unsigned char* reference,
                                                 const unsigned char* reads, int count, int length, int least,
                                                 int2* matches) {
  match(TreeInArrays{nodes, reference}, reads, count, length, least, matches);
}

// Where in the reference a match occurs: the leaves below its node, by a walk without a stack. ups: a node's
// parent, and its child that ends the reference.
template <class Tree>
__device__ static void list(const Tree& tree, const uint2* ups, const unsigned* tops, const int* offsets,
                            int count, int* places) {
  const int match = blockIdx.x * blockDim.x + threadIdx.x;
  if (match >= count) return;
  const unsigned top = tops[match];
  int* place = places + offsets[match];
  unsigned node = top;
  int turn = 0;  // which child is next: 0 to 3 by base, 4 the end of the reference, 5 none
#pragma unroll 1
  while (true) {
    const unsigned link = tree.link(node);
    if (link & kLeaf) {
      *place++ = static_cast<int>(link & ~kLeaf);
      turn = 5;
    }
    unsigned next = kNone;
#pragma unroll 1
    while (turn < 5 && next == kNone) {
      if (turn < 4) {
        next = tree.child(node, turn);
      } else {
        next = ups[node].y;
      }
      ++turn;
    }
    if (next != kNone) {
      node = next;
      turn = 0;
      continue;
    }
    if (node == top) break;
    const unsigned parent = ups[node].x;
    turn = 0;
    while (turn < 4 && tree.child(parent, turn) != node) ++turn;
    ++turn;
    node = parent;
  }
}

extern "C" __global__ void list_places_in_textures(cudaTextureObject_t nodes, const uint2* ups,
                                                   const unsigned* tops, const int* offsets, int count,
                                                   int* places) {
  list(TreeInTextures{nodes, 0}, ups, tops, offsets, count, places);
}

extern "C" __global__ void list_places_in_arrays(const Node* nodes, const uint2* ups, const unsigned* tops,
                                                 const int* offsets, int count, int* places) {
  list(TreeInArrays{nodes, nullptr}, ups, tops, offsets, count, places);
}

// The tree of packed_tree.h. An address has the column in its lower half, the row in its upper.
constexpr unsigned kPackedRoot = 0x10000, kPackedNone = 0;

template <int kField>
__device__ static unsigned field(const uint4& texel) {
  static_assert(kField >= 0 && kField < 5);
  if constexpr (kField == 0) return texel.x & 0xFFFFFF;
  if constexpr (kField == 1) return texel.x >> 24 | (texel.y & 0xFFFF) << 8;
  if constexpr (kField == 2) return texel.y >> 16 | (texel.z & 0xFF) << 16;
  if constexpr (kField == 3) return texel.z >> 8;
  return texel.w & 0xFFFFFF;
}

template <int kField>
__device__ static unsigned address(const uint4& texel) {
  const unsigned packed = field<kField>(texel);
  const unsigned x = (packed & 0xFF) | (packed >> 8 & 0xF00),
                 y = (packed >> 8 & 0xFF) | (packed >> 12 & 0xF00);
  return x | y << 16;
}

__device__ static uint4 texel_at(cudaTextureObject_t texture, unsigned address) {
  return tex2D<uint4>(texture, static_cast<float>(address & 0xFFFF), static_cast<float>(address >> 16));
}

struct PackedNode {
  uint4 texel;
  __device__ unsigned parent() const { return address<0>(texel); }
  __device__ unsigned link() const { return address<1>(texel); }
  __device__ unsigned begin() const { return field<2>(texel); }
  __device__ unsigned end() const { return field<3>(texel); }
  __device__ int depth() const { return static_cast<int>(field<4>(texel)); }
};

struct PackedChildren {
  uint4 texel;
  __device__ bool leaf() const { return texel.w >> 24 != 0; }
  __device__ int suffix() const { return static_cast<int>(field<0>(texel)); }
  __device__ unsigned child(unsigned base) const {
    switch (base) {
      case 0:
        WEFT_KEEP_BRANCH();
        return address<0>(texel);
      case 1:
        WEFT_KEEP_BRANCH();
        return address<1>(texel);
      case 2:
        WEFT_KEEP_BRANCH();
        return address<2>(texel);
      default:
        return address<3>(texel);
    }
  }
};

// As match() above. A result is written where the search stops, so in two places, and text is read at a
// start, behind an edge that is entered, and after each base that agrees; clang joins the last two.
extern "C" __global__ void match_reads(cudaTextureObject_t nodes, cudaTextureObject_t children,
                                       const unsigned char* reference, const unsigned char* reads,
                                       const int* addresses, const int* lengths, int count, int least,
                                       int2* matches) {
  const int read = blockIdx.x * blockDim.x + threadIdx.x;
  if (read >= count) return;
  const int length = lengths[read], from = addresses[read];
  int2* found = matches + (from - read * least);
  const unsigned char* text = reads + from;
  const int last = length - least;

  unsigned node = kPackedNone, above = kPackedRoot, begin = 0, end = 0, at = 0, base = 0;
  int matched = 0;  // bases from `start`
  int known = 0;    // of the next edge, bases that need not be compared
  PackedNode entered;
#pragma unroll 1
  for (int start = 0; start <= last; ++start, ++found) {
    if (node == kPackedNone || matched < 0) {
      node = kPackedRoot;
      matched = 0;
      known = 0;
    }
    base = text[start + matched];
#pragma unroll 1
    while (base != kEnd) {
      above = node;
      node = PackedChildren{texel_at(children, node)}.child(base);
      if (node == kPackedNone) {
        if (matched >= least) *found = int2{static_cast<int>(above), matched};
        matched -= 1;
        known = 0;
        goto NEXT_SUBSTRING;
      }
      entered.texel = texel_at(nodes, node);
      begin = entered.begin();
      end = entered.end();
      if (known != 0) {
        const int label = static_cast<int>(end - begin);
        at = begin + min(known, label);
        matched += min(known, label);
        known = max(known - label, 0);
      } else {
        ++matched;  // the child was chosen by it
        at = begin + 1;
      }
      base = text[start + matched];
#pragma unroll 1
      while (at < end && base != kEnd) {
        if (reference[at] != base) goto RECORD_RESULT;
        ++matched;
        ++at;
        base = text[start + matched];
      }
    }
  RECORD_RESULT:
    if (matched >= least) *found = int2{static_cast<int>(node), matched};
    known = static_cast<int>(at - begin);
    matched -= known + 1;
  NEXT_SUBSTRING:
    node = PackedNode{texel_at(nodes, above)}.link();
  }
}

// Where in the reference the first `least` bases of a match occur: the leaves below the highest node that is
// so deep. First up to it, then a walk without a stack; a node's children are read when it is reached and
// when the walk comes back from one of them.
extern "C" __global__ void list_places(cudaTextureObject_t nodes, cudaTextureObject_t children,
                                       const unsigned* tops, const int* offsets, int count, int least,
                                       int* places) {
  const int match = blockIdx.x * blockDim.x + threadIdx.x;
  if (match >= count) return;
  unsigned node = tops[match], top = node;
  PackedNode way{texel_at(nodes, node)};
#pragma unroll 1
  while (way.depth() >= least) {
    top = node;
    node = way.parent();
    way.texel = texel_at(nodes, node);
  }
  const unsigned above = node;
  int* place = places + offsets[match];
  node = top;
  int turn = 0;  // which child is next: 0 to 3 by base, 4 the end of the reference
  bool up = false;
#pragma unroll 1
  while (node != above) {
    const PackedChildren below{texel_at(children, node)};
    const bool leaf = below.leaf();
    if (leaf || up) {
      if (leaf) *place++ = below.suffix();
      const unsigned parent = PackedNode{texel_at(nodes, node)}.parent();
      const PackedChildren siblings{texel_at(children, parent)};
      up = false;
      if (address<0>(siblings.texel) == node) {
        WEFT_KEEP_BRANCH();
        turn = 1;
      } else if (address<1>(siblings.texel) == node) {
        WEFT_KEEP_BRANCH();
        turn = 2;
      } else if (address<2>(siblings.texel) == node) {
        WEFT_KEEP_BRANCH();
        turn = 3;
      } else if (address<3>(siblings.texel) == node) {
        WEFT_KEEP_BRANCH();
        turn = 4;
      } else {
        up = true;  // from the last child
      }
      node = parent;
    } else {
      unsigned next = kPackedNone;
      if (turn == 0) {
        WEFT_KEEP_BRANCH();
        next = address<0>(below.texel);
        if (next == kPackedNone) turn = 1;
      }
      if (turn == 1) {
        WEFT_KEEP_BRANCH();
        next = address<1>(below.texel);
        if (next == kPackedNone) turn = 2;
      }
      if (turn == 2) {
        WEFT_KEEP_BRANCH();
        next = address<2>(below.texel);
        if (next == kPackedNone) turn = 3;
      }
      if (turn == 3) {
        WEFT_KEEP_BRANCH();
        next = address<3>(below.texel);
        if (next == kPackedNone) turn = 4;
      }
      if (turn == 4) {
        WEFT_KEEP_BRANCH();
        next = address<4>(below.texel);
      }
      if (next == kPackedNone) {
        up = true;
      } else {
        node = next;
        turn = 0;
      }
    }
  }
}
