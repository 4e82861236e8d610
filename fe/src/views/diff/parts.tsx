import { useRef } from "preact/hooks";
import type { DiffPayload } from "../../api/types.gen";
import { formatTime } from "../../base/units";
import { Figure, linearAxis, useWidth, XTicks } from "../../widgets";
import { dotsOf } from "./model";
import { rowsOf } from "../rows";

interface PartProps {
  payload: DiffPayload;
  names: readonly [string, string];
}

/** Each step of both sides on one axis: the spread beside the difference. */
export function StepTimes({ payload: { a, b }, names }: PartProps) {
  return (
    <Figure
      title="Steps"
      term="diff_steps"
      note="hollow: left out"
      table={{
        columns: [
          { label: "Side" },
          { label: "Step" },
          { label: "Wall time", unit: "ns" },
          { label: "Compared" },
        ],
        rows: [a, b].flatMap((side, i) =>
          rowsOf(side.steps).map((step) => [
            names[i] ?? "",
            step.name,
            step.wall_ns,
            step.selected ? "yes" : "no",
          ]),
        ),
      }}
    >
      <Dots payload={{ a, b }} names={names} />
    </Figure>
  );
}

const ROW = 30;
const LEFT = 8;
/** Of more dots than this one still shows how dense they are. */
const MOST_SOLID = 60;

function Dots({
  payload,
  names,
}: {
  payload: Pick<DiffPayload, "a" | "b">;
  names: PartProps["names"];
}) {
  const root = useRef<HTMLDivElement>(null);
  const width = useWidth(root);
  const sides = [payload.a, payload.b];
  const rows = sides.map((side, i) => dotsOf(names[i] ?? "", side));
  const axis = linearAxis(Math.max(...rows.flat().map(({ time }) => time)), "ns", width / 90);
  const x = (time: number): number => LEFT + (time / axis.max) * (width - 6 * LEFT);
  const height = rows.length * (ROW + 16);
  const said = sides.map(
    (side, i) =>
      `${names[i]} ${side.selected} of ${rows[i]?.length}, mean ${formatTime(side.mean_ns)}`,
  );
  return (
    <div class="dots" ref={root}>
      <svg width={width} height={height + 24} role="img" aria-label={`Steps: ${said.join("; ")}`}>
        <XTicks {...axis} {...{ x, height }} />
        <text class="axis-unit" x={width} y={height + 15} text-anchor="end">
          {axis.scale.unit}
        </text>
        {rows.map((dots, place) => (
          <g key={place} class={place ? "dots-after" : "dots-before"}>
            <text x={0} y={place * (ROW + 16) + 12}>
              {names[place]}
            </text>
            {dots.map(({ time, title, hollow }, i) => (
              <circle
                key={i}
                class={hollow ? "dots-hollow" : ""}
                fill-opacity={dots.length > MOST_SOLID ? 0.3 : 0.75}
                cx={x(time)}
                cy={place * (ROW + 16) + 28}
                r={5}
              >
                <title>{title}</title>
              </circle>
            ))}
          </g>
        ))}
      </svg>
    </div>
  );
}
