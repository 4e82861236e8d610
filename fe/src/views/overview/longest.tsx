/** Beside what to change, where there is but one step: its longest lines, else its longest kernels, else what would tell more. */

import type { ComponentChildren } from "preact";
import { formatTime } from "../../base/units";
import { useResource } from "../../state/resource";
import { onlyOne, viewQuery } from "../../state/view";
import { MiddleCut } from "../../widgets";
import { lineParts } from "../findings/model";
import { GainBar } from "../findings/parts";
import { MissingList } from "../loaded";
import { lacks } from "../missing";
import { rowsOf } from "../rows";
import type { OfOverview } from "./view";

const MOST = 6;

type LongestProps = OfOverview & { step: number | null };

interface Row {
  name: string;
  title: string;
  ns: number;
}

export function Longest(props: LongestProps) {
  const { payload, step, hrefOf } = props;
  const steps = step === null ? props.steps : onlyOne(step);
  const query = viewQuery({ ...props, steps });
  const lines = useResource(
    step === null || lacks(payload.missing, "stack") ? null : "critical_path/rows",
    { ...query, by: "line" },
  );
  const ofLines = (lines.data ? rowsOf(lines.data.rows) : []).flatMap(
    ({ line, path_ns }): Row[] => {
      const { place, name } = lineParts(line ?? "");
      return line ? [{ name: `${place} ${name}`, title: line, ns: path_ns }] : [];
    },
  );
  const asked = lines.data ? !ofLines.length : lacks(payload.missing, "stack") || lines.error;
  const kernels = useResource(payload.devices.length && asked ? "kernel" : null, {
    ...query,
    group: "name",
  });
  const ofKernels = (kernels.data ? rowsOf(kernels.data.rows) : []).map(
    ({ name, short_name, total_ns }): Row => ({
      name: short_name || name,
      title: name,
      ns: total_ns,
    }),
  );
  if (ofLines.length)
    return (
      <List
        title="Longest lines"
        of="of the path"
        rows={ofLines}
        link={<a href={hrefOf("lines")}>All lines</a>}
      />
    );
  if (ofKernels.length)
    return (
      <List
        title="Longest kernels"
        of=""
        rows={ofKernels}
        link={<a href={hrefOf("kernel")}>All kernels</a>}
      />
    );
  const calls = payload.missing.filter(({ call }) => call);
  if (!calls.length) return null;
  return (
    <section aria-labelledby="longest">
      <header class="section-head">
        <h2 id="longest">What would tell more</h2>
      </header>
      <MissingList missing={calls} />
    </section>
  );
}

interface ListProps {
  title: string;
  of: string;
  rows: readonly Row[];
  link: ComponentChildren;
}

function List({ title, of, rows, link }: ListProps) {
  const shown = [...rows].sort((a, b) => b.ns - a.ns).slice(0, MOST);
  const most = Math.max(1, shown[0]?.ns ?? 0);
  return (
    <section aria-labelledby="longest">
      <header class="section-head">
        <h2 id="longest">{title}</h2>
        <span>{of}</span>
        {link}
      </header>
      <ul class="longest">
        {shown.map(({ name, title, ns }) => (
          <li key={title} title={title}>
            <code>
              <MiddleCut text={name} />
            </code>
            <span class="number">{formatTime(ns)}</span>
            <GainBar share={ns / most} />
          </li>
        ))}
      </ul>
    </section>
  );
}
