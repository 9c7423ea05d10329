// Structures by value and in arrays, with padding and a nested vector. Only + - *, not contracted: exact.
#pragma OPENCL FP_CONTRACT OFF
struct World {
  float4 force;
  ulong seed;
  ushort steps;
  float step;
  int low[3];
};
struct Particle {
  float4 place;
  float4 speed;
  int bounces;
  uchar kind;
};
__kernel void particles(__global struct Particle* all, struct World world, __global ulong* tokens) {
  const uint i = get_global_id(0);
  struct Particle p = all[i];
  ulong token = world.seed + i;
  for (ushort step = 0; step < world.steps; ++step) {
    p.speed += world.force * (world.step * (float)(p.kind + 1));
    p.place += p.speed * world.step;
    float place[3] = {p.place.x, p.place.y, p.place.z};
    for (int axis = 0; axis < 3; ++axis) {
      if (place[axis] < (float)world.low[axis]) {
        ++p.bounces;
        token = token * 6364136223846793005ul + (ulong)axis;
      }
    }
    if (p.place.y < (float)world.low[1]) p.speed.y = -p.speed.y;
  }
  all[i] = p;
  tokens[i] = token;
}
