#include "timeline/readable_name.hpp"

#include <catch2/catch.hpp>

using ridgeline::timeline::readable_name;

TEST_CASE("Kernel names are shortened to what a reader looks for") {
  CHECK(readable_name("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64ELi8ELb0EEEvPT0_PT_") ==
        "aiter::add_rmsnorm_quant_kernel");
  CHECK(readable_name("_ZN12_GLOBAL__N_15gemmvIfEEvPT_") == "gemmv");
  CHECK(readable_name("_Z11plain_adderPfS_i") == "plain_adder");
  CHECK(
      readable_name("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add"
                    "<c10::Half>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add)") ==
      "at::native::vectorized_elementwise_kernel");
  CHECK(readable_name("void (anonymous namespace)::softmax_warp<float, 8>(float*)") ==
        "softmax_warp");
  CHECK(readable_name("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x48x64_MI16x16x1_SN") ==
        "Tensile MT256x48x64");
  CHECK(readable_name("triton_poi_fused_add_3") == "triton_poi_fused_add_3");
}

TEST_CASE("A mangled name that lies about its lengths stays as it is") {
  CHECK(readable_name("_ZN999aiter") == "_ZN999aiter");
  CHECK(readable_name("_Z") == "_Z");
  CHECK(readable_name("_ZN0E") == "_ZN0E");
  CHECK(readable_name("") == "");
}
