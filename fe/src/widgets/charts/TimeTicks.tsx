import { scaleFor } from "../../base/units";
import { multiples, tickStep } from "./axes";

interface TimeTicksProps {
  window: { t0: number; t1: number };
  plot: number;
  x: (t: number) => number;
  /** The foot of the texts. */
  y: number;
}

/** Times below a chart, each with its unit. */
export function TimeTicks({ window: { t0, t1 }, plot, x, y }: TimeTicksProps) {
  const step = Math.max(1, tickStep(t1 - t0, plot / 110, scaleFor(t1, "ns").factor));
  const scale = scaleFor(t1, "ns", step);
  return (
    <>
      {multiples(step, t0, t1).map((time) => (
        <text
          key={time}
          x={x(time)}
          y={y}
          text-anchor={x(time) > x(t1) - 20 ? "end" : x(time) < 20 ? "start" : "middle"}
        >
          {`${scale.text(time)} ${scale.unit}`}
        </text>
      ))}
    </>
  );
}
