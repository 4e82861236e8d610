/** The median steps of both sides on one axis, and what changed between them by cause. */

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Aligned, AlignedChange, TimeGroup } from "../../api/types.gen";
import { useId } from "../../base/id";
import { formatCount, formatDelta, formatExactTime, formatTime } from "../../base/units";
import type { ViewProps } from "../../state/view";
import { fillOf, Hatches, linearAxis, Swatch, Term, useWidth, XTicks } from "../../widgets";
import { gapsOf, labelledGaps, LOOKS, lookOf, rowPaths, sumOfGaps } from "./model";

const ROW = 26;
const BETWEEN_ROWS = 4;
const BETWEEN_SIDES = 40;
/** Below this width of the picture the names of the sides stand above it only. */
const NARROW = 560;

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

/** The picture and the list, a row of which lights its gaps. `children` stand beside the list. */
export function AlignedSteps({ steps, names, hrefOf, children }: PageProps) {
  const [lit, setLit] = useState<TimeGroup | null>(null);
  return (
    <>
      {steps.note ? (
        <p class="muted">{steps.note}</p>
      ) : (
        <figure class="aligned">
          <Picture steps={steps} names={names} lit={lit} />
          <Legend steps={steps} />
        </figure>
      )}
      <div class="aligned-list">
        <section>
          <h2 class="aligned-title">
            <Term id="diff_changed">What changed</Term>{" "}
            <small class="muted">
              by what the end of the step waited for; adds up to{" "}
              {formatDelta(steps.after.length_ns - steps.before.length_ns)}
            </small>
          </h2>
          <Changes steps={steps} names={names} lit={lit} onLight={setLit} />
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

function Picture({ steps, names, lit }: AlignedProps & { lit: TimeGroup | null }) {
  const root = useRef<HTMLDivElement>(null);
  const id = useId("aligned");
  const width = useWidth(root, 1000);
  const left = width < NARROW ? 44 : 132;
  const room = Math.max(1, width - left);
  const x = (time: number): number => left + (time / steps.axis_ns) * room;
  const rows = Math.max(steps.before.rows.length, steps.after.rows.length);
  const side = rows * (ROW + BETWEEN_ROWS) - BETWEEN_ROWS;
  const tops = [0, side + BETWEEN_SIDES] as const;
  const height = 2 * side + BETWEEN_SIDES;
  const { ticks, scale } = linearAxis(steps.axis_ns, "ns", Math.ceil(room / 160));
  const gaps = gapsOf(steps);
  return (
    <div ref={root}>
      <svg
        width={width}
        height={height + 22}
        role="img"
        aria-label={`${names.join(" and ")} on one axis, matched operations above each other. Gained ${formatTime(sumOfGaps(steps, -1))}, lost ${formatTime(sumOfGaps(steps, 1))}`}
      >
        <Hatches id={id} series={LOOKS} />
        <GapPatterns id={id} />
        <XTicks ticks={ticks.filter((tick) => tick <= steps.axis_ns)} {...{ scale, x, height }} />
        <text class="axis-unit" x={left - 10} y={height + 15} text-anchor="end">
          {scale.unit}
        </text>
        {[steps.before, steps.after].map((one, place) =>
          one.rows.map((row, at) => {
            const y = (tops[place] ?? 0) + at * (ROW + BETWEEN_ROWS);
            return (
              <g key={`${place} ${at}`}>
                <text class="aligned-row" x={left - 10} y={y + 17} text-anchor="end">
                  {at === 0 && width >= NARROW ? (
                    <tspan class="aligned-side">{names[place]} </tspan>
                  ) : null}
                  {row.host ? "CPU" : steps.device}
                </text>
                {rowPaths(row, x, y, ROW).map(({ group, path }) => (
                  <path
                    key={group}
                    d={path}
                    fill={fillOf(id, LOOKS, LOOKS.indexOf(lookOf(group)))}
                  />
                ))}
              </g>
            );
          }),
        )}
        {steps.ties.before_ns.map((time, i) => (
          <path
            key={i}
            class="aligned-tie"
            d={`M${x(time)} ${side + 4}L${x(steps.ties.after_ns[i] ?? 0)} ${tops[1] - 4}`}
          >
            <title>{steps.ties.name[i]}</title>
          </path>
        ))}
        {gaps.map((gap) => (
          <rect
            key={gap.at}
            class={lit && gap.group !== lit ? "aligned-dim" : ""}
            x={x(gap.at)}
            y={gap.lost ? tops[0] : tops[1]}
            width={Math.max(1, x(gap.at + gap.length) - x(gap.at))}
            height={side}
            fill={`url(#${id}-${gap.lost ? "lost" : "gained"})`}
          >
            <title>{gap.text}</title>
          </rect>
        ))}
        {labelledGaps(gaps, room / steps.axis_ns).map((gap) => (
          <text
            key={gap.at}
            class={`aligned-size ${gap.lost ? "lost" : "gained"}${lit && gap.group !== lit ? " aligned-dim" : ""}`}
            x={x(gap.at + gap.length / 2)}
            y={(gap.lost ? tops[0] : tops[1]) + side / 2 + 4}
            text-anchor="middle"
          >
            {gap.size}
          </text>
        ))}
      </svg>
    </div>
  );
}

/** The patterns of gaps: lost and gained lean to different sides. */
function GapPatterns({ id }: { id: string }) {
  return (
    <defs>
      {(["gained", "lost"] as const).map((kind) => (
        <pattern
          key={kind}
          id={`${id}-${kind}`}
          class={`gap-${kind}`}
          width={6}
          height={6}
          patternUnits="userSpaceOnUse"
          patternTransform={`rotate(${kind === "lost" ? -45 : 45})`}
        >
          <rect width={6} height={6} />
          <path d="M1.2 0V6" />
        </pattern>
      ))}
    </defs>
  );
}

function Legend({ steps }: { steps: Aligned }) {
  const { matched, operations } = steps;
  return (
    <figcaption class="aligned-legend">
      <span>
        <span class="swatch gap-swatch-gained" /> gained {formatTime(sumOfGaps(steps, -1))}
      </span>
      <span>
        <span class="swatch gap-swatch-lost" /> lost {formatTime(sumOfGaps(steps, 1))}
      </span>
      <span class="muted">
        <Term id="diff_aligned">Matched operations</Term> stand above each other:{" "}
        {formatCount(matched)} of {formatCount(operations)}. Lines join where they start.
      </span>
    </figcaption>
  );
}

interface ChangesProps extends AlignedProps {
  lit: TimeGroup | null;
  onLight: (group: TimeGroup | null) => void;
}

/** The groups of what the end of the steps waited for. */
function Changes({ steps: { changes }, names, lit, onLight }: ChangesProps) {
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
          <th class="aligned-bars">
            <span class="visually-hidden">Change as a bar</span>
          </th>
          <th scope="col" class="number">
            Change
          </th>
        </tr>
      </thead>
      <tbody onMouseLeave={() => onLight(null)}>
        {changes.map((one) => (
          <ChangeRow
            key={one.group}
            change={one}
            most={most}
            lit={lit === one.group}
            onLight={onLight}
          />
        ))}
      </tbody>
    </table>
  );
}

interface ChangeRowProps {
  change: AlignedChange;
  most: number;
  lit: boolean;
  onLight: (group: TimeGroup | null) => void;
}

function ChangeRow({ change, most, lit, onLight }: ChangeRowProps) {
  const { group, label, before_ns, after_ns, more } = change;
  const delta = after_ns - before_ns;
  const kind = delta > 0 ? "lost" : "gained";
  return (
    <tr class={lit ? "aligned-lit" : ""} onMouseEnter={() => onLight(group)}>
      <th scope="row">
        <button
          type="button"
          class="aligned-cause"
          aria-pressed={lit}
          onFocus={() => onLight(group)}
          onBlur={() => onLight(null)}
          onClick={() => onLight(group)}
        >
          <Swatch item={lookOf(group)} /> {label}
        </button>
        {more ? <small class="muted">{more}</small> : null}
      </th>
      <td class="number wide-only">{formatTime(before_ns)}</td>
      <td class="number wide-only">{formatTime(after_ns)}</td>
      <td class="aligned-bars" aria-hidden="true">
        <span
          class={`gap-bar gap-swatch-${kind}`}
          style={{ width: `${(44 * Math.abs(delta)) / most}%` }}
        />
      </td>
      <td class={`number ${delta ? kind : ""}`} title={formatExactTime(delta)}>
        <strong>{formatDelta(delta)}</strong>
      </td>
    </tr>
  );
}
