/** The Lines page: where the path splits by call chain, then what each source line of the user's own program costs, or of that and of packages. */

import type { LineGroup } from "../../api/types.gen";
import { viewQuery } from "../../state/view";
import { frameText } from "../callers";
import { Choice, chosenOf } from "../choice";
import { gridParams } from "../grid_params";
import { InShort, MissingList, Nothing, viewOf } from "../loaded";
import { TableView } from "../table_view";
import { Ladder } from "./ladder";

const GROUPS: Readonly<Record<LineGroup, string>> = { own: "Your program", package: "+ packages" };

export const LinesView = viewOf(
  "lines",
  [60, 480],
  ({ payload, ...view }) => {
    const { sentences, ladder, rows, pooled, vocabulary, missing } = payload;
    const { hrefOf, params, setParam } = view;
    return sentences.length ? (
      <>
        <InShort sentences={sentences} />
        <MissingList missing={missing} />
        {ladder.name.length ? <Ladder {...{ ladder, vocabulary }} {...view} /> : null}
        {rows.line.length ? (
          <TableView
            name="lines"
            title="Lines"
            term="lines_view"
            {...{ rows, pooled, vocabulary }}
            fill
            tools={
              <Choice {...{ params, setParam }} label="Lines of" labels={GROUPS} param="group" />
            }
            events={{ page: "lines", text: "longest", hrefOf }}
            additions={{
              line: {
                grow: true,
                short: rows.line.map((line) => line && frameText(line)),
                unknown: () => "no line is known",
              },
            }}
            {...gridParams(params, setParam)}
          />
        ) : null}
      </>
    ) : (
      <Nothing
        title="No calls on the path"
        text="No call was recorded in these steps. Choose other steps."
        missing={missing}
      />
    );
  },
  (props) => viewQuery(props, { group: chosenOf(GROUPS, props.params.group) }),
);
