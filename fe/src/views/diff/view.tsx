/** The Diff page: what changed between two traces, or between two parts of one. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Aligned, AlignedPayload, DiffPayload } from "../../api/types.gen";
import { type Parameters, urlOf } from "../../api/client";
import { changePage, diagnosisHref } from "../../state/location";
import { type Resource, useResource } from "../../state/resource";
import { find, freshnessOf, runsStore } from "../../state/runs";
import { useStore } from "../../state/store";
import { type Selection, viewQuery, type ViewProps } from "../../state/view";
import { Button, EmptyState, Icon, Panel, Segmented, StepSelector, Term } from "../../widgets";
import { Folded } from "../folded";
import { InShort, Loaded, MissingList, Notes } from "../loaded";
import { TraceSelects } from "../trace_selects";
import { Choose } from "./experiments";
import {
  medianText,
  otherSide,
  type Side,
  sideNames,
  sideParams,
  sideText,
  swapped,
  testText,
} from "./model";
import { AlignedSteps } from "./aligned";
import { StepTimes } from "./parts";
import { ChangesTable, TreeTable } from "./tables";
import { rowsOf } from "../rows";

/** The address says which is before: the other way round than by time. */
const GIVEN = "given";

export function DiffView(props: ViewProps) {
  const runs = useStore(runsStore, ({ payload }) => payload);
  const b = otherSide(runs, props.params);
  const known = b !== null && find(runs, b.selection).span !== null;
  const query =
    b && known
      ? viewQuery(props, {
          ...sideParams(b),
          earlier_first: props.params.order === GIVEN ? ("" as const) : ("1" as const),
        })
      : null;
  const resource = useResource("diff", query);
  const aligned = useResource("diff/aligned", query);
  const { reload } = resource;
  const { reload: reloadSteps } = aligned;
  const again = useCallback(() => {
    reload();
    reloadSteps();
  }, [reload, reloadSteps]);
  useFollowed(b?.selection ?? null, again);
  if (!b) return <Choose {...props} />;
  return query ? (
    <Loaded resource={resource} shape={[60, 200, 300, 400]}>
      {(payload) => <DiffPage {...props} payload={payload} b={b} query={query} aligned={aligned} />}
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

function setOther(setParam: ViewProps["setParam"], b: Side): void {
  for (const [key, value] of Object.entries(sideParams(b))) setParam(key, value);
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
      <a class="button" href={hrefOf("diff")}>
        All runs
      </a>
    </div>
  );
}

export type PageProps = ViewProps & { payload: DiffPayload; b: Side };

interface DiffPageProps extends PageProps {
  query: Parameters["diff"];
  aligned: Resource<AlignedPayload>;
}

function DiffPage({ query, aligned, ...props }: DiffPageProps) {
  const { payload, params, setParam } = props;
  const [open, setOpen] = useState(["table", "status", "time"].some((key) => params[key]));
  const show = (table: string): void => {
    setParam("table", table);
    setOpen(true);
  };
  return (
    <>
      <InShort sentences={payload.headline} />
      <Loaded resource={aligned} shape={[200, 200]}>
        {({ steps }) => {
          const names = sideNames(steps);
          return (
            <>
              <Compared {...props} names={names} drawn={steps} />
              {steps ? (
                <AlignedSteps steps={steps} names={names} onTable={show}>
                  <StepTimes payload={payload} names={names} />
                </AlignedSteps>
              ) : null}
              <Doubts payload={payload} />
              <Folded title="Other recording or steps">{() => <Sides {...props} />}</Folded>
              <Folded title="Step-time breakdown, operators, kernels, modules" open={open}>
                {() => <Tables {...props} names={names} query={query} />}
              </Folded>
            </>
          );
        }}
      </Loaded>
      <MissingList missing={payload.missing} />
    </>
  );
}

interface NamedProps extends PageProps {
  names: readonly [string, string];
}

/** Which two are compared, and the way to compare them the other way round. */
function Compared(props: NamedProps & { drawn: Aligned | null }) {
  const { payload, names, drawn, selection, steps, b } = props;
  const swap = (): void =>
    changePage((page) => {
      const [before, after] = swapped(payload, { selection, steps }, b);
      return {
        ...page,
        selection: before.selection,
        steps: before.steps,
        params: { ...page.params, ...sideParams(after), order: GIVEN },
      };
    }, "push");
  return (
    <div class="diff-compared">
      {names.map((name, i) => {
        const step = i ? drawn?.after : drawn?.before;
        return (
          <p key={name}>
            <strong>{name}</strong> {sideText(payload, i)}{" "}
            <span class="muted">
              {[step?.recorded, step ? medianText(step) : "no step"].filter(Boolean).join(" · ")}
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
          <p>{verdict.sentence}</p>
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

/** The tables of all compared steps. */
function Tables({ query, names, ...props }: NamedProps & { query: Parameters["diff"] }) {
  const { payload, params, setParam } = props;
  const host = params.time === "host" || !payload.device_time;
  return (
    <>
      <ChangesTable {...props} names={names} downloads={<Downloads query={query} />} />
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
        <TreeTable {...props} names={names} device={!host} />
      </Panel>
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
