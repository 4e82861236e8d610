/** The Lines page: what each source line of the user's own program costs, or of that and of packages. */

import type { LineGroup } from "../../api/types.gen";
import { viewQuery } from "../../state/view";
import { frameText } from "../callers";
import { Choice, chosenOf } from "../choice";
import { gridParams } from "../grid_params";
import { InShort, Nothing, viewOf } from "../loaded";
import { TableView } from "../table_view";

const GROUPS: Readonly<Record<LineGroup, string>> = { own: "Your program", package: "+ packages" };

export const LinesView = viewOf(
  "lines",
  [60, 480],
  ({ payload, hrefOf, params, setParam }) => {
    const { sentences, rows, pooled, vocabulary, missing } = payload;
    return sentences.length ? (
      <>
        <InShort sentences={sentences} />
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
      </>
    ) : (
      <Nothing
        title="This trace has no lines"
        text="No line of a program was recorded in these steps. Choose other steps."
        missing={missing}
      />
    );
  },
  (props) => viewQuery(props, { group: chosenOf(GROUPS, props.params.group) }),
);
