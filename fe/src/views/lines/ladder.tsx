/** The line ladder: where the path splits by call chain, as a graph and as a table, and the source of its functions. */

import { useMemo } from "preact/hooks";
import { served } from "../../api/client";
import type { LineLadderTable, Vocabulary } from "../../api/types.gen";
import { GROUP_LABELS } from "../../base/groups.gen";
import { formatTime } from "../../base/units";
import type { ViewProps } from "../../state/view";
import { Flame, layOutFlame } from "../../widgets";
import { frameText } from "../callers";
import { viewOf } from "../loaded";
import { kindsOf } from "../module/model";
import { SourceWithHeat } from "../source";
import { TableView } from "../table_view";
import { joinedText, rungLines, tintOf } from "./model";

interface LadderProps extends ViewProps {
  ladder: LineLadderTable;
  vocabulary: Vocabulary;
}

const Source = viewOf("source", [240], SourceWithHeat);

export function Ladder({ ladder, vocabulary, ...view }: LadderProps) {
  return (
    <>
      <Graph ladder={ladder} />
      <div class="chart-grid ladder">
        <TableView
          name="line_ladder"
          title="Rungs"
          term="rung"
          {...{ rows: ladder, vocabulary }}
          tree={ladder.parent}
          events={{ page: "lines", text: "longest", hrefOf: view.hrefOf }}
          additions={{
            name: {
              grow: true,
              short: ladder.name.map(frameText),
              note: (row) => <span class="muted">{joinedText(ladder, row)}</span>,
            },
            group: { values: ladder.group.map((group) => GROUP_LABELS[group ?? ""] ?? null) },
          }}
        />
        {served ? <Source {...view} /> : null}
      </div>
    </>
  );
}

function Graph({ ladder }: Pick<LadderProps, "ladder">) {
  const drawn = useMemo(
    () => ({
      layout: layOutFlame({ parent: ladder.parent, value: ladder.path_ns, order: null }),
      name: ladder.name.map(
        (name, row) => `${frameText(name)}  ${formatTime(ladder.path_ns[row])}`,
      ),
      kind: kindsOf(ladder),
      tint: tintOf(ladder),
    }),
    [ladder],
  );
  return (
    <Flame
      label="Ladder"
      {...drawn}
      parent={ladder.parent}
      describe={(row) => rungLines(ladder, row)}
    />
  );
}
