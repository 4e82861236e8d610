import { describe, expect, it, vi } from "vitest";
import { lettersOf, shortened } from "./labels";

describe("shortened", () => {
  it.each([
    ["aten::mm", "mm"],
    ["cudaLaunchKernel", "cudaLaunchKernel"],
    ["void at::native::copy<int>(at::Tensor)", "copy<int>(at::Tensor)"],
    [
      "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float>(float*)",
      "cunn_SoftMaxForward<8, float>(float*)",
    ],
    ["void cutlass::Kernel2<cutlass_80_tensorop::x>(int)", "Kernel2<cutlass_80_tensorop::x>(int)"],
    ["torch/nn/modules/module.py(1773): _call_impl", "module.py(1773): _call_impl"],
    ["C:\\env\\torch\\serialization.py(5): load", "serialization.py(5): load"],
    ["<built-in function next>", "<built-in function next>"],
    ["nn.Module: Linear_3", "Linear_3"],
    ["operator::", "operator::"],
    ["", ""],
  ])("%s → %s", (name, short) => {
    expect(shortened(name)).toBe(short);
  });

  it("takes no longer for names that were written to be slow", () => {
    const begun = performance.now();
    shortened(`${"a/".repeat(50_000)}x.py(`);
    shortened("a::".repeat(50_000));
    shortened(".py(1): ".repeat(5_000));
    expect(performance.now() - begun).toBeLessThan(500);
  });
});

describe("lettersOf", () => {
  const letters = (): {
    measure: ReturnType<typeof vi.fn>;
    fit: (name: string, room: number) => string;
  } => {
    const measure = vi.fn((letter: string) => (letter === "i" ? 2 : 10));
    const made = lettersOf(measure);
    return { measure, fit: (name, room) => made.fit(name, room) };
  };

  it("leaves a text whole where it fits", () => {
    expect(letters().fit("kernel", 60)).toBe("kernel");
    expect(letters().fit("iiii", 8)).toBe("iiii");
  });

  it("prefers what is particular about a name to its beginning", () => {
    expect(letters().fit("aten::relu", 40)).toBe("relu");
    expect(letters().fit("aten::relu", 99)).toBe("relu");
    expect(letters().fit("aten::relu", 100)).toBe("aten::relu");
  });

  it("cuts and says so", () => {
    expect(letters().fit("aten::convolution", 60)).toBe("convo…");
    expect(letters().fit("a b c d e f", 50)).toBe("a b…");
    expect(letters().fit("😀😀😀😀😀", 40)).toBe("😀😀😀…");
  });

  it("gives nothing rather than a letter or two", () => {
    expect(letters().fit("kernel", 30)).toBe("");
    expect(letters().fit("kernel", -5)).toBe("");
  });

  it("measures each letter once", () => {
    const { fit, measure } = letters();
    fit("banana", 1000);
    fit("nab", 1000);
    expect(measure).toHaveBeenCalledTimes(3);
  });
});
