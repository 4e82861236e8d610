import { useMemo, useState } from "preact/hooks";
import type { StackItem } from "../../api/types.gen";
import { formatCount, formatTime } from "../../base/units";
import { capitalised } from "../../base/words";
import { Button, CopyButton, Term } from "../../widgets";
import { splitFrame, stackLabels } from "./model";

/** Stacks drawn at first, and more at each press. */
const PAGE = 50;

/** One frame: where, and which function. */
function FrameLine({ text }: { text: string }) {
  const { file, line, func } = splitFrame(text);
  if (line === null) return <li class="frame frame-plain">{func || "(no name)"}</li>;
  return (
    <li class="frame">
      <span class="frame-func">{func}</span>
      <code class="frame-place">
        {file}:{line}
      </code>
      <CopyButton text={`${file}:${line}`} label="Copy file and line" />
    </li>
  );
}

export function Frames({ frames }: { frames: readonly string[] }) {
  return (
    <div class="frames">
      <div class="frames-head">
        <span class="muted">
          {formatCount(frames.length)} {frames.length === 1 ? "frame" : "frames"}, innermost first
        </span>
        <CopyButton text={() => frames.join("\n")} label="Copy stack">
          Copy stack
        </CopyButton>
      </div>
      <ol>
        {frames.map((text, i) => (
          <FrameLine key={i} text={text} />
        ))}
      </ol>
    </div>
  );
}

interface StacksProps {
  stacks: readonly StackItem[];
  without: number;
  hasDevice: boolean;
  device: string;
}

/** Call stacks of one operator with their figures, the costliest first; each opens to its frames. */
export function Stacks({ stacks, without, hasDevice, device }: StacksProps) {
  const [count, setCount] = useState(PAGE);
  const drawn = stacks.slice(0, count);
  const labels = useMemo(
    () => stackLabels(stacks.slice(0, count).map((stack) => stack.frames)),
    [stacks, count],
  );
  const rest = stacks.length - drawn.length;
  return (
    <div class="stacks">
      {drawn.map((stack, i) => (
        <Stack
          key={i}
          stack={stack}
          label={labels[i] ?? ""}
          first={stacks.length === 1}
          hasDevice={hasDevice}
          device={device}
        />
      ))}
      {rest > 0 ? (
        <Button onClick={() => setCount(count + PAGE)}>{formatCount(rest)} more call stacks</Button>
      ) : null}
      {without > 0 ? (
        <p class="muted">
          {formatCount(without)} {without === 1 ? "call has" : "calls have"} no call stack.
        </p>
      ) : null}
    </div>
  );
}

interface StackProps {
  stack: StackItem;
  label: string;
  first: boolean;
  hasDevice: boolean;
  device: string;
}

function Stack({ stack, label, first, hasDevice, device }: StackProps) {
  const [open, setOpen] = useState(first);
  return (
    <details class="stack" open={open}>
      <summary
        onClick={(event) => {
          // The state opens it, so that its frames are drawn in the same moment; the keyboard comes here too.
          event.preventDefault();
          setOpen(!open);
        }}
      >
        <span class="stack-label">{label || "(no frame)"}</span>
        <span class="stack-figures">
          <StackFigure term="calls" label="Calls" text={formatCount(stack.calls)} />
          {hasDevice ? (
            <StackFigure
              term="device_self"
              label={`${capitalised(device)} self`}
              text={formatTime(stack.device_self_ns)}
            />
          ) : null}
          {hasDevice ? (
            <StackFigure
              term="device_total"
              label={`${capitalised(device)} total`}
              text={formatTime(stack.device_total_ns)}
            />
          ) : null}
          <StackFigure term="host_self" label="Host self" text={formatTime(stack.host_self_ns)} />
          <StackFigure
            term="host_total"
            label="Host total"
            text={formatTime(stack.host_total_ns)}
          />
        </span>
      </summary>
      {open ? <Frames frames={stack.frames} /> : null}
    </details>
  );
}

function StackFigure({ term, label, text }: { term: string; label: string; text: string }) {
  return (
    <span class="stack-figure">
      <span class="muted">
        <Term id={term} focusable={false}>
          {label}
        </Term>
      </span>{" "}
      <span class="number">{text}</span>
    </span>
  );
}
