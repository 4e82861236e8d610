/** Beside what to change, where there is but one step: its longest kernels, else what would tell more. */

import { formatTime } from "../../base/units";
import { useResource } from "../../state/resource";
import { viewQuery } from "../../state/view";
import { Bars } from "../../widgets";
import { MissingList } from "../loaded";
import { lacks } from "../missing";
import { rowsOf } from "../rows";
import type { OfOverview } from "./foot";

const MOST = 5;

export function Longest({ payload, ...props }: OfOverview) {
  const query = viewQuery(props, { group: "name" as const });
  const { data } = useResource(payload.devices.length ? "kernel" : null, query);
  const rows = (data ? rowsOf(data.rows) : [])
    .sort((a, b) => b.total_ns - a.total_ns)
    .slice(0, MOST);
  const most = rows[0]?.total_ns ?? 0;
  // A memory snapshot never has events.
  const snapshot = lacks(payload.missing, "events");
  const calls = snapshot ? [] : payload.missing.filter(({ call }) => call);
  if (!most && (payload.devices.length || !calls.length)) return null;
  return (
    <section class="longest" aria-labelledby="longest">
      <header class="section-head">
        <h2 id="longest">{most ? "Longest kernels" : "What would tell more"}</h2>
        {most ? <a href={props.hrefOf("kernel")}>All kernels</a> : null}
      </header>
      {most ? (
        <Bars
          label="Longest kernels"
          bars={rows.map(({ name, short_name, total_ns }) => ({
            name: short_name || name,
            code: true,
            title: name,
            share: total_ns / most,
            text: formatTime(total_ns),
          }))}
        />
      ) : (
        <MissingList missing={calls} />
      )}
    </section>
  );
}
