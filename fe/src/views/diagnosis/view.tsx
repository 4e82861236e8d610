/** The Diagnosis page: where was looked, every file that was seen, what became of it and why. */

import { useEffect, useMemo } from "preact/hooks";
import type { DiagnosisPayload } from "../../api/types.gen";
import { useResource } from "../../state/resource";
import type { ViewProps } from "../../state/view";
import { GridPanel, Panel } from "../../widgets";
import { gridParams } from "../grid_params";
import { Loaded } from "../loaded";
import { rowsOf } from "../rows";
import { Cluster } from "./parts";
import { Job } from "./job";
import { chooseFiles, readState } from "./model";
import { FileDetail, fileColumns, HowToRecord, Places, StateFilter } from "./parts";

/** A reason up to this length is readable in its cell. */
const SHORT_REASON = 64;

/** Pause between two looks at a cluster that works or is not reachable, ms. */
const CLUSTER_PAUSE = 3000;

export function DiagnosisView(props: ViewProps) {
  const resource = useResource("diagnosis", {});
  const { data, reload } = resource;
  useEffect(() => {
    // What a cluster does changes without any file changing its state.
    const cluster = data?.cluster;
    const busy = cluster && (!cluster.connected || cluster.waiting + cluster.running > 0);
    const timer = busy ? window.setTimeout(reload, CLUSTER_PAUSE) : 0;
    return () => window.clearTimeout(timer);
  }, [data, reload]);
  return (
    <Loaded resource={resource} shape={[100, 400]}>
      {(payload) => <DiagnosisPage {...props} payload={payload} />}
    </Loaded>
  );
}

function DiagnosisPage({ payload, params, setParam }: ViewProps & { payload: DiagnosisPayload }) {
  const state = readState(params.state ?? "");
  const files = useMemo(() => chooseFiles(payload.files, state), [payload, state]);
  const columns = useMemo(() => fileColumns(files), [files]);
  return (
    <>
      <Panel title="Searched directories">
        <Places payload={payload} />
      </Panel>
      {payload.cluster ? (
        <Panel title="Cluster">
          <Cluster cluster={payload.cluster} />
        </Panel>
      ) : null}
      {payload.live.length ? (
        <Panel title="Jobs that can be recorded now">
          {payload.live.map((job) => (
            <Job key={job.folder} job={job} />
          ))}
        </Panel>
      ) : null}
      {payload.files.path.length ? (
        <GridPanel
          label="Files"
          columns={columns}
          rowKey={(row) => files.path[row] ?? ""}
          detail={(row) => {
            const file = rowsOf(files)[row];
            return file ? <FileDetail file={file} /> : null;
          }}
          expandable={(row) => (files.reason[row]?.length ?? 0) > SHORT_REASON}
          storage="diagnosis"
          tools={
            <StateFilter
              files={payload.files}
              state={state}
              onState={(next) => setParam("state", next)}
            />
          }
          empty="No files in this state."
          {...gridParams(params, setParam)}
        />
      ) : null}
      <HowToRecord found={payload.files.path.length > 0} />
    </>
  );
}
