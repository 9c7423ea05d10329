// Mistakes of a kernel with textures and surfaces: thread, PC and line, and what is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/gpu_bench.h"
#include "texture/image_bench.h"

namespace weft::test::fault_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kHead = ".version 8.0\n.target sm_80\n.address_size 64\n";
const std::string kEntry = R"(.visible .entry k(.param .u64 object) {
  .reg .b32 %r<16>; .reg .f32 %f<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [object];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, 0;
  mov.f32 %f1, 0f42780000;
  )";

struct Faulty {
  const char* name;
  const char* variables;
  const char* instruction;
  const char* expected;
};

class ImageFault : public ::testing::TestWithParam<Faulty> {
 protected:
  // Thread 3 of block 1 is the first with another object than the rest, where there is one.
  std::string fault(runtime::Device& device, runtime::Object object) {
    auto& module = device.load_module(
        kHead + GetParam().variables + "\n" + kEntry + GetParam().instruction + "\n  ret;\n}\n", "k.ptx");
    device.launch(module, "k", {1, 1, 1}, {8, 1, 1}, runtime::Arguments().add(object));
    try {
      device.synchronise();
    } catch (const SimulatedFault& fault) {
      return fault.what();
    }
    return "no fault";
  }
};

// The object: a 2d surface or texture of 8 x 8 u32.
TEST_P(ImageFault, SaysWhereAndWhat) {
  runtime::Device device(load_config("gtx480", {"sm.count=1"}), {});
  texture::ArrayShape shape;
  shape.format = {texture::ChannelKind::kUnsigned, 32, 1};
  shape.width = shape.height = 8;
  // A texture that is freed has pages of its own, and the fetch at (62, 62) reads the last.
  if (std::string(GetParam().name) == "freed") shape.width = shape.height = 64;
  const texture::Image image = runtime::create_array(device, shape);
  const bool surface = std::string(GetParam().instruction).find("su") == 0;
  const auto object =
      surface ? runtime::create_surface(device, image) : runtime::create_texture(device, {image, {}});
  const std::string name = GetParam().name;
  if (name == "freed") device.free(image.address);
  if (name == "destroyed") runtime::destroy_object(device, object);
  EXPECT_THAT(fault(device, object), AllOf(HasSubstr("k: thread ("), HasSubstr("of block (0,0,0), pc "),
                                           HasSubstr("k.ptx:11:"), HasSubstr(GetParam().expected)));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, ImageFault,
    ::testing::Values(Faulty{"dimensions", "",
                             "tex.3d.v4.u32.f32 {%r4,%r5,%r6,%r7}, [%rd1, {%f1,%f1,%f1,%f1}];",
                             "thread (0,0,0) of block (0,0,0), pc 4, k.ptx:11:3: tex: the object"},
                      Faulty{"layers", "", "tex.a2d.v4.u32.f32 {%r4,%r5,%r6,%r7}, [%rd1, {%r2,%f1,%f1,%f1}];",
                             "is .2d, the instruction reads .a2d"},
                      Faulty{"unbound", ".global .texref image;",
                             "tex.2d.v4.u32.f32 {%r4,%r5,%r6,%r7}, [image, {%f1,%f1}];", "is not bound"},
                      Faulty{"number", "", "tex.2d.v4.u32.f32 {%r4,%r5,%r6,%r7}, [1234, {%f1,%f1}];",
                             "0x4d2 is no texture object"},
                      Faulty{"destroyed", "", "tex.2d.v4.u32.f32 {%r4,%r5,%r6,%r7}, [%rd1, {%f1,%f1}];",
                             "is no texture object"},
                      Faulty{"freed", "", "tex.2d.v4.u32.f32 {%r4,%r5,%r6,%r7}, [%rd1, {%f1,%f1}];",
                             "is no longer allocated"},
                      Faulty{"sampler", "", "tex.2d.v4.u32.f32 {%r4,%r5,%r6,%r7}, [%rd1, %rd1, {%f1,%f1}];",
                             "is not a sampler"},
                      Faulty{"surface", "", "sust.b.2d.b32.trap [%rd1, {%r1,%r2}], {%r1};",
                             "thread (1,0,0) of block (0,0,0), pc 4, k.ptx:11:3: sust: the coordinate x = 1 "
                             "(bytes) is not aligned"},
                      Faulty{"outside", "",
                             "sust.p.2d.b32.trap [%rd1, {%r2,%r1}], {%r1}; add.u32 %r1, %r1, 7; "
                             "sust.p.2d.b32.trap [%rd1, {%r2,%r1}], {%r1};",
                             "thread (1,0,0) of block (0,0,0), pc 6"},
                      Faulty{"suld", "", "suld.b.2d.b32.trap {%r4}, [%rd1, {%r2,-1}];",
                             "the access of 4 bytes at (0, -1, 0), layer 0 lies outside the surface of 8 x 8 "
                             "x 1 texels of u32 x 1"},
                      Faulty{"texture_as_surface", "",
                             "tex.2d.v4.u32.f32 {%r4,%r5,%r6,%r7}, [%rd1, {%f1,%f1}]; "
                             "sust.p.2d.b32.trap [%rd1, {%r2,%r1}], {%r1};",
                             "is no surface object"}),
    [](const auto& info) { return info.param.name; });

TEST(ImageErrors, ArgumentsOfTheDeviceApi) {
  runtime::Device device(load_config("gtx480", {"sm.count=1"}), {});
  auto& module = device.load_module(kHead + ".global .texref image;\n.global .u32 plain;\n", "m.ptx");
  const auto message = [](const std::function<void()>& call) -> std::string {
    try {
      call();
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  texture::ArrayShape shape;
  shape.format = {texture::ChannelKind::kFloat, 32, 1};
  shape.width = shape.height = 8;
  const texture::Image image = runtime::create_array(device, shape);
  const auto surface = runtime::create_surface(device, image);
  EXPECT_THAT(message([&] { runtime::bind(device, module, "image", surface); }),
              HasSubstr("allowed: a texture object"));
  EXPECT_THAT(message([&] { runtime::bind(device, module, "plain", surface); }),
              HasSubstr("allowed: a .texref"));
  EXPECT_THAT(message([&] { runtime::bind(device, module, "other", surface); }),
              HasSubstr("unknown variable 'other'"));
  EXPECT_THAT(message([&] { runtime::copy_to_array(device, image, nullptr, 1); }),
              HasSubstr("level 1; allowed: 0 to 0"));
  texture::Image elsewhere = image;
  elsewhere.address += 4096;
  EXPECT_THAT(message([&] { runtime::create_texture(device, {elsewhere, {}}); }),
              HasSubstr("outside every allocation"));
}

}  // namespace
}  // namespace weft::test::fault_test
