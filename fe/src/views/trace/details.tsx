import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ChainKind, EventPayload, EventRef } from "../../api/types.gen";
import {
  formatCount,
  formatEvents,
  formatExactTime,
  formatShare,
  formatTime,
} from "../../base/units";
import { timeText } from "../../timeline/ruler";
import { Button, CopyButton, Icon, Term } from "../../widgets";
import { fact, timeFact } from "../fact";
import { colourMark, Section, timeCell } from "./fact";
import { isPython, lookOf } from "./looks";

/** Selects an event and brings it into sight. */
export type Go = (ref: EventRef) => void;

interface DetailsProps {
  payload: EventPayload;
  on: string;
  go: Go;
  allArguments: () => ComponentChildren;
  links: ComponentChildren;
  /** What comes after the facts. */
  children?: ComponentChildren;
}

export function Details({ payload, on, go, allArguments, links, children }: DetailsProps) {
  return (
    <div class="details">
      <Heading payload={payload} />
      <Facts payload={payload} on={on} />
      <div class="details-links">{links}</div>
      {children}
      <Chain payload={payload} go={go} />
      <Launched payload={payload} go={go} />
      <Same payload={payload} go={go} />
      <Arrows payload={payload} go={go} />
      {payload.captured.length > 0 && (
        <Section title="Captured" term="captured">
          <ArgumentList items={payload.captured} />
        </Section>
      )}
      <Arguments payload={payload} allArguments={allArguments} />
      <Stack frames={payload.stack} />
    </div>
  );
}

function Heading({ payload }: { payload: EventPayload }) {
  const { label, term, colour } = lookOf(payload.ref.look);
  return (
    <>
      <p class="details-kind">
        {colourMark(colour)}
        <Term id={term}>{label}</Term>
        <CopyButton text={() => eventText(payload)} label="Copy as text">
          Copy as text
        </CopyButton>
      </p>
      <div class="details-name">
        <code>{payload.ref.name || "(no name)"}</code>
        <CopyButton text={payload.ref.name} label="Copy the name" />
      </div>
    </>
  );
}

function Facts({ payload, on }: { payload: EventPayload; on: string }) {
  const { ref, category, step, children } = payload;
  return (
    <dl class="facts">
      {fact(<Term id="begin">Begin</Term>, timeText(ref.start_ns), formatExactTime(ref.start_ns))}
      {timeFact(<Term id="duration">Duration</Term>, ref.dur_ns)}
      {fact("Track", on)}
      {fact(<Term id="event_category">Category</Term>, category && <code>{category}</code>)}
      {fact(<Term id="step">Step</Term>, step)}
      {timeFact(<Term id="launch_delay">Launch delay</Term>, payload.launch_delay_ns)}
      {timeFact(<Term id="queue_time">Queue time</Term>, payload.queue_ns)}
      {fact(<Term id="enclosed">Encloses</Term>, children ? formatEvents(children) : null)}
      {payload.overlapping ? (
        <p class="trace-note">
          <Icon name="warn" size={14} />{" "}
          <Term id="overlapping">Overlaps another event of its track</Term>, so it is drawn on a
          track of its own.
        </p>
      ) : null}
    </dl>
  );
}

interface RefProps {
  item: EventRef;
  go: Go;
  current?: boolean;
  /** What it is to the event. */
  role?: string;
}

function Ref({ item, go, current = false, role }: RefProps) {
  const { look, name, dur_ns } = item;
  return (
    <li>
      {role ? <span class="chain-kind">{role}</span> : null}
      <button
        type="button"
        class="ref"
        aria-current={current ? "true" : undefined}
        title={name}
        onClick={() => go(item)}
      >
        {colourMark(lookOf(look).colour)}
        <span class={isPython(look) ? "ref-name" : "ref-name ref-code"}>
          <Named name={name} />
        </span>
        {timeCell(dur_ns)}
      </button>
    </li>
  );
}

/** `package/folder/file.py(12): function`. */
const PYTHON_LINE = /^(.*\/)([^/]+\(\d+\): .*)$/s;

/** A name that loses its folders first where there is no room: the file, the line and the function say what it is. */
function Named({ name }: { name: string }) {
  const [, folders, line] = PYTHON_LINE.exec(name) ?? [];
  if (!folders) return <>{name || "(no name)"}</>;
  return (
    <>
      <span class="ref-folders">
        <bdi>{folders}</bdi>
      </span>
      <span class="ref-line">{line}</span>
    </>
  );
}

interface PartProps {
  payload: EventPayload;
  go: Go;
}

const CHAIN_WORDS: Readonly<Record<ChainKind, string>> = {
  python: "Python line",
  module: "Module",
  annotation: "Annotation",
  operator: "Operator",
  launch: "Launch",
  device: "Device",
};

function Chain({ payload, go }: PartProps) {
  if (payload.chain.length < 2) return null;
  return (
    <Section title="From Python to the device" term="chain">
      <ol class="chain">
        {payload.chain.map(({ kind, ref }) => (
          <Ref
            key={ref.event}
            role={CHAIN_WORDS[kind]}
            item={ref}
            go={go}
            current={ref.event === payload.ref.event}
          />
        ))}
      </ol>
    </Section>
  );
}

const FIRST = 5;

function Refs({ items, total, go }: { items: readonly EventRef[]; total: number; go: Go }) {
  const [all, setAll] = useState(false);
  const shown = all ? items : items.slice(0, FIRST);
  const more = items.length - shown.length;
  return (
    <>
      <ul class="refs">
        {shown.map((item) => (
          <Ref key={item.event} item={item} go={go} />
        ))}
      </ul>
      {more > 0 ? (
        <button type="button" class="link" onClick={() => setAll(true)}>
          {formatCount(more)} more
        </button>
      ) : null}
      {all && total > items.length ? (
        <p class="muted">
          The longest {formatCount(items.length)} of {formatCount(total)}.
        </p>
      ) : null}
    </>
  );
}

function Launched({ payload, go }: PartProps) {
  const { launched, launched_total, launched_ns } = payload;
  if (!launched.length) return null;
  return (
    <Section
      title="Launched on the device"
      term="launched"
      note={`${formatEvents(launched_total)}, ${formatTime(launched_ns)}`}
    >
      <Refs items={launched} total={launched_total} go={go} />
    </Section>
  );
}

export function ordinal(n: number): string {
  const ten = n % 100;
  const ending = ten >= 11 && ten <= 13 ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th");
  return `${formatCount(n)}${ending}`;
}

/** Where an event stands among those of its name, in words. */
export function rankText({ calls, rank }: { calls: number; rank: number }): string {
  if (calls === 1) return "The only call of this name.";
  if (rank === 1) return `${formatCount(calls)} calls; this one is the slowest.`;
  if (rank === calls) return `${formatCount(calls)} calls; this one is the fastest.`;
  return `${formatCount(calls)} calls; this one is the ${ordinal(rank)} slowest.`;
}

function Same({ payload, go }: PartProps) {
  const { siblings } = payload;
  const jump = (label: string, ref: EventRef | null) => (
    <Button
      disabled={ref === null || ref.event === payload.ref.event}
      onClick={() => ref && go(ref)}
    >
      {label}
    </Button>
  );
  const time = (label: string, ns: number) => (
    <span class="figure" title={formatExactTime(ns)}>
      <span class="muted">{label}</span> {formatTime(ns)}
    </span>
  );
  return (
    <Section title="Same name" term="siblings">
      <p>{rankText(siblings)}</p>
      {siblings.calls > 1 ? (
        <>
          <p class="figures">
            {time("total", siblings.total_ns)}
            {time("mean", siblings.mean_ns)}
            {time("shortest", siblings.shortest_ns)}
            {time("longest", siblings.longest_ns)}
          </p>
          <p class="details-buttons">
            {jump("Slowest", siblings.slowest)}
            {jump("Fastest", siblings.fastest)}
            {jump("Previous", siblings.previous)}
            {jump("Next", siblings.next)}
          </p>
        </>
      ) : null}
    </Section>
  );
}

function Arrows({ payload, go }: PartProps) {
  if (!payload.arrows.length) return null;
  const { length } = payload.arrows;
  const cut = payload.arrows_total > length;
  const note = cut ? `the first ${length} of ${formatCount(payload.arrows_total)}` : "";
  return (
    <Section title="Flows" term="arrows" note={note}>
      <ul class="refs">
        {payload.arrows.map(({ label, direction, other }, place) => (
          <Ref
            key={place}
            role={`${direction === "out" ? "to" : "from"}, ${label}`}
            item={other}
            go={go}
          />
        ))}
      </ul>
    </Section>
  );
}

function Arguments({ payload, allArguments }: Pick<DetailsProps, "payload" | "allArguments">) {
  const [all, setAll] = useState<number | null>(null);
  return (
    <Section title="Arguments" term="arguments">
      {all === payload.ref.event ? (
        allArguments()
      ) : (
        <>
          <ArgumentList items={payload.arguments} />
          <button type="button" class="link" onClick={() => setAll(payload.ref.event)}>
            Show all arguments as recorded
          </button>
        </>
      )}
    </Section>
  );
}

export const ArgumentList = ({ items }: { items: EventPayload["arguments"] }) =>
  items.length ? (
    <dl class="facts arguments">
      {items.map(({ name, value }) => fact(name, <code>{value}</code>))}
    </dl>
  ) : null;

function Stack({ frames }: { frames: readonly string[] }) {
  if (!frames.length) return null;
  return (
    <Section title="Call stack" term="call_stack">
      <ol class="stack-frames">
        {frames.map((frame, place) => (
          <li key={place}>
            <code>{frame}</code>
          </li>
        ))}
      </ol>
    </Section>
  );
}

interface SummaryProps {
  count: number;
  busy: number;
  longest: string;
  onZoom: () => void;
  onLongest: () => void;
}

/** What a slice holds that stands for several events. */
export function Summary({ count, busy, longest, onZoom, onLongest }: SummaryProps) {
  return (
    <div class="details">
      <p class="details-kind">
        <Term id="summary_slice">Several events, too short to draw separately at this zoom</Term>
      </p>
      <p class="summary-text">
        <strong>{formatEvents(count)}</strong>, {formatShare(busy)} busy, longest:{" "}
        <code>{longest}</code>
      </p>
      <p class="details-buttons">
        <Button kind="primary" onClick={onZoom}>
          Zoom in
        </Button>
        <Button onClick={onLongest}>Select the longest</Button>
      </p>
    </div>
  );
}

/** Times in ns, because the text is pasted where nobody can hover; no narrow spaces, so that figures can be calculated with. */
export function eventText(payload: EventPayload): string {
  const { ref, siblings } = payload;
  const time = (ns: number): string => `${ns} ns (${formatTime(ns)})`;
  const lines = [
    ref.name,
    `${lookOf(ref.look).label}${payload.category ? `, category ${payload.category}` : ""}`,
    `begin: ${time(ref.start_ns)} after the first event`,
    `duration: ${time(ref.dur_ns)}`,
    `on: ${[payload.process, payload.thread].filter(Boolean).join(", ")}`,
    payload.step === null ? "" : `step: ${payload.step}`,
    payload.launch_delay_ns === null ? "" : `launch delay: ${time(payload.launch_delay_ns)}`,
    payload.queue_ns === null ? "" : `queue time: ${time(payload.queue_ns)}`,
    `calls of this name: ${siblings.calls}, total ${time(siblings.total_ns)}, this one is number ${siblings.rank} by duration`,
    ...payload.arguments.map(({ name, value }) => `${name}: ${value}`),
  ].filter(Boolean);
  if (payload.chain.length > 1)
    lines.push(
      "from Python to the device:",
      ...payload.chain.map(
        ({ kind, ref: link }) => `  ${kind}: ${link.name} (${formatTime(link.dur_ns)})`,
      ),
    );
  if (payload.stack.length)
    lines.push("call stack:", ...payload.stack.map((frame) => `  ${frame}`));
  return lines.join("\n");
}
