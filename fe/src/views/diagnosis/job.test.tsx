import { fireEvent, render, screen } from "@testing-library/preact";
import { expect, it, vi } from "vitest";
import { Job, plannedText } from "./job";

const JOB = { folder: "/logs/run", ranks: [0, 1], command: "torch-tb-profiler record /logs/run" };
const rank = (number: number, problem = "") => ({ rank: number, problem });

it("says which steps are recorded on how many ranks, and who is missing", () => {
  expect(plannedText({ at_step: 47, steps: 5, ranks: [rank(0), rank(1, "It is late.")] })).toBe(
    "Steps 47 to 51 are recorded on 1 of 2 ranks. Rank 1: It is late.",
  );
  expect(plannedText({ at_step: 0, steps: 1, ranks: [rank(0)] })).toBe(
    "Step 0 is recorded on 1 of 1 rank.",
  );
});

it("asks with the token and the chosen ranks, and says why a job refuses", async () => {
  const sent: unknown[] = [];
  const error = { code: "bad_request", message: "The token is wrong.", hint: "", progress: null };
  vi.stubGlobal("fetch", (_: string, how: RequestInit) => {
    sent.push(JSON.parse(how.body as string));
    return Promise.resolve(new Response(JSON.stringify({ error }), { status: 400 }));
  });
  render(<Job job={JOB} />);
  const type = (label: string, value: string) =>
    fireEvent.input(screen.getByLabelText(label), { target: { value } });
  type("Ranks", "1");
  type("Token", "secret");
  fireEvent.submit(screen.getByLabelText("Token").closest("form")!);
  expect((await screen.findByRole("alert")).textContent).toContain("The token is wrong.");
  expect(sent).toEqual([{ folder: "/logs/run", steps: 5, ranks: [1], token: "secret" }]);
});

it("never takes ranks that it cannot read for all of them", async () => {
  const sent: { ranks: unknown }[] = [];
  vi.stubGlobal("fetch", (_: string, how: RequestInit) => {
    sent.push(JSON.parse(how.body as string) as { ranks: unknown });
    return Promise.reject(new Error("enough"));
  });
  render(<Job job={JOB} />);
  fireEvent.input(screen.getByLabelText("Ranks"), { target: { value: "7-0" } });
  fireEvent.submit(screen.getByLabelText("Token").closest("form")!);
  await screen.findByRole("alert");
  expect(sent.map(({ ranks }) => ranks)).toEqual([[]]);
});
