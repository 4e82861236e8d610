import { expect, it } from "vitest";
import { visited, type ZoomPath } from "./zooms";

it("goes on from what is in sight, and forgets what was ahead", () => {
  const path = [-1, 4, 7].reduce<ZoomPath>((kept, zoom) => visited(kept, zoom), {
    zooms: [-1],
    at: 0,
  });
  expect(path).toEqual({ zooms: [-1, 4, 7], at: 2 });
  expect(visited({ ...path, at: 1 }, 9)).toEqual({ zooms: [-1, 4, 9], at: 2 });
  expect(visited({ ...path, at: 1 }, 4)).toEqual({ ...path, at: 1 });
});
