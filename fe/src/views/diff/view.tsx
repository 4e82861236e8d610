/** The Diff page: what changed between two traces, or between two parts of one. */

import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useRef } from "preact/hooks";
import type { Aligned, ChangeTable, DiffPayload } from "../../api/types.gen";
import { type Parameters, urlOf } from "../../api/client";
import { changePage, diagnosisHref } from "../../state/location";
import { useResource } from "../../state/resource";
import { find, freshnessOf, otherSide, runsStore } from "../../state/runs";
import { useStore } from "../../state/store";
import {
  ALONE,
  type Selection,
  type Side,
  sideParams,
  viewQuery,
  type ViewProps,
} from "../../state/view";
import {
  Button,
  EmptyState,
  Icon,
  Panel,
  Segmented,
  StepSelector,
  Term,
  unbroken,
} from "../../widgets";
import { Folded } from "../folded";
import { setParams } from "../grid_params";
import { InShort, Loaded, MissingList, Notes } from "../loaded";
import { TraceSelects } from "../trace_selects";
import { Choose } from "./experiments";
import { medianText, sideNames, sideText, swapped, testText } from "./model";
import { AlignedSteps } from "./aligned";
import { StepTimes } from "./parts";
import { PeakTables, peakText } from "./peaks";
import { ChangesTable, TreeTable } from "./tables";
import { rowsOf } from "../rows";

export function DiffView(props: ViewProps) {
  return props.params.run2 ? (
    <BothSides {...props}>
      {(both) => (
        <>
          {both.payload.memory ? <PeakTables memory={both.payload.memory} /> : null}
          {both.aligned ? (
            <AlignedSteps steps={both.aligned} names={both.names} hrefOf={props.hrefOf}>
              <StepTimes {...both} />
            </AlignedSteps>
          ) : null}
          {both.payload.memory ? (
            <Notes notes={both.payload.notes} />
          ) : (
            <Doubts payload={both.payload} />
          )}
          <Folded title="Other recording or steps">{() => <Sides {...props} b={both.b} />}</Folded>
          {both.payload.memory ? null : (
            <Folded
              title="Step-time breakdown, operators, kernels, modules"
              open={["table", "status", "time"].some((key) => props.params[key])}
            >
              {() => <Tables {...props} {...both} />}
            </Folded>
          )}
        </>
      )}
    </BothSides>
  ) : (
    <Choose {...props} />
  );
}

/** What of a place changed, in the place of its own tables; a place without tables shows the steps. */
export function ChangesView({ tables, ...props }: ViewProps & { tables: readonly ChangeTable[] }) {
  return (
    <BothSides {...props}>
      {(both) =>
        tables.length ? <Tables {...props} {...both} tables={tables} /> : <StepTimes {...both} />
      }
    </BothSides>
  );
}

interface Both {
  payload: DiffPayload;
  b: Side;
  query: Parameters["diff"];
  names: readonly [string, string];
  aligned: Aligned | null;
}

/** The answer and the two sides, then what is told of them. */
function BothSides({
  children,
  ...props
}: ViewProps & { children: (both: Both) => ComponentChildren }) {
  const runs = useStore(runsStore, ({ payload }) => payload);
  const b = otherSide(runs, props.params);
  const known = b !== null && find(runs, b.selection).span !== null;
  const query = known
    ? viewQuery(props, {
        ...sideParams(b.selection, b.steps),
        earlier_first: props.params.given2 ? ("" as const) : ("1" as const),
      })
    : null;
  const resource = useResource("diff", query);
  const steps = useResource("diff/aligned", query);
  const { reload } = resource;
  const { reload: reloadSteps } = steps;
  const again = useCallback(() => {
    reload();
    reloadSteps();
  }, [reload, reloadSteps]);
  useFollowed(b?.selection ?? null, again);
  if (!b) return null;
  return query ? (
    <Loaded resource={resource} shape={[60, 200, 300, 400]}>
      {(payload) => (
        <>
          <InShort sentences={payload.headline} />
          <Loaded resource={steps} shape={[200, 200]}>
            {({ steps }) => {
              const both = { payload, b, query, aligned: steps, names: sideNames(steps) };
              return (
                <>
                  <Compared {...props} {...both} />
                  {children(both)}
                </>
              );
            }}
          </Loaded>
          <MissingList missing={payload.missing} />
        </>
      )}
    </Loaded>
  ) : (
    <>
      <Sides {...props} b={b} />
      <EmptyState
        title={`${Object.values(b.selection).filter(Boolean).join(" · ")} is not there`}
        text="The trace that the address names is gone, or it never was. Choose another one above."
        diagnosisHref={diagnosisHref()}
      />
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

/** Chooses what the trace at the top is compared with. */
function Sides({ setParam, hrefOf, b }: ViewProps & { b: Side }) {
  const runs = useStore(runsStore, ({ payload }) => payload);
  const { data } = useResource(find(runs, b.selection).span ? "steps" : null, b.selection);
  return (
    <div class="diff-side">
      <TraceSelects
        payload={runs}
        selection={b.selection}
        suffix=" compared with"
        onSelect={(next) =>
          setParams(setParam, sideParams(next, { ...b.steps, first: null, last: null }))
        }
      />
      {data && data.steps.step.length > 1 ? (
        <StepSelector
          steps={rowsOf(data.steps)}
          value={b.steps}
          onChange={(next) => setParams(setParam, sideParams(b.selection, next))}
        />
      ) : null}
      <a class="button" href={hrefOf("diff", ALONE)}>
        All runs
      </a>
    </div>
  );
}

/** Which two are compared, and the way to compare them the other way round. */
function Compared({ payload, names, aligned, b }: Both) {
  const swap = (): void =>
    changePage((page) => {
      const [before, after] = swapped(payload, page, b);
      return {
        ...page,
        selection: before.selection,
        steps: before.steps,
        params: { ...page.params, ...sideParams(after.selection, after.steps), given2: "1" },
      };
    }, "push");
  return (
    <div class="diff-compared">
      {names.map((name, i) => {
        const step = i ? aligned?.after : aligned?.before;
        const without = payload.memory ? peakText(payload.memory, i) : "no step";
        return (
          <p key={name}>
            <strong>{name}</strong> {sideText(payload, i)}{" "}
            <span class="muted">
              {[step?.recorded, step ? medianText(step) : without].filter(Boolean).join(" · ")}
            </span>
          </p>
        );
      })}
      <Button onClick={swap}>Swap</Button>
    </div>
  );
}

/** How sure the answer is, and what makes the comparison weak. */
function Doubts({ payload: { verdict, notes } }: { payload: DiffPayload }) {
  const count = notes.length ? `, ${notes.length} note${notes.length > 1 ? "s" : ""}` : "";
  return (
    <Folded title={`How sure that is${count}`}>
      {() => (
        <>
          <p>{unbroken(verdict.sentence)}</p>
          {verdict.because ? <p>{verdict.because}</p> : null}
          {verdict.test ? (
            <p class="muted">
              <Term id="diff_verdict">How it was tested</Term>: {testText(verdict)}
            </p>
          ) : null}
          <Notes notes={notes} />
        </>
      )}
    </Folded>
  );
}

/** The tables of all compared steps; the call tree beside those of modules. */
function Tables(props: ViewProps & Both & { tables?: readonly ChangeTable[] }) {
  const { payload, params, setParam, query, tables } = props;
  const host = params.time === "host" || !payload.device_time;
  return (
    <>
      <ChangesTable {...props} downloads={<Downloads query={query} />} />
      {!tables || tables.includes("module") ? (
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
      ) : null}
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
