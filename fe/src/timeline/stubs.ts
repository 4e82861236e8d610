/** What happy-dom lacks for the timeline: canvases, sizes, observers. For tests. */

import { vi } from "vitest";

/** A 2D context that takes everything and draws nothing. */
const context = (): unknown => new Proxy({}, { get: (_, name) => (name === "measureText" ? (text: string) => ({ width: text.length * 6 }) : vi.fn()), set: () => true });

class Observer {
  private readonly told: () => void;
  constructor(told: () => void) {
    this.told = told;
  }
  observe(): void {
    this.told();
  }
  disconnect(): void {
    // Nothing is watched.
  }
}

class Bitmap {
  readonly data: Uint8ClampedArray;
  constructor(width: number, height: number) {
    this.data = new Uint8ClampedArray(width * height * 4);
  }
}

/** Every element is 800 by 300 px at the origin. Undone by `vi.restoreAllMocks` and `vi.unstubAllGlobals`. */
export function stubCanvas(): void {
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockImplementation(context as never);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(800);
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(300);
  vi.stubGlobal("ResizeObserver", Observer);
  vi.stubGlobal("OffscreenCanvas", class {
    getContext = context;
  });
  vi.stubGlobal("ImageData", Bitmap);
}
