// Matching of DNA reads against a reference through its suffix tree, which lies in textures: one read per
// thread.
//
// Node numbers index two-dimensional textures. A node's texel: begin and end of its edge's label in the
// reference, its suffix link (of a leaf: kLeaf | where its suffix begins), its depth in bases. A texel of
// `children`: the children by base, 0 where there is none.
#include "workloads/device.h"

constexpr unsigned kRoot = 1, kLeaf = 0x80000000u, kWidth = 2048;

__device__ static uint4 texel(cudaTextureObject_t of, unsigned node) {
  return tex2D<uint4>(of, static_cast<float>(node % kWidth), static_cast<float>(node / kWidth));
}

__device__ static unsigned child_of(cudaTextureObject_t children, unsigned node, unsigned base) {
  const uint4 all = texel(children, node);
  if (base == 0) {
    WEFT_KEEP_BRANCH();
    return all.x;
  }
  if (base == 1) {
    WEFT_KEEP_BRANCH();
    return all.y;
  }
  if (base == 2) {
    WEFT_KEEP_BRANCH();
    return all.z;
  }
  return all.w;
}

// For every start in the read from which `least` bases are left: how many of them occur in the reference, and
// the first node at or below the place in the tree where the search stopped. From one start to the next the
// search goes through the suffix link and passes, without comparing, what it has already seen (McCreight
// 1976).
extern "C" __global__ void match_reads(cudaTextureObject_t nodes, cudaTextureObject_t children,
                                       cudaTextureObject_t reference, const unsigned char* reads, int count,
                                       int length, int least, int2* matches) {
  const int read = blockIdx.x * blockDim.x + threadIdx.x;
  if (read >= count) return;
  const unsigned char* text = reads + read * length;
  const int starts = length - least + 1;
  int2* found = matches + read * starts;

  unsigned node = kRoot;
  int depth = 0;  // of `node`
  int known = 0;  // bases from `start` that are known to occur
#pragma unroll 1
  for (int start = 0; start < starts; ++start) {
    unsigned below = node;
    int matched = depth;
    bool inside = false;  // an edge
#pragma unroll 1
    while (start + depth < length && !inside) {
      const unsigned next = child_of(children, node, text[start + depth]);
      if (next == 0) break;
      below = next;
      const uint4 edge = texel(nodes, next);
      const int label = edge.y - edge.x;
      int along = known - depth;
      if (along < 1) along = 1;
      if (along > label) along = label;
#pragma unroll 1
      while (along < label && start + depth + along < length) {
        if (tex1Dfetch<unsigned>(reference, edge.x + along) != text[start + depth + along]) break;
        ++along;
      }
      matched = depth + along;
      if (along < label) {
        inside = true;
      } else {
        node = next;
        depth = matched;
      }
    }
    found[start] = int2{static_cast<int>(below), matched};

    known = matched - 1;
    if (node != kRoot) {
      node = texel(nodes, node).z;
      --depth;
    }
  }
}

// Where in the reference a match occurs: the leaves below its node, by a walk without a stack. ups: a node's
// parent, and its child that ends the reference.
extern "C" __global__ void list_places(cudaTextureObject_t nodes, cudaTextureObject_t children,
                                       const uint2* ups, const unsigned* tops, const int* offsets, int count,
                                       int* places) {
  const int match = blockIdx.x * blockDim.x + threadIdx.x;
  if (match >= count) return;
  const unsigned top = tops[match];
  int* place = places + offsets[match];
  unsigned node = top;
  int turn = 0;  // which child is next: 0 to 3 by base, 4 the end of the reference, 5 none
#pragma unroll 1
  while (true) {
    const unsigned link = texel(nodes, node).z;
    if (link & kLeaf) {
      *place++ = static_cast<int>(link & ~kLeaf);
      turn = 5;
    }
    unsigned next = 0;
#pragma unroll 1
    while (turn < 5 && next == 0) {
      if (turn < 4) {
        next = child_of(children, node, turn);
      } else {
        next = ups[node].y;
      }
      ++turn;
    }
    if (next != 0) {
      node = next;
      turn = 0;
      continue;
    }
    if (node == top) break;
    const unsigned parent = ups[node].x;
    turn = 0;
    while (turn < 4 && child_of(children, parent, turn) != node) ++turn;
    ++turn;
    node = parent;
  }
}
