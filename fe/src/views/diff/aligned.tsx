/** The median steps of both sides on one axis, and what changed between them by cause. */

import type { ComponentChildren } from "preact";
import type { Aligned, AlignedChange, AlignedSide, PathStrip } from "../../api/types.gen";
import { formatDelta, formatExactTime, formatTime } from "../../base/units";
import type { ViewProps } from "../../state/view";
import { Swatch, Term } from "../../widgets";
import { lookOfCategory } from "../critical_path/groups";
import { TwoSteps } from "../critical_path/two_steps";

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

const stripOf = ({ step, step_name, start_ns, length_ns, glyph }: AlignedSide): PathStrip => ({
  ...{ step, name: step_name, start_ns, end_ns: start_ns + length_ns, glyph },
});

/** Both steps, and the list of what changed. `children` stand beside the list. */
export function AlignedSteps({ steps, names, hrefOf, children }: PageProps) {
  return (
    <>
      <TwoSteps
        steps={[stripOf(steps.before), stripOf(steps.after)]}
        device={steps.device}
        difference={formatDelta(steps.after.length_ns - steps.before.length_ns)}
        names={names}
      />
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
