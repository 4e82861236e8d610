/** The median steps of both sides on one axis, and what changed between them by cause. */

import type { ComponentChildren } from "preact";
import type { Aligned, AlignedSide, PathStrip } from "../../api/types.gen";
import { formatDelta, formatExactTime, formatTime } from "../../base/units";
import type { ViewProps } from "../../state/view";
import { PlainTable, Swatch, Term } from "../../widgets";
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
  const timesOf = (before_ns: number, after_ns: number, share: number): ComponentChildren[] => {
    const delta = after_ns - before_ns;
    const kind = delta > 0 ? "lost" : "gained";
    return [
      formatTime(before_ns),
      formatTime(after_ns),
      <strong class={delta ? kind : ""} title={formatExactTime(delta)}>
        {formatDelta(delta)}
      </strong>,
      <span class={`gap-bar gap-swatch-${kind}`} style={{ width: `${100 * Math.abs(share)}%` }} />,
    ];
  };
  return (
    <PlainTable
      class="aligned-changes"
      head={[
        { label: "Cause" },
        ...names.map((label) => ({ label, class: "number wide-only" })),
        { label: "Change", class: "number" },
        { label: <span class="visually-hidden">Change as a bar</span>, class: "aligned-bars" },
      ]}
      rows={changes.map(({ group, label, more, before_ns, after_ns }) => [
        <>
          <Swatch item={lookOfCategory(group, device)} /> {label}
          {more ? <small class="muted">{more}</small> : null}
        </>,
        ...timesOf(before_ns, after_ns, (after_ns - before_ns) / most),
      ])}
      foot={["The step", ...timesOf(before.length_ns, after.length_ns, 0)]}
    />
  );
}
