/** Ways out of the page: a part of the trace, or all of it, as a file or in Perfetto. */

import { useEffect, useRef, useState } from "preact/hooks";
import { urlOf } from "../../api/client";
import type { TracePayload } from "../../api/types.gen";
import { formatTime } from "../../base/units";
import type { Selection, ViewProps } from "../../state/view";
import type { TimeRange } from "../../timeline/types";
import { Dialog } from "../../widgets";
import { fetchBytes, type Progress } from "./bytes";
import {
  checkWindow,
  readMode,
  windowForPerfetto,
  windowOfSteps,
  type Checked,
  type PartMode,
} from "./model";
import { handOver, realBrowser } from "./perfetto";
import { IDLE, OpenPanel, PartPicker, type HandoverStatus } from "./parts";
import { countOfSteps, rowsOf } from "../rows";
import { timesOf } from "./window";

interface ExportProps {
  view: ViewProps;
  payload: TracePayload;
  /** What is seen, in the trace's own time; `null` where this worker is not drawn. */
  seen: TimeRange | null;
  onClose: () => void;
}

export function ExportDialog({ view, payload, seen, onClose }: ExportProps) {
  const { selection, steps, params, setParam } = view;
  const { status, open, cancel } = useHandover(payload);
  const first = steps.first ?? 0;
  const last = steps.last ?? steps.first ?? Math.max(0, countOfSteps(payload.steps) - 1);
  const from = params.from ?? "";
  const to = params.to ?? "";
  const mode = readMode(params.part, steps.first !== null);
  const part = chosenPart(payload, { mode, first, last, from, to, seen });
  const { run, worker, span } = selection;
  const hrefTo = (window: TimeRange | null): string =>
    urlOf("trace/file", {
      run,
      worker,
      span,
      ...(window ? timesOf(window) : {}),
    });
  return (
    <Dialog title="Export" onClose={onClose}>
      <PartPicker
        mode={mode}
        onMode={(next: PartMode) => setParam("part", next)}
        steps={rowsOf(payload.steps)}
        from={from}
        to={to}
        onFrom={(text) => setParam("from", text)}
        onTo={(text) => setParam("to", text)}
        spanNs={payload.span_ns}
        window={part.window}
        problem={part.problem}
      />
      <OpenPanel
        perfettoUrl={payload.perfetto_url}
        fileHref={part.problem ? null : hrefTo(part.window)}
        whole={part.window === null}
        status={status}
        onOpen={() =>
          open(
            hrefTo(windowForPerfetto(payload.file, part.window, payload.span_ns)),
            titleOf(selection, part.window),
          )
        }
        onCancel={cancel}
      />
    </Dialog>
  );
}

function titleOf({ run, worker, span }: Selection, window: TimeRange | null): string {
  const times = window ? `${formatTime(window.t0)} to ${formatTime(window.t1)}` : "";
  return [run, worker, span, times].filter(Boolean).join(" · ");
}

interface Choice {
  mode: PartMode;
  first: number;
  last: number;
  from: string;
  to: string;
  seen: TimeRange | null;
}

/** The window of the choice; none (and no problem) for the whole trace. */
function chosenPart(payload: TracePayload, { mode, first, last, from, to, seen }: Choice): Checked {
  if (mode === "whole") return { window: null, problem: "" };
  if (mode === "window") return checkWindow(from, to, payload.span_ns);
  if (mode === "seen")
    return seen
      ? { window: seen, problem: "" }
      : { window: null, problem: "This worker has no events in the visible range." };
  const window = windowOfSteps(rowsOf(payload.steps), first, last);
  return { window, problem: window ? "" : "The trace has no such step." };
}

function useHandover(payload: TracePayload) {
  const [status, setStatus] = useState<HandoverStatus>(IDLE);
  const running = useRef<() => void>(undefined);
  useEffect(() => () => running.current?.(), []);
  const open = (href: string, title: string): void => {
    running.current?.();
    const controller = new AbortController();
    const progressed = (progress: Progress): void =>
      setStatus((now) => (now.state === "opening" ? { ...now, progress } : now));
    const cancel = handOver(realBrowser(window), {
      url: payload.perfetto_url,
      title,
      fileName: payload.file,
      bytes: () => fetchBytes(href, progressed, controller.signal),
      onState: (state, reason) => {
        const opening = state === "opening";
        setStatus(({ progress }) => ({ state, reason, progress: opening ? progress : null }));
        if (!opening && state !== "handed") controller.abort();
      },
    });
    running.current = () => {
      cancel();
      controller.abort();
    };
  };
  return { status, open, cancel: () => running.current?.() };
}
