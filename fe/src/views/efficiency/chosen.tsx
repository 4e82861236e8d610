/** What is said of the chosen row, below the roofline. */

import type { EfficiencyPayload } from "../../api/types.gen";
import { formatCount, formatTime } from "../../base/units";
import { useResource } from "../../state/resource";
import { viewQuery, type ViewProps } from "../../state/view";
import { CopyButton } from "../../widgets";
import { frameText } from "../callers";
import { fact } from "../fact";
import { exactly } from "../grid_params";
import { callText, operatorOf, reachOf } from "./model";

interface ChosenProps extends ViewProps {
  payload: EfficiencyPayload;
  row: number;
}

/** The line of the program that calls it, its longest kernel, calls, what it reaches, and where it stands elsewhere. */
export function Chosen(props: ChosenProps) {
  const { payload, row, hrefOf } = props;
  const { rows, group, has_device } = payload;
  const [name, kernel, event] = [
    operatorOf(rows, row),
    rows.kernel[row] ?? null,
    rows.event[row] ?? -1,
  ];
  const calls = rows.calls[row] ?? 0;
  const reach = reachOf(rows, row);
  return (
    <section class="chosen" aria-label="Chosen row" aria-live="polite">
      <h3>
        <code>{rows.name[row]}</code>
      </h3>
      <dl class="facts">
        {name ? <Caller {...props} name={name} /> : null}
        {kernel
          ? fact(
              group === "kernel" ? "Kernel" : "Longest kernel",
              <a href={hrefOf("kernel", exactly(kernel))} title={kernel}>
                {rows.short_name[row] ?? kernel}
              </a>,
            )
          : null}
        {fact(
          `${formatCount(calls)} ${calls === 1 ? "call" : "calls"}`,
          `${formatTime((rows.time_ns[row] ?? 0) / Math.max(1, calls))} each`,
        )}
        {reach ? fact(...reach) : fact("Roof", `unknown: ${rows.no_roof[row] ?? ""}`)}
      </dl>
      <p class="wrap">
        {event >= 0 ? <a href={hrefOf("trace", { sel: String(event) })}>On the timeline</a> : null}
        {name ? <a href={hrefOf("operator", exactly(name))}>In Operators</a> : null}
        {name && group === "operator" && has_device ? (
          <a href={hrefOf("efficiency", { ...exactly(name), group: "kernel" })}>Its kernels</a>
        ) : null}
      </p>
      <p class="full-name">
        <code>{callText(rows, row)}</code>
        <CopyButton text={callText(rows, row)} label="Copy this call" />
      </p>
    </section>
  );
}

/** The first line of the program that calls it, and the modules around it. */
function Caller(props: ChosenProps & { name: string }) {
  const { payload, row, name } = props;
  const shapes = payload.rows.input_shapes[row] ?? null;
  const { data } = useResource(
    "callers",
    viewQuery(props, { of: "operator" as const, name, shapes }),
  );
  const at = data?.rows.kind.indexOf("line") ?? -1;
  const frame = data?.rows.name[at];
  const layers = data?.rows.layers[at];
  return frame ? (
    <>
      {fact("Line", <code title={frame}>{frameText(frame)}</code>)}
      {fact("Module", layers ?? null)}
    </>
  ) : null;
}
