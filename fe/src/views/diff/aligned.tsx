/** The median steps of both sides on one axis, and what changed between them by cause. */

import type { ComponentChildren } from "preact";
import type { Aligned, AlignedChange } from "../../api/types.gen";
import { formatDelta, formatExactTime, formatShare, formatTime } from "../../base/units";
import type { ViewProps } from "../../state/view";
import { Glyph, Swatch, Term } from "../../widgets";
import { categoryLooks, lookOfCategory } from "../critical_path/groups";
import { spoken, stretchesOf } from "../critical_path/model";

interface AlignedProps {
  steps: Aligned;
  names: readonly [string, string];
}

interface PageProps extends AlignedProps, Pick<ViewProps, "hrefOf"> {
  children: ComponentChildren;
}

/** The places that show what changed of them. */
const LINKS = {
  Operators: "operator",
  Kernels: "kernel",
  Modules: "module",
  Memory: "memory",
} as const;

/** Both steps, and the list of what changed. `children` stand beside the list. */
export function AlignedSteps({ steps, names, hrefOf, children }: PageProps) {
  return (
    <>
      <Both steps={steps} names={names} />
      <div class="aligned-list">
        <section>
          <h2 class="aligned-title">
            <Term id="diff_changed">What changed</Term>{" "}
            <small class="muted">
              by what the end of the step waited for; adds up to the difference
            </small>
          </h2>
          <Changes steps={steps} names={names} />
          <p class="aligned-links">
            {Object.entries(LINKS).map(([label, view]) => (
              <a key={view} href={hrefOf(view)}>
                {label}
              </a>
            ))}
          </p>
        </section>
        {children}
      </div>
    </>
  );
}

/** Two glyphs that begin at one moment; behind the end of the shorter one stands what was gained or lost. */
function Both({ steps: { before, after, device }, names }: AlignedProps) {
  const sides = [before, after];
  const scale = Math.max(...sides.map(({ glyph }) => glyph.shown_ns));
  const delta = after.length_ns - before.length_ns;
  const looks = categoryLooks(device);
  return (
    <div class="aligned">
      {sides.map(({ step, step_name, glyph, start_ns, length_ns }, place) => {
        const strip = { step, name: step_name, start_ns, end_ns: start_ns + length_ns, glyph };
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
            label={[`${names[place]}: ${formatTime(length_ns)}`, busy].filter(Boolean).join(", ")}
            names={{ device: name, host: glyph.busy === null ? name : null }}
            stretches={stretchesOf(strip).map((range, row) => ({
              ...range,
              text: spoken(strip, row, looks),
            }))}
            size="beside"
            axis={place === 1}
            rest={
              <div class={delta < 0 ? "gap-swatch-gained" : "gap-swatch-lost"}>
                <span>{formatDelta(delta)}</span>
              </div>
            }
            {...{ device, looks, scale }}
          />
        );
      })}
    </div>
  );
}

/** The groups of what the end of the steps waited for, and the steps. */
function Changes({ steps: { changes, before, after, device }, names }: AlignedProps) {
  const most = Math.max(1, ...changes.map((one) => Math.abs(one.after_ns - one.before_ns)));
  return (
    <table class="plain-table aligned-changes">
      <thead>
        <tr>
          <th scope="col">Cause</th>
          {names.map((name) => (
            <th key={name} scope="col" class="number wide-only">
              {name}
            </th>
          ))}
          <th scope="col" class="number">
            Change
          </th>
          <th class="aligned-bars">
            <span class="visually-hidden">Change as a bar</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {changes.map((one) => (
          <ChangeRow key={one.group} {...one} share={(one.after_ns - one.before_ns) / most}>
            <Swatch item={lookOfCategory(one.group, device)} /> {one.label}
            {one.more ? <small class="muted">{one.more}</small> : null}
          </ChangeRow>
        ))}
      </tbody>
      <tfoot>
        <ChangeRow before_ns={before.length_ns} after_ns={after.length_ns} share={0}>
          The step
        </ChangeRow>
      </tfoot>
    </table>
  );
}

interface ChangeRowProps extends Pick<AlignedChange, "before_ns" | "after_ns"> {
  /** Of the largest change, below 0 where time was gained. */
  share: number;
  children: ComponentChildren;
}

function ChangeRow({ before_ns, after_ns, share, children }: ChangeRowProps) {
  const delta = after_ns - before_ns;
  const kind = delta > 0 ? "lost" : "gained";
  return (
    <tr>
      <th scope="row">{children}</th>
      <td class="number wide-only">{formatTime(before_ns)}</td>
      <td class="number wide-only">{formatTime(after_ns)}</td>
      <td class={`number ${delta ? kind : ""}`} title={formatExactTime(delta)}>
        <strong>{formatDelta(delta)}</strong>
      </td>
      <td class="aligned-bars" aria-hidden="true">
        <span class={`gap-bar gap-swatch-${kind}`} style={{ width: `${100 * Math.abs(share)}%` }} />
      </td>
    </tr>
  );
}
