/** What the stragglers of a run cost, simulated. */

import type { StragglersPayload } from "../../api/types.gen";
import { formatTime } from "../../base/units";
import { useResource, useUntilComplete } from "../../state/resource";
import { ALL_STEPS, type ViewProps } from "../../state/view";
import { Bars, CodeBlock, CopyButton, Panel, Skeleton, Term } from "../../widgets";
import { workerName } from "../distributed/model";
import { Loaded } from "../loaded";
import { commandOf, replayText, stepText } from "./what_if_model";

/** Rows of a list; the rest is as good as none. */
const MOST = 8;
const LEAST = 1.0005;

export function Stragglers(props: ViewProps) {
  const resource = useResource("stragglers", props.selection);
  useUntilComplete(resource);
  const { data } = resource;
  return (
    <Panel
      title="Without stragglers"
      term="slowdown"
      note={data?.steps ? stepText(data.measured_ns, data.steps) : null}
    >
      <Loaded resource={resource} shape={[160]}>
        {(payload) =>
          payload.progress < 1 ? (
            <Skeleton height={160} label="Reading the ranks" />
          ) : (
            <Found payload={payload} />
          )
        }
      </Loaded>
    </Panel>
  );
}

const NO_STRAGGLERS = [{ name: "no-stragglers", values: {} }];

function Found({ payload }: { payload: StragglersPayload }) {
  const command = commandOf(payload.path, NO_STRAGGLERS, ALL_STEPS);
  const { measured_ns, slowdown, replay_error } = payload;
  if (slowdown === null || measured_ns === null)
    return (
      <>
        <p>{payload.refused}</p>
        <CodeBlock code={command} label="Copy the command" />
      </>
    );
  return (
    <>
      <p class="what-if-result" role="status">
        <strong>{costText(measured_ns * (1 - 1 / slowdown))}</strong>{" "}
        <Term id="slowdown">Slowdown</Term> <strong class="number">{times(slowdown)}</strong>{" "}
        <CopyButton text={() => command} label="Copy as command">
          Copy as command
        </CopyButton>
      </p>
      <div class="what-if">
        <Slowdowns
          title="With only this rank as it was"
          rows={payload.by_worker.map((rank) => ({ ...rank, name: workerName(rank) }))}
          code={false}
        />
        <Slowdowns title="With only this operation as it was" rows={payload.by_operation} code />
      </div>
      <p class="what-if-about">
        {payload.note && `${payload.note} `}
        {replay_error === null ? null : `${replayText(replay_error)} `}The simulated times are those
        of all ranks together; a step is counted from the end of the one before.
      </p>
    </>
  );
}

interface SlowdownsProps {
  title: string;
  rows: readonly { name: string; slowdown: number }[];
  code: boolean;
}

/** The greatest slowdowns, with bars of what exceeds 1. */
function Slowdowns({ title, rows, code }: SlowdownsProps) {
  const worth = rows.filter(({ slowdown }) => slowdown >= LEAST).slice(0, MOST);
  const most = Math.max(...worth.map(({ slowdown }) => slowdown - 1));
  return (
    <div>
      <p class="what-if-head">
        <Term id="slowdown">{title}</Term>
      </p>
      {worth.length ? (
        <Bars
          label={title}
          bars={worth.map(({ name, slowdown }) => ({
            name,
            code,
            share: (slowdown - 1) / most,
            text: times(slowdown),
            tone: "bar-lost",
          }))}
        />
      ) : (
        <p class="muted">None by itself makes the run longer.</p>
      )}
    </div>
  );
}

/** A prediction has two digits. */
const costText = (cost: number): string => {
  const time = formatTime(Number(cost.toPrecision(2))).replace(/(\.\d)0 |\.0 /, "$1 ");
  return cost > 0
    ? `All stragglers together cost about ${time} of a step.`
    : "Stragglers cost nothing.";
};

const times = (slowdown: number): string => `× ${slowdown.toFixed(3)}`;
