/** The Diff page: what changed between two traces, or between two parts of one. */

import { useCallback, useEffect, useRef } from "preact/hooks";
import type { DiffPayload } from "../../api/types.gen";
import { type Parameters, urlOf } from "../../api/client";
import { changePage, diagnosisHref } from "../../state/location";
import { useResource } from "../../state/resource";
import { find, freshnessOf, runsStore } from "../../state/runs";
import { useStore } from "../../state/store";
import { type Selection, viewQuery, type ViewProps } from "../../state/view";
import {
  Button,
  Card,
  EmptyState,
  Icon,
  Panel,
  Segmented,
  StepSelector,
  Term,
} from "../../widgets";
import { Loaded, MissingList, Notes } from "../loaded";
import { TraceSelects } from "../trace_selects";
import { Choose } from "./experiments";
import { otherSide, type Side, sideParams, testText } from "./model";
import { Baseline, Categories, Causes, SideCard, StepTimes } from "./parts";
import { ChangesTable, TreeTable } from "./tables";
import { rowsOf } from "../rows";

export function DiffView(props: ViewProps) {
  const runs = useStore(runsStore, ({ payload }) => payload);
  const b = otherSide(runs, props.params);
  const known = b !== null && find(runs, b.selection).span !== null;
  const query = b && known ? viewQuery(props, sideParams(b)) : null;
  const resource = useResource("diff", query);
  useFollowed(b?.selection ?? null, resource.reload);
  if (!b) return <Choose {...props} onChoose={(side) => setOther(props.setParam, side)} />;
  return (
    <>
      <Sides {...props} b={b} />
      {query ? (
        <Loaded resource={resource} shape={[60, 200, 300, 400]}>
          {(payload) => <DiffPage {...props} payload={payload} b={b} query={query} />}
        </Loaded>
      ) : (
        <EmptyState
          title={`${Object.values(b.selection).filter(Boolean).join(" · ")} is not there`}
          text="The trace that the address names as B is gone, or it never was. Choose another one above."
          diagnosisHref={diagnosisHref()}
        />
      )}
    </>
  );
}

/** Asks again when B changes in the catalogue; A is followed by every question. */
function useFollowed(b: Selection | null, reload: () => void): void {
  const { run = "", worker = "", span = "" } = b ?? {};
  const key = [run, worker, span].join("\n");
  const fresh = useStore(
    runsStore,
    useCallback(() => freshnessOf(run, worker, span), [run, worker, span]),
  );
  const before = useRef({ key, fresh });
  useEffect(() => {
    const last = before.current;
    before.current = { key, fresh };
    if (run && last.key === key && last.fresh !== fresh) reload();
  }, [run, key, fresh, reload]);
}

function setOther(setParam: ViewProps["setParam"], b: Side): void {
  for (const [key, value] of Object.entries(sideParams(b))) setParam(key, value);
}

/** What is compared: A as the header says, B chosen here. */
function Sides({ selection, steps, setParam, hrefOf, b }: ViewProps & { b: Side }) {
  const runs = useStore(runsStore, ({ payload }) => payload);
  const { data } = useResource(find(runs, b.selection).span ? "steps" : null, b.selection);
  const swap = (): void =>
    changePage(
      (page) => ({
        ...page,
        selection: b.selection,
        steps: b.steps,
        params: { ...page.params, ...sideParams({ selection, steps }) },
      }),
      "push",
    );
  return (
    <Panel
      title="What is compared"
      term="diff"
      actions={
        <>
          <Button onClick={swap}>Swap A and B</Button>
          <a class="button" href={hrefOf("diff")}>
            All runs
          </a>
        </>
      }
    >
      <Baseline selection={selection} />
      <div class="diff-side">
        <span class="diff-mark diff-b">B</span>
        <TraceSelects
          payload={runs}
          selection={b.selection}
          suffix=" B"
          onSelect={(next) =>
            setOther(setParam, { selection: next, steps: { ...b.steps, first: null, last: null } })
          }
        />
        {data && data.steps.step.length > 1 ? (
          <StepSelector
            steps={rowsOf(data.steps)}
            value={b.steps}
            onChange={(next) => setOther(setParam, { ...b, steps: next })}
          />
        ) : null}
      </div>
    </Panel>
  );
}

export type PageProps = ViewProps & { payload: DiffPayload; b: Side };

function DiffPage({ query, ...props }: PageProps & { query: Parameters["diff"] }) {
  const { payload, params, setParam } = props;
  const { verdict } = payload;
  const host = params.time === "host" || !payload.device_time;
  return (
    <>
      <section class="headline" aria-label="In short">
        <p class="headline-first">{verdict.sentence}</p>
        {verdict.because ? <p class="headline-more">{verdict.because}</p> : null}
        {verdict.test ? (
          <p class="muted">
            <Term id="diff_verdict">How it was tested</Term>: {testText(verdict)}
          </p>
        ) : null}
      </section>
      <Notes notes={payload.notes} />
      <Card>
        <StepTimes payload={payload} />
        <div class="chart-grid">
          <SideCard mark="A" side={payload.a} />
          <SideCard mark="B" side={payload.b} />
        </div>
      </Card>
      {payload.causes.length > 1 && verdict.changed !== false ? (
        <Panel title="What the change is made of" term="diff_causes">
          <Causes payload={payload} />
        </Panel>
      ) : null}
      <Panel title="Where the time of a step went" term="breakdown">
        <Categories payload={payload} />
      </Panel>
      <ChangesTable {...props} downloads={<Downloads query={query} />} />
      <Panel
        title="Call tree"
        term="diff_tree"
        flush
        actions={
          payload.device_time ? (
            <Segmented
              label="Time"
              showLabel={false}
              value={host ? "host" : "device"}
              options={[
                { value: "device", label: "Device" },
                { value: "host", label: "Host" },
              ]}
              onChange={(value) => setParam("time", value === "host" ? value : null)}
            />
          ) : null
        }
      >
        <TreeTable {...props} device={!host} />
      </Panel>
      <MissingList missing={payload.missing} />
    </>
  );
}

/** The whole comparison as files. */
function Downloads({ query }: { query: Parameters["diff"] }) {
  return (
    <>
      {(["csv", "markdown"] as const).map((format) => (
        <a
          key={format}
          class="button button-quiet"
          href={urlOf("diff/file", { ...query, format })}
          download
        >
          <Icon name="download" /> {format === "csv" ? "All as CSV" : "All as Markdown"}
        </a>
      ))}
    </>
  );
}
