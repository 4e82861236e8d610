/** The Dask cluster that imports and analyses, as the server sees it. */

import type { ComponentChildren } from "preact";
import type { ClusterItem } from "../../api/types.gen";
import { formatBytes, formatCount } from "../../base/units";
import { Term } from "../../widgets";

/** Only what is certain to be a page: the scheduler could send anything. */
function pageOf(url: string | null): string | null {
  return url !== null && /^https?:\/\//.test(url) ? url : null;
}

function row(id: string, label: string, value: ComponentChildren) {
  return (
    <div key={id} class="fact">
      <dt>
        <Term id={id}>{label}</Term>
      </dt>
      <dd>{value}</dd>
    </div>
  );
}

export function Cluster({ cluster }: { cluster: ClusterItem }) {
  const page = pageOf(cluster.dashboard);
  const failed = cluster.failed ? `, ${formatCount(cluster.failed)} failed` : "";
  const others = cluster.others ? ` (${formatCount(cluster.others)} with another version)` : "";
  return (
    <dl class="facts">
      {row(
        "cluster_scheduler",
        "Scheduler",
        <>
          <code class="path">{cluster.address}</code>
          {cluster.connected ? null : " (not reachable)"}
          {page ? (
            <>
              {" "}
              <a href={page} target="_blank" rel="noopener noreferrer">
                Dask dashboard
              </a>
            </>
          ) : null}
        </>,
      )}
      {row("cluster_workers", "Workers", `${formatCount(cluster.workers)}${others}`)}
      {row("cluster_threads", "Threads", formatCount(cluster.threads))}
      {row("cluster_memory", "Memory", formatBytes(cluster.memory))}
      {row(
        "cluster_tasks",
        "Tasks",
        `${formatCount(cluster.waiting)} waiting, ${formatCount(cluster.running)} running, ${formatCount(cluster.done)} done${failed}`,
      )}
    </dl>
  );
}
