// What each kind of operation makes of a row: the arithmetic of one, floors, monotony.

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "tests/fidelity/fixtures.hpp"

namespace ridgeline::tests {
namespace {

using fidelity::kAllReduce;
using fidelity::kAttention;
using fidelity::kGemm;
using fidelity::kMoe;
using fidelity::Operation;
using fidelity::Prediction;
using fidelity::Row;

constexpr double kUs = 1e-6;

/// One row of text.
std::string gemm(const std::string& hw, long m, long n, long k, const std::string& dtype,
                 long batch = 1) {
  return "hw,M,N,K,dtype,batch\n" + hw + "," + std::to_string(m) + "," + std::to_string(n) + "," +
         std::to_string(k) + "," + dtype + "," + std::to_string(batch) + "\n";
}
std::string attention(const std::string& hw, const std::string& phase, long batch, long heads,
                      long kv_heads, long q, long k, bool causal,
                      const std::string& dtype = "bf16") {
  return "hw,phase,dtype,batch,q_heads,kv_heads,seqlen_q,seqlen_kv,head_dim,causal\n" + hw + "," +
         phase + "," + dtype + "," + std::to_string(batch) + "," + std::to_string(heads) + "," +
         std::to_string(kv_heads) + "," + std::to_string(q) + "," + std::to_string(k) + ",128," +
         (causal ? "1" : "0") + "\n";
}
std::string all_reduce(const std::string& hw, const std::string& impl, long gpus, double bytes) {
  return "hw,impl,n_gpu,bytes\n" + hw + "," + impl + "," + std::to_string(gpus) + "," +
         std::to_string(bytes) + "\n";
}
std::string moe(const std::string& hw, long tokens, long dim, long inter, long experts, long topk,
                const std::string& dtype) {
  return "hw,tokens,model_dim,inter_dim_per_gpu,experts,topk,act_dtype,w_dtype\n" + hw + "," +
         std::to_string(tokens) + "," + std::to_string(dim) + "," + std::to_string(inter) + "," +
         std::to_string(experts) + "," + std::to_string(topk) + "," + dtype + "," + dtype + "\n";
}

/// What holds for every prediction.
void check_sound(const Prediction& p, const std::string& text) {
  INFO(text);
  CHECK(std::isfinite(p.seconds));
  CHECK(p.seconds > 0.0);
  CHECK(p.floor > 0.0);
  CHECK(p.seconds >= p.floor * (1.0 - 1e-9));
  CHECK(p.low() >= p.floor * (1.0 - 1e-9));
  CHECK(p.low() <= p.seconds * (1.0 + 1e-9));
  CHECK(p.seconds <= p.high());
  CHECK_FALSE(p.binds.empty());
}

// Products.

TEST_CASE("a product of the easy machine takes its arithmetic and a fixed time", "[rows][gemm]") {
  EasyMachines machines;
  // 100 x 100 x 1000: 20 MFLOP at 10 TFLOP/s are 2 us in 100 tiles, ten waves; 2 B x 210,000
  // elements at 1 TB/s are 0.42 us, hidden. 3 us fixed.
  const Prediction p = first_of(kGemm, gemm("any", 100, 100, 1000, "bf16"), machines);
  CHECK(p.seconds == Approx(5 * kUs).epsilon(1e-6));
  CHECK(p.floor == Approx(2 * kUs));
  CHECK(p.binds == "floor");  // of 5 us 3 are fixed
  CHECK(p.spread == 0.3);
  CHECK(p.flags.empty());
  // Ten of them: 20 us and 3.
  const Prediction ten = first_of(kGemm, gemm("any", 100, 100, 1000, "bf16", 10), machines);
  CHECK(ten.seconds == Approx(23 * kUs).epsilon(1e-6));
  CHECK(ten.floor == Approx(20 * kUs));
  CHECK(ten.binds == "compute");
  CHECK(ten.spread == 0.1);
}

TEST_CASE("a narrow product of the easy machine takes its bytes", "[rows][gemm]") {
  EasyMachines machines;
  // 10 x 1000 x 1000: weights 2 MB, rows 20 KB, results 20 KB: 2.04 us. 20 MFLOP: 2 us, hidden.
  const Prediction p = first_of(kGemm, gemm("any", 10, 1000, 1000, "bf16"), machines);
  CHECK(p.floor == Approx(2.04 * kUs));
  CHECK(p.seconds > 5.04 * kUs);
  CHECK(p.seconds < 5.1 * kUs);
}

TEST_CASE("a flavour in the lib or dtype column chooses the family", "[rows][gemm]") {
  EasyMachines machines;
  // fp8 runs at 20 TFLOP/s: 1 us, and 7 us fixed.
  for (const char* text : {"hw,M,N,K,dtype,lib\nany,100,100,1000,fp8,blockscale CK\n",
                           "hw,M,N,K,dtype\nany,100,100,1000,fp8 blockscale\n"})
    CHECK(first_of(kGemm, text, machines).seconds == Approx(8 * kUs).epsilon(1e-6));
}

TEST_CASE("a product without a batch column is one", "[rows][gemm]") {
  EasyMachines machines;
  CHECK(first_of(kGemm, "M,N,K,dtype\n100,100,1000,bf16\n", machines).seconds ==
        first_of(kGemm, gemm("any", 100, 100, 1000, "bf16", 1), machines).seconds);
  CHECK(first_of(kGemm, "M,N,K,dtype,batch\n100,100,1000,bf16,\n", machines).seconds ==
        Approx(5 * kUs).epsilon(1e-6));
}

TEST_CASE("a product that cannot be understood says which cell", "[rows][gemm]") {
  EasyMachines machines;
  const auto error = [&](const char* text) {
    return error_of([&] { (void)first_of(kGemm, text, machines); });
  };
  CHECK(error("M,N,dtype\n1,1,bf16\n").starts_with("t.csv: no column 'K'"));
  CHECK(error("M,N,K,dtype\n1,0,1,bf16\n") ==
        "t.csv: row 1: N: expected a whole number of at least 1, got '0'");
  CHECK(error("M,N,K,dtype\n1,1,1,int8\n") ==
        "t.csv: row 1: dtype: expected a number format that Easy 1 multiplies, got 'int8'");
  for (const char* batch : {"x", "0", "-3", "1e300", "1.5"})
    CHECK(error(("M,N,K,dtype,batch\n1,1,1,bf16," + std::string(batch) + "\n").c_str()) ==
          "t.csv: row 1: batch: expected a whole number of at least 1, got '" + std::string(batch) +
              "'");
}

TEST_CASE("an unknown number format is taken as bf16 and flagged", "[rows][gemm]") {
  EasyMachines machines;
  const Prediction p = first_of(kGemm, "M,N,K,dtype\n100,100,1000,?\n", machines);
  CHECK(p.flags == std::vector<std::string>{"dtype unknown, taken as bf16"});
}

TEST_CASE("a product outside of what was measured is flagged", "[rows][gemm]") {
  CHECK(first_of(kGemm, gemm("MI300X", 16, 8192, 8192, "int8")).flags.empty());
  CHECK(first_of(kGemm, gemm("MI300X", 16, 8192, 100000, "int8")).flags ==
        std::vector<std::string>{"extrapolated"});
  CHECK(first_of(kGemm, gemm("MI325X", 16, 8192, 8192, "int8")).flags ==
        std::vector<std::string>{"extrapolated"});  // constants of a sibling
}

TEST_CASE("a product's time is read as a time or from a rate", "[rows][gemm]") {
  const auto measured = [](const char* text) {
    const auto table = table_of(text);
    return kGemm.measured(Row(table, 0));
  };
  CHECK(measured("M,N,K,time_us\n1,1,1,5\n").value() == Approx(5 * kUs));
  CHECK(measured("M,N,K,median_us\n1,1,1,5\n").value() == Approx(5 * kUs));
  // 2 x 1000^3 FLOP at 100 TFLOP/s; twice that in a batch of two.
  CHECK(measured("M,N,K,tflops\n1000,1000,1000,100\n").value() == Approx(20 * kUs));
  CHECK(measured("batch,M,N,K,tflops\n2,1000,1000,1000,100\n").value() == Approx(40 * kUs));
  CHECK_FALSE(measured("M,N,K,tflops\n1000,1000,1000,0\n"));
  CHECK_FALSE(measured("M,N,K,time_us,tflops\n1000,1000,1000,,\n"));
}

TEST_CASE("products respect their floor and are sound, whatever their shape", "[rows][gemm]") {
  std::mt19937 random(1);
  const auto size = [&random](double most) {
    return static_cast<long>(
        std::exp(std::uniform_real_distribution<>(0.0, std::log(most))(random)));
  };
  for (const char* hw : {"MI300X", "mi300x_datasheet", "MI355X", "H100 SXM", "A100", "RTX 4090"}) {
    for (const char* dtype : {"bf16", "fp16", "fp8", "fp8 blockscale", "int8"}) {
      for (int i = 0; i < 40; ++i) {
        const std::string text = gemm(hw, size(70000), size(70000), size(70000), dtype, size(20));
        try {
          check_sound(first_of(kGemm, text), text);
        } catch (const core::ConfigError& error) {  // a machine without that format
          CHECK(std::string(error.what()).find("multiplies") != std::string::npos);
        }
      }
    }
  }
}

TEST_CASE("a deeper, wider, longer or further product never takes less", "[rows][gemm]") {
  // Of plans the best is taken, so that a larger product has no cheaper one.
  for (const char* dtype : {"bf16", "fp8", "int8", "fp8 blockscale"}) {
    for (const long m : {1L, 16L, 100L, 4096L}) {
      const auto time = [&](long mm, long n, long k, long batch) {
        return first_of(kGemm, gemm("MI300X", mm, n, k, dtype, batch)).seconds;
      };
      const double base = time(m, 4096, 4096, 1);
      INFO(dtype << " " << m);
      CHECK(time(2 * m, 4096, 4096, 1) >= base);
      CHECK(time(m, 8192, 4096, 1) >= base);
      CHECK(time(m, 4096, 8192, 1) >= base);
      CHECK(time(m, 4096, 4096, 2) >= base);
    }
  }
}

// Attention.

TEST_CASE("attention without constants takes its FLOP at the rate of the machine",
          "[rows][attention]") {
  EasyMachines machines;
  // 2 sequences x 4 heads x 1000 x 1000 pairs x 4 x 128 FLOP = 4.096 GFLOP at 10 TFLOP/s.
  const Prediction p =
      first_of(kAttention, attention("any", "fwd", 2, 4, 4, 1000, 1000, false), machines);
  CHECK(p.floor == Approx(409.6 * kUs));
  CHECK(p.seconds == Approx(409.6 * kUs));
  CHECK(p.binds == "compute");
  CHECK(p.spread == hw::kUnmeasuredSpread);
  CHECK(p.flags == std::vector<std::string>{"extrapolated"});
  // Causal: (1000 + 1) / 2 of 1000 keys each. Backward: 10 instead of 4 FLOP.
  CHECK(first_of(kAttention, attention("any", "fwd", 2, 4, 4, 1000, 1000, true), machines).floor ==
        Approx(409.6 * 0.5005 * kUs));
  CHECK(first_of(kAttention, attention("any", "bwd", 2, 4, 4, 1000, 1000, false), machines).floor ==
        Approx(1024 * kUs));
}

TEST_CASE("decoding reads the keys and values of its KV heads", "[rows][attention]") {
  EasyMachines machines;
  // 8 sequences x 1000 keys x 2 KV heads x 128 x 2 B, keys and values: 8.192 MB at 1 TB/s.
  const Prediction p =
      first_of(kAttention, attention("any", "decode", 8, 16, 2, 1, 1000, true), machines);
  CHECK(p.floor == Approx(8.192 * kUs));
  CHECK(p.binds == "memory");
  // Queries and results, 2 x 8 x 16 x 128 x 2 B, come on top.
  CHECK(p.seconds == Approx((8.192 + 0.065536) * kUs));
}

TEST_CASE("what a row of attention leaves out is the usual", "[rows][attention]") {
  EasyMachines machines;
  const Prediction full =
      first_of(kAttention, attention("any", "fwd", 2, 4, 4, 1000, 1000, false), machines);
  const Prediction bare =
      first_of(kAttention, "phase,dtype,batch,q_heads,seqlen_q\nprefill,bf16,2,4,1000\n", machines);
  CHECK(bare.seconds == full.seconds);
  CHECK(bare.floor == full.floor);
}

TEST_CASE("attention that cannot be understood says which cell", "[rows][attention]") {
  EasyMachines machines;
  const auto error = [&](const std::string& text) {
    return error_of([&] { (void)first_of(kAttention, text, machines); });
  };
  CHECK(error(attention("any", "sideways", 1, 4, 4, 10, 10, false)) ==
        "t.csv: row 1: phase: expected fwd, bwd or decode, got 'sideways'");
  CHECK(error(attention("any", "fwd", 1, 4, 3, 10, 10, false)) ==
        "t.csv: row 1: kv_heads: expected a divisor of q_heads, got '3'");
  CHECK(error(attention("any", "fwd", 1, 4, 4, 100, 10, true)) ==
        "t.csv: row 1: seqlen_kv: expected at least seqlen_q where a query sees what stands before "
        "it, got '10'");
  CHECK(error(attention("any", "fwd", 1, 4, 4, 100, 10, false)).empty());
  CHECK(error(attention("any", "fwd", 1, 4, 4, 10, 10, false, "int8")) ==
        "t.csv: row 1: dtype: expected a number format that Easy 1 multiplies, got 'int8'");
}

TEST_CASE("attention's time is read as a time or from a rate", "[rows][attention]") {
  const auto measured = [](const std::string& text) {
    const auto table = table_of(text);
    return kAttention.measured(Row(table, 0));
  };
  CHECK(measured("phase,time_ms\nfwd,0.5\n").value() == Approx(500 * kUs));
  CHECK(measured("phase,batch,q_heads,seqlen_q,tflops\nfwd,2,4,1000,10\n").value() ==
        Approx(409.6 * kUs));
  CHECK_FALSE(measured("phase,tflops\nfwd,\n"));
}

TEST_CASE("another library's kernel is as much slower as the machine's file says",
          "[rows][attention]") {
  const auto time = [](const char* kernel) {
    return first_of(kAttention, "hw,kernel,phase,dtype,batch,q_heads,seqlen_q,causal\nMI300X," +
                                    std::string(kernel) + ",fwd,bf16,1,32,16384,0\n")
        .seconds;
  };
  CHECK(time("Triton FA2") / time("aiter asm") == Approx(1.0 / 0.63).epsilon(0.03));
}

TEST_CASE("attention respects its floor and is sound, whatever its shape", "[rows][attention]") {
  std::mt19937 random(2);
  const auto size = [&random](double most) {
    return static_cast<long>(
        std::exp(std::uniform_real_distribution<>(0.0, std::log(most))(random)));
  };
  for (const char* hw : {"MI300X", "mi300x_datasheet", "MI355X", "H100 SXM", "A100", "RTX 4090"}) {
    for (const char* phase : {"fwd", "bwd", "decode"}) {
      for (int i = 0; i < 40; ++i) {
        const long kv_heads = size(16);
        const bool decode = std::string(phase) == "decode";
        const long k = size(50000);
        const long q = decode ? 1 : std::min(k, size(50000));
        const std::string text =
            attention(hw, phase, size(64), kv_heads * size(8), kv_heads, q, k, i % 2 == 0);
        check_sound(first_of(kAttention, text), text);
      }
    }
  }
}

TEST_CASE("more sequences, heads or keys never take less", "[rows][attention]") {
  for (const char* phase : {"fwd", "bwd", "decode"}) {
    const long q = std::string(phase) == "decode" ? 1 : 2048;
    const auto time = [&](long batch, long heads, long k) {
      const long queries = q == 1 ? 1 : k;
      return first_of(kAttention, attention("MI300X", phase, batch, heads, 8, queries, k, false))
          .seconds;
    };
    INFO(phase);
    for (const long k : {512L, 2048L, 4096L}) {
      CHECK(time(2, 32, k) >= time(1, 32, k));
      CHECK(time(1, 64, k) >= time(1, 32, k));
      CHECK(time(1, 32, 2 * k) >= time(1, 32, k));
    }
  }
}

// Collectives.

TEST_CASE("an all-reduce of the easy machine takes its latency and its bytes",
          "[rows][allreduce]") {
  EasyMachines machines;
  // 4 GPUs, 1 MB: each link carries 2 MB / 4 one way, 50 us at 10 GB/s. 2 us fixed, two steps of
  // 1 us, three peers of 0.5 us.
  const Prediction p = first_of(kAllReduce, all_reduce("any", "plain", 4, 1e6), machines);
  CHECK(p.floor == Approx(50 * kUs));
  CHECK(p.seconds == Approx(55.5 * kUs));
  CHECK(p.binds == "link");
  const Prediction tiny = first_of(kAllReduce, all_reduce("any", "plain", 4, 1000), machines);
  CHECK(tiny.seconds == Approx(5.55 * kUs));
  CHECK(tiny.binds == "floor");
}

TEST_CASE("a codec packs what goes over the links", "[rows][allreduce]") {
  EasyMachines machines;
  // 4-bit with scales: 4.5 / 16 of 1 MB; half of that over a link: 14.0625 us. The codec takes
  // 281,250 B at 100 GB/s and 4 us; 1 us fixed.
  const Prediction p = first_of(kAllReduce, all_reduce("any", "QR-Q4", 4, 1e6), machines);
  CHECK(p.floor == Approx(14.0625 * kUs));
  CHECK(p.seconds == Approx((14.0625 + 2.8125 + 5.0) * kUs));
}

TEST_CASE("other collectives move half of an all-reduce", "[rows][allreduce]") {
  EasyMachines machines;
  const auto floor = [&](const char* op) {
    return first_of(kAllReduce, "hw,impl,n_gpu,bytes,op\nany,plain,4,1e6," + std::string(op) + "\n",
                    machines)
        .floor;
  };
  CHECK(floor("all_reduce") == Approx(50 * kUs));
  CHECK(floor("reduce_scatter") == Approx(25 * kUs));
  CHECK(floor("all_gather") == Approx(25 * kUs));
  CHECK(floor("send") == Approx(100 * kUs));
  CHECK(error_of([&] { (void)floor("shout"); }) ==
        "t.csv: row 1: op: expected all_reduce, reduce_scatter, all_gather, all_to_all, broadcast "
        "or send, got 'shout'");
}

TEST_CASE("an unknown library is taken as the machine's first, and flagged", "[rows][allreduce]") {
  EasyMachines machines;
  const Prediction p = first_of(kAllReduce, all_reduce("any", "homing pigeons", 4, 1e6), machines);
  CHECK(p.seconds == Approx(55.5 * kUs));
  REQUIRE_FALSE(p.flags.empty());
  CHECK(p.flags.front() == "library unknown, taken as plain");
}

TEST_CASE("a collective that cannot be says which cell", "[rows][allreduce]") {
  EasyMachines machines;
  CHECK(error_of([&] {
          (void)first_of(kAllReduce, all_reduce("any", "plain", 5, 1e6), machines);
        }) == "t.csv: row 1: n_gpu: expected at most 4, which a node has, got '5'");
  CHECK_FALSE(error_of([&] {
                (void)first_of(kAllReduce, all_reduce("any", "plain", 0, 1e6), machines);
              }).empty());
  CHECK(error_of([&] {
          (void)first_of(kAllReduce, all_reduce("GB10", "x", 2, 1e6));
        }).find("interconnect") != std::string::npos);
}

TEST_CASE("an all-reduce's time is read as a time or from its bus bandwidth", "[rows][allreduce]") {
  const auto measured = [](const char* text) {
    const auto table = table_of(text);
    return kAllReduce.measured(Row(table, 0));
  };
  CHECK(measured("n_gpu,bytes,time_us\n4,1000000,7\n").value() == Approx(7 * kUs));
  // 8 GPUs: 2 x 7 / 8 of 8 MB at 140 GB/s.
  CHECK(measured("n_gpu,bytes,busbw_GBps\n8,8000000,140\n").value() == Approx(100 * kUs));
  CHECK_FALSE(measured("n_gpu,bytes,busbw_GBps\n1,8000000,140\n"));
  CHECK_FALSE(measured("n_gpu,bytes,busbw_GBps\n8,8000000,0\n"));
  CHECK_FALSE(measured("n_gpu,bytes,time_us\n8,8000000,\n"));
}

TEST_CASE("collectives respect their floor, and more bytes never take less", "[rows][allreduce]") {
  for (const char* hw : {"MI300X", "MI355X", "H100 SXM", "A100"}) {
    for (const char* impl : {"RCCL", "QR-FP16", "QR-Q8", "custom", "NCCL", "NVLS"}) {
      for (const long gpus : {2L, 4L, 8L}) {
        double before = 0.0;
        for (double bytes = 1024.0; bytes < 5e9; bytes *= 3.0) {
          const std::string text = all_reduce(hw, impl, gpus, bytes);
          const Prediction p = first_of(kAllReduce, text);
          check_sound(p, text);
          INFO(text);
          CHECK(p.seconds >= before * (1.0 - 1e-9));
          before = p.seconds;
        }
      }
    }
  }
}

// Experts.

TEST_CASE("experts of the easy machine read their weights", "[rows][moe]") {
  EasyMachines machines;
  // One token, two of eight experts of 1000 x 1000: gate and up 2 x 2 x 1e6 weights, down 2 x 1e6,
  // of 2 B: 8 + 4 us at 1 TB/s; 5 us fixed each. 10 x 10 tiles of one token: 2 blocks x 200 (100)
  // tiles, 40.5 (20.5) waves of 2 x 100 x 1000 FLOP at 1 TFLOP/s: 8.1 and 4.1 us, a little more.
  // Rows, 20 KB in and out, stay in no cache: 12.02 us at least.
  const Prediction p = first_of(kMoe, moe("any", 1, 1000, 1000, 8, 2, "bf16"), machines);
  CHECK(p.floor == Approx(12.02 * kUs));
  CHECK(p.seconds > 22.2 * kUs);
  CHECK(p.seconds < 22.3 * kUs);
}

TEST_CASE("the number of experts that are active can be given", "[rows][moe]") {
  EasyMachines machines;
  const auto with = [&](const char* active) {
    return first_of(kMoe,
                    "tokens,model_dim,inter_dim_per_gpu,experts,topk,act_dtype,activated_experts\n"
                    "16,1000,1000,8,2,bf16," +
                        std::string(active) + "\n",
                    machines);
  };
  CHECK(with("4").floor < with("8").floor);
  // Evenly routed, an expert is missed by 0.75^16 = 1 % of the layers.
  CHECK(with("").floor == Approx(with("7.9198").floor).epsilon(1e-4));
  CHECK(with("7.5").floor > with("7").floor);
  for (const char* wrong : {"0", "-5", "x", "9", "1e9"}) {
    INFO(wrong);
    CHECK(error_of([&] { (void)with(wrong); }).starts_with("t.csv: row 1: activated_experts: "));
  }
}

TEST_CASE("experts that cannot be say which cell", "[rows][moe]") {
  EasyMachines machines;
  CHECK(error_of([&] { (void)first_of(kMoe, moe("any", 1, 10, 10, 4, 5, "bf16"), machines); }) ==
        "t.csv: row 1: topk: expected at most the number of experts, got '5'");
  CHECK(error_of([&] { (void)first_of(kMoe, moe("any", 1, 10, 10, 4, 2, "int8"), machines); }) ==
        "t.csv: row 1: act_dtype: expected a number format that Easy 1 multiplies, got 'int8'");
  CHECK_FALSE(error_of([&] {
                (void)first_of(kMoe, moe("any", 0, 10, 10, 4, 2, "bf16"), machines);
              }).empty());
}

TEST_CASE("experts' time is read as a whole or as the sum of its stages", "[rows][moe]") {
  const auto measured = [](const char* text) {
    const auto table = table_of(text);
    return kMoe.measured(Row(table, 0));
  };
  CHECK(measured("total_us,stage1_us,stage2_us\n9,4,3\n").value() == Approx(9 * kUs));
  CHECK(measured("total_us,stage1_us,stage2_us\n,4,3\n").value() == Approx(7 * kUs));
  CHECK_FALSE(measured("total_us,stage1_us,stage2_us\n,4,\n"));
}

TEST_CASE("experts respect their floor, and more tokens or experts never take less",
          "[rows][moe]") {
  for (const char* hw : {"MI300X", "mi300x_datasheet", "H100 SXM", "MI355X"}) {
    for (const char* dtype : {"bf16", "fp8"}) {
      for (const long experts : {8L, 64L, 257L}) {
        double before = 0.0;
        for (long tokens = 1; tokens < 100000; tokens *= 4) {
          const std::string text = moe(hw, tokens, 7168, 2048, experts, 8, dtype);
          const Prediction p = first_of(kMoe, text);
          check_sound(p, text);
          INFO(text);
          CHECK(p.seconds >= before * (1.0 - 1e-9));
          before = p.seconds;
        }
      }
      CHECK(first_of(kMoe, moe(hw, 64, 7168, 2048, 256, 8, dtype)).seconds >=
            first_of(kMoe, moe(hw, 64, 7168, 2048, 128, 8, dtype)).seconds);
    }
  }
}

TEST_CASE("what a machine has from a sibling is never within what was measured", "[rows]") {
  const auto flags = [](const Operation& operation, const std::string& text) {
    return first_of(operation, text).flags;
  };
  const std::vector<std::string> none;
  const std::vector<std::string> flagged{"extrapolated"};
  CHECK(flags(kAllReduce, all_reduce("MI300X", "RCCL", 8, 1e6)) == none);
  CHECK(flags(kAllReduce, all_reduce("MI325X", "RCCL", 8, 1e6)) == flagged);
  CHECK(flags(kMoe, moe("MI300X", 16, 7168, 2048, 33, 9, "fp8")) == none);
  CHECK(flags(kMoe, moe("MI325X", 16, 7168, 2048, 33, 9, "fp8")) == flagged);
  CHECK(flags(kAttention, attention("MI300X", "fwd", 1, 32, 8, 4096, 4096, true)) == none);
  CHECK(flags(kAttention, attention("MI325X", "fwd", 1, 32, 8, 4096, 4096, true)) == flagged);
}

// The place in the machine's document that prices a row.

TEST_CASE("what prices a row stands at a place of the machine's file", "[rows]") {
  fidelity::Machines machines(shipped(), std::nullopt);
  const hw::GpuSpec& gpu = machines.named("mi300x");
  const auto place = [&](const Operation& operation, const std::string& text) {
    const auto table = table_of(text);
    return operation.constants(Row(table, 0), gpu);
  };
  CHECK(place(kGemm, gemm("MI300X", 1, 1, 1, "int8 (CK)")) == "gemm.families.int8");
  CHECK(place(kGemm, gemm("MI300X", 1, 1, 1, "fp8 blockscale")) == "gemm.families.fp8_blockscale");
  CHECK(place(kGemm, gemm("MI300X", 1, 1, 1, "fp16")) == "gemm.families.bf16");
  CHECK(place(kAttention, attention("MI300X", "fwd", 1, 1, 1, 1, 1, false)) == "attention.prefill");
  CHECK(place(kAttention, attention("MI300X", "bwd", 1, 1, 1, 1, 1, false)) ==
        "attention.backward");
  CHECK(place(kAttention, attention("MI300X", "decode", 1, 1, 1, 1, 1, false)) ==
        "attention.decode");
  CHECK(place(kAllReduce, all_reduce("MI300X", "RCCL 2.20.5", 8, 1)) ==
        "interconnect.libraries.rccl");
  CHECK(place(kAllReduce, all_reduce("MI300X", "RCCL 2.22.3 in Azure", 8, 1)) ==
        "interconnect.libraries.rccl_azure");
  CHECK(place(kAllReduce, all_reduce("MI300X", "RCCL 2.22.3", 8, 1)) ==
        "interconnect.libraries.rccl");
  CHECK(place(kAllReduce,
              "hw,impl,n_gpu,bytes,source\nMI300X,RCCL 2.22.3,8,1,Azure ND_MI300X_v5\n") ==
        "interconnect.libraries.rccl_azure");
  const auto nvls = table_of(all_reduce("H100", "NCCL 2.18.5 NVLS", 8, 1));
  CHECK(kAllReduce.constants(Row(nvls, 0), machines.named("h100")) ==
        "interconnect.libraries.nccl_nvls");
  CHECK(place(kAllReduce, all_reduce("MI300X", "QR-Q4", 8, 1)) == "interconnect.libraries.quick");
  CHECK(place(kMoe, moe("MI300X", 1, 1, 1, 1, 1, "fp8")) == "moe");
}

}  // namespace
}  // namespace ridgeline::tests
