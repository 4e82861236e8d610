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
  /** How long they are, in words, beside small lanes. */
  lengths?: readonly [string, string];
}

export function TwoSteps({ steps, names, device, difference, lengths }: TwoStepsProps) {
  const scale = Math.max(...steps.map(({ glyph }) => glyph.shown_ns));
  const looks = categoryLooks(device);
  const [first, second] = steps.map(({ start_ns, end_ns }) => end_ns - start_ns);
  const gained = (second ?? 0) < (first ?? 0);
  return (
    <div class="aligned">
      {steps.map((strip, place) => {
        const { glyph, start_ns, end_ns } = strip;
        const busy = glyph.busy === null ? "" : `${device} busy ${formatShare(glyph.busy)}`;
        const name = (
          <>
            <b>{names[place]}</b>{" "}
            {lengths && glyph.busy !== null
              ? ""
              : (lengths?.[place] ?? busy.replace(/ (?=%)/, "\u00a0"))}
          </>
        );
        return (
          <Glyph
            key={place}
            lanes={glyph}
            start={start_ns}
            label={[`${names[place]}: ${lengths?.[place] ?? formatTime(end_ns - start_ns)}`, busy]
              .filter(Boolean)
              .join(", ")}
            names={{ device: name, host: glyph.busy === null ? name : (lengths?.[place] ?? null) }}
            stretches={stretchesOf(strip).map((range, row) => ({
              ...range,
              text: spoken(strip, row, looks),
            }))}
            size={lengths ? "compact" : "beside"}
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
