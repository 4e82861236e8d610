import type { AlignedWorker } from "../../api/types.gen";
import { formatCount, formatTime } from "../../base/units";
import type { Resource } from "../../state/resource";
import type { Recordings, Wanted } from "./recordings";

/** `aligned by 48 collectives, ± 12.3 µs left`. */
export function alignmentText({ method, error_ns, matched }: AlignedWorker): string {
  if (method === "none") return "not aligned: clock unknown";
  if (method === "clock") return "aligned by system clocks only";
  const left = error_ns === null ? "" : `, ± ${formatTime(error_ns)} left`;
  return `aligned by ${formatCount(matched)} ${matched === 1 ? "collective" : "collectives"}${left}`;
}

/** What became of a worker's timeline: nothing to say once it is drawn. */
export function arrivalText({
  state,
  data,
  error,
}: Pick<Resource<unknown>, "state" | "data" | "error">): string {
  if (data !== null) return "";
  if (error) return error.message;
  return state === "importing" ? state : "loading";
}

export function workerLines(parts: Recordings["parts"]) {
  return parts.map(({ wanted, resource }) => {
    const arrival = arrivalText(resource);
    return {
      key: wanted.key,
      label: nameOf(wanted),
      text: arrival || (wanted.worker ? alignmentText(wanted.worker) : ""),
      waiting: arrival !== "",
    };
  });
}

/** `rank 3 (host7)`; `rank 3` where the worker's own name says no more. */
const nameOf = ({ label, worker }: Wanted): string =>
  worker && worker.worker.replace(/[-_ ]?/g, "") !== label.replace(" ", "")
    ? `${label} (${worker.worker})`
    : label;

/** All workers in one sentence: how many, by what, and the largest remaining error. */
export function alignmentSummary(parts: Recordings["parts"]): string {
  const drawn = parts
    .filter(({ resource }) => resource.data !== null)
    .flatMap(({ wanted }) => (wanted.worker ? [wanted.worker] : []));
  const missing = parts.length - drawn.length;
  const by = (method: AlignedWorker["method"]): number =>
    drawn.filter((item) => item.method === method).length;
  const errors = drawn.flatMap((item) => (item.error_ns === null ? [] : [item.error_ns]));
  const sentences = [
    `${formatCount(drawn.length)} ${drawn.length === 1 ? "worker" : "workers"}`,
    by("collectives")
      ? `aligned by collectives${errors.length ? `, ± ${formatTime(Math.max(...errors))} left at most` : ""}`
      : "",
    by("clock")
      ? `${by("clock") === drawn.length ? "" : `${by("clock")} `}aligned by system clocks only`
      : "",
    by("none") ? `${by("none")} not aligned` : "",
    missing ? `${missing} still loading` : "",
  ];
  return sentences.filter(Boolean).join("; ");
}
