/** The Diagnosis page: where was looked, every file that was seen, what became of it and why. */

import { useMemo } from "preact/hooks";
import type { DiagnosisPayload } from "../../api/types.gen";
import { adoptStyles } from "../../base/styles";
import { useResource } from "../../state/resource";
import type { ViewProps } from "../../state/view";
import { Grid, Panel } from "../../widgets";
import { gridParams } from "../grid_params";
import { Loaded } from "../loaded";
import { rowsOf } from "../rows";
import { chooseFiles, readState } from "./model";
import { FileDetail, fileColumns, HowToRecord, Places, StateFilter } from "./parts";
import css from "./diagnosis.css?inline";

adoptStyles(css);

/** A reason up to this length is readable in its cell. */
const SHORT_REASON = 64;

export function DiagnosisView(props: ViewProps) {
  const resource = useResource("diagnosis", {});
  return (
    <Loaded resource={resource} shape={[100, 400]} diagnosisHref={props.hrefOf("diagnosis")}>
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
      {payload.files.path.length ? (
        <Panel title="Files" flush>
          <Grid
            label="Files"
            columns={columns}
            rowCount={files.path.length}
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
        </Panel>
      ) : null}
      <HowToRecord found={payload.files.path.length > 0} />
    </>
  );
}
