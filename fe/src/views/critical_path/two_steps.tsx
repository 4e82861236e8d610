/** Two steps on one axis that begin at one moment; behind the end of the shorter one stands what was gained or lost. */

import type { PathStrip } from "../../api/types.gen";
import { formatShare, formatTime } from "../../base/units";
import { Glyph } from "../../widgets";
import { categoryLooks } from "./groups";
import { spoken, stretchesOf } from "./model";

interface TwoStepsProps {
  steps: readonly [PathStrip, PathStrip];
  names: readonly [string, string];
  device: string;
  /** Of the second from the first, in words. */
  difference: string;
}

export function TwoSteps({ steps, names, device, difference }: TwoStepsProps) {
  const scale = Math.max(...steps.map(({ glyph }) => glyph.shown_ns));
  const looks = categoryLooks(device);
  const lengths = steps.map(({ start_ns, end_ns }) => end_ns - start_ns);
  const gained = (lengths[1] ?? 0) < (lengths[0] ?? 0);
  return (
    <div class="aligned">
      {steps.map((strip, place) => {
        const { glyph, start_ns } = strip;
        const busy = glyph.busy === null ? "" : `${device} busy ${formatShare(glyph.busy)}`;
        const name = (
          <>
            <b>{names[place]}</b> {busy.replace(/ (?=%)/, "\u00a0")}
          </>
        );
        return (
          <Glyph
            key={place}
            lanes={glyph}
            start={start_ns}
            label={[`${names[place]}: ${formatTime(lengths[place])}`, busy]
              .filter(Boolean)
              .join(", ")}
            names={{ device: name, host: glyph.busy === null ? name : null }}
            stretches={stretchesOf(strip).map((range, row) => ({
              ...range,
              text: spoken(strip, row, looks),
            }))}
            size="beside"
            axis={place === 1}
            rest={
              <div class={gained ? "gap-swatch-gained" : "gap-swatch-lost"}>
                <span>{difference}</span>
              </div>
            }
            {...{ device, looks, scale }}
          />
        );
      })}
    </div>
  );
}
