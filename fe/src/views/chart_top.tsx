/** How many parts the charts beside a table show by themselves: the parameter `top`. */

import type { ComponentType } from "preact";
import { clamp } from "../base/clamp";
import { readSort, showPart } from "./grid_params";

const USUAL = 5;
const MOST = 100;

interface TopProps {
  params: Readonly<Record<string, string>>;
  setParam: (key: string, value: string | null) => void;
}

/** The number in the address bar within what can be drawn; the usual one where there is none. */
export const topOf = (params: TopProps["params"]): number =>
  clamp(Math.floor(Number(params.top)) || USUAL, 1, MOST);

export function ChartTop({ params, setParam }: TopProps) {
  return (
    <label class="chart-top">
      Top
      <input
        type="number"
        class="text-input"
        min={1}
        max={MOST}
        value={topOf(params)}
        onChange={({ currentTarget }) => setParam("top", currentTarget.value || null)}
      />
    </label>
  );
}

export interface ChartsProps<P> {
  payload: P;
  /** The rows that the search found. */
  found: Uint32Array;
  sortedBy: string;
  /** Parts that stand by themselves. */
  top: number;
  onSelect: (key: string) => void;
}

/** The charts beside a table. */
export const chartsBeside =
  <P,>(Charts: ComponentType<ChartsProps<P>>, payload: P, { params, setParam }: TopProps) =>
  (found: Uint32Array) => (
    <>
      <ChartTop params={params} setParam={setParam} />
      <Charts
        payload={payload}
        found={found}
        sortedBy={readSort(params.sort)?.key ?? ""}
        top={topOf(params)}
        onSelect={(key) => showPart(key, params.search, setParam)}
      />
    </>
  );
