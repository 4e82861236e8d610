/** A canvas for tests that remembers what was drawn on it. */

import type { MakeSurface } from "./draw";
import type { Surface } from "./draw";

export interface Call {
  name: string;
  args: readonly unknown[];
  /** At the time of the call. */
  fillStyle: string;
  strokeStyle: string;
  alpha: number;
}

export interface Paper {
  canvas: HTMLCanvasElement;
  ctx: CanvasRenderingContext2D;
  calls: Call[];
  /** Calls of a method. */
  of: (name: string) => Call[];
  texts: () => string[];
}

/** Letters are 6 px wide. */
const LETTER = 6;

export function paper(): Paper {
  const calls: Call[] = [];
  const state: Record<string, unknown> = { fillStyle: "", strokeStyle: "", globalAlpha: 1 };
  const ctx = new Proxy(state, {
    get: (target, name: string) => {
      if (name in target) return target[name];
      if (name === "measureText") return (text: string) => ({ width: LETTER * text.length });
      return (...args: unknown[]) => {
        calls.push({
          name,
          args,
          fillStyle: String(target.fillStyle),
          strokeStyle: String(target.strokeStyle),
          alpha: Number(target.globalAlpha),
        });
      };
    },
    set: (target, name: string, value: unknown) => {
      target[name] = value;
      return true;
    },
  }) as unknown as CanvasRenderingContext2D;
  const canvas = { width: 0, height: 0, getContext: () => ctx } as unknown as HTMLCanvasElement;
  const of = (name: string): Call[] => calls.filter((call) => call.name === name);
  return {
    canvas,
    ctx,
    calls,
    of,
    texts: () => of("fillText").map((call) => String(call.args[0])),
  };
}

/** Surfaces that keep their pixels where a test can see them. */
export function surfaces(): { made: Surface[]; surface: MakeSurface } {
  const made: Surface[] = [];
  const surface = (width: number, rows: number): Surface => {
    const one = {
      pixels: new Uint32Array(width * rows),
      put: () => undefined,
      image: {} as CanvasImageSource,
    };
    made.push(one);
    return one;
  };
  return { made, surface };
}
