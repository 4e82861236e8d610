import { render } from "@testing-library/preact";
import { describe, expect, it } from "vitest";
import type { EventPathPayload } from "../../api/types.gen";
import { OnPath } from "./side";

const said = (data: Partial<EventPathPayload>): string[] => {
  const nothing = { itself_ns: 0, within_ns: 0, before_ns: 0, step_ns: null, slack_ns: null };
  const { container } = render(<OnPath data={{ ...nothing, ...data }} />);
  return [...container.querySelectorAll(".fact")].map((line) => line.textContent);
};

describe("OnPath", () => {
  it("says how much of an event is on the path, of that itself, and what came before", () => {
    expect(said({ itself_ns: 200, within_ns: 500, before_ns: 7, step_ns: 2000 })).toEqual([
      "On it500 ns, 25.0 % of the step",
      "Of that itself200 ns",
      "Until it began7 ns",
    ]);
  });

  it("says that nothing is, and how much later it could have ended", () => {
    expect(said({ step_ns: 2000, slack_ns: 90 })).toEqual([
      "On itnothing: other work hides it",
      "Slack90 ns",
    ]);
  });

  it("says no share outside of steps", () => {
    expect(said({ itself_ns: 5, within_ns: 5 })).toEqual(["On it5 ns"]);
  });
});
