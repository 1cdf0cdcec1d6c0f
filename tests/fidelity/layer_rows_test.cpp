#include <catch2/catch.hpp>

#include <fstream>

#include "core/error.hpp"
#include "fidelity/operation.hpp"
#include "fidelity/validate_files.hpp"
#include "tests/fidelity/fixtures.hpp"
#include "tests/workloads/fixtures.hpp"

namespace ridgeline::tests {
namespace {

using fidelity::Machines;
using fidelity::parse_table;
using fidelity::Prediction;
using fidelity::Row;
using fidelity::Table;

Prediction of(const fidelity::Operation& operation, const std::string& csv) {
  Machines machines(shipped(), std::nullopt);
  const Table table = parse_table(csv, "t.csv");
  return operation.predict(Row(table, 0), machines);
}

Prediction layer(const std::string& name, const std::string& tokens = "64",
                 const std::string& model = "Llama-3.1-8B", const std::string& tp = "1") {
  return of(fidelity::kLayer, "hw,model,tp,layer,tokens\nRTX PRO 6000," + model + "," + tp + "," +
                                  name + "," + tokens + "\n");
}

TEST_CASE("a layer's product is the machine's product of its shape", "[layers]") {
  // Llama 3.1 8B: hidden 4096, 32 + 2 x 8 heads of 128, so 6144 columns. A product in a table has
  // its rows read from HBM, one in a layer finds them in the cache.
  const Prediction product =
      of(fidelity::kGemm, "hw,M,N,K,dtype\nRTX PRO 6000,64,6144,4096,bf16\n");
  CHECK(layer("qkv_proj").seconds == Approx(product.seconds).epsilon(0.03));
  // Bytes of the weights over 1.792 TB/s: 6144 x 4096 x 2 / 1.792e12 = 28.1 us.
  CHECK(layer("qkv_proj").floor == Approx(28.1e-6).epsilon(0.01));
  SECTION("and of half the columns when two GPUs share it") {
    const Prediction half = of(fidelity::kGemm, "hw,M,N,K,dtype\nRTX PRO 6000,64,3072,4096,bf16\n");
    CHECK(layer("qkv_proj", "64", "Llama-3.1-8B", "2").seconds ==
          Approx(half.seconds).epsilon(0.03));
  }
}

TEST_CASE("a model's name may end in what is no part of it", "[layers]") {
  CHECK(layer("o_proj", "8", "Qwen3-30B-A3B-Instruct-2507").seconds > 0.0);
}

TEST_CASE("layers that a model has not are no layers of zero time", "[layers]") {
  CHECK_THROWS_WITH(layer("qk_norm"), Catch::Contains("row 1: model: expected a model with such a "
                                                      "layer, got 'Llama-3.1-8B'"));
  CHECK_THROWS_WITH(layer("attn"), Catch::Contains("row 1: layer: expected one of act_fn, "));
  CHECK_THROWS_WITH(layer("lm_head"),
                    Catch::Contains("row 1: tokens: expected nothing: what comes "
                                    "behind the layers is computed once a sequence"));
  CHECK_THROWS_WITH(layer("o_proj", "8", ""),
                    Catch::Contains("row 1: model: expected a model: a column, or a folder"));
  CHECK_THROWS_WITH(layer("o_proj", "8", "Llama-9-8B"), Catch::Contains("'Llama-9-8B'"));
  CHECK_THROWS_WITH(layer("o_proj", "8", "Llama-3.1-8B", "3"),
                    Catch::Contains("row 1: tp: expected a divisor of the model's 32 heads"));
}

TEST_CASE("logits are of sequences, and sampling them takes all its kernels", "[layers]") {
  const auto sampler = [](const std::string& sequences) {
    return of(fidelity::kLayer,
              "hw,model,layer,sequences\nRTX PRO 6000,Llama-3.1-8B,sampler," + sequences + "\n")
        .seconds;
  };
  CHECK(sampler("1") >= 4 * 1.5e-6);  // four kernels of at least the stack's floor
  // Twice the sequences, twice the logits: 128 x 128,256 fp32 are 66 MB.
  CHECK(sampler("256") > 1.5 * sampler("128"));
}

TEST_CASE("a step's attention follows chunk, contexts and sequences", "[layers]") {
  const auto attention = [](const std::string& cells) {
    return of(fidelity::kStepAttention,
              "hw,model,prefill_chunk,kv_prefill,n_decode,kv_decode\nRTX PRO 6000,Llama-3.1-8B," +
                  cells + "\n");
  };
  CHECK(attention("512,0,0,0").seconds < attention("512,4096,0,0").seconds);
  CHECK(attention("0,0,64,1024").seconds < attention("0,0,64,8192").seconds);
  // 64 x 8,192 keys and values of 8 heads of 128 in 16 bits are 2.15 GB: 1.2 ms.
  CHECK(attention("0,0,64,8192").floor == Approx(1.2e-3).epsilon(0.01));
  CHECK(attention("512,0,64,1024").seconds > attention("0,0,64,1024").seconds);
  CHECK_THROWS_WITH(attention("0,0,0,0"), Catch::Contains("n_decode: expected sequences"));
}

TEST_CASE("experts cost by how many of them are active", "[layers]") {
  const auto experts = [](const std::string& active, const std::string& model) {
    return of(fidelity::kStepExperts,
              "hw,model,tokens,activated_experts\nRTX PRO 6000," + model + ",64," + active + "\n")
        .seconds;
  };
  CHECK(experts("16", "Qwen3-30B-A3B") < experts("64", "Qwen3-30B-A3B"));
  CHECK_THROWS_WITH(experts("16", "Llama-3.1-8B"), Catch::Contains("a model with experts"));
  CHECK_THROWS_WITH(experts("129", "Qwen3-30B-A3B"), Catch::Contains("at most the model's 128"));
}

TEST_CASE("a profile's folder says machine, model and split", "[layers]") {
  TemporaryFolder folder;
  const auto profile = folder.path() / "RTXPRO6000_Llama-3.1-8B_tp2";
  std::filesystem::create_directory(profile);
  std::ofstream(profile / "dense.csv") << "layer,tokens,time_us\nqkv_proj,64,20\n";
  const auto groups = fidelity::validate_files({folder.path()}, shipped(), {}, {});
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].name == "RTXPRO6000 Llama-3.1-8B tp2 qkv_proj");
  REQUIRE(groups[0].rows.size() == 1);
  CHECK(groups[0].rows[0].predicted ==
        Approx(layer("qkv_proj", "64", "Llama-3.1-8B", "2").seconds).epsilon(1e-9));
  // The split into fitted and held back is by the file's own cells.
  CHECK(groups[0].rows[0].held_back == fidelity::held_back({"qkv_proj", "64", "20"}));
}

TEST_CASE("a system's name says whose links they are", "[layers]") {
  const Prediction system = of(fidelity::kAllReduce, "system,n_gpu,bytes\nh100_dgx,8,16777216\n");
  const Prediction machine =
      of(fidelity::kAllReduce, "hw,impl,n_gpu,bytes\nH100,NCCL,8,16777216\n");
  CHECK(system.seconds == machine.seconds);
  SECTION("but what joins pairs of GPUs is none of them") {
    CHECK(of(fidelity::kAllReduce, "system,n_gpu,bytes\nh100_pairwise_nvlink,2,1024\n").seconds >
          0);
    CHECK_THROWS_WITH(of(fidelity::kAllReduce, "system,n_gpu,bytes\nh100_pairwise_nvlink,4,1024\n"),
                      Catch::Contains("n_gpu: expected 2, the GPUs of a pair"));
  }
}

}  // namespace
}  // namespace ridgeline::tests
