import { expect, it } from "vitest";
import { differing } from "./words";

it.each([
  ["v100_resnet50_num_workers_4", "v100_resnet50_num_workers_0", "…workers_4"],
  ["a/b/c/d/e-new/f/g/h", "a/b/c/d/e-old/f/g/h", "…e-new/f/…"],
  ["eager", "compiled", "eager"],
  ["run", "run_2", "run"],
  ["a_b_c_run_2", "a_b_c_run", "…c_run_2"],
  ["x_1_1", "x_1", "x_1_1"],
])("%s is told from %s as %s", (name, other, told) => expect(differing(name, other)).toBe(told));
