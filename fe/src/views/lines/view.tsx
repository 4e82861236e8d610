/** The Lines page: what each source line of the user's own program costs. */

import { frameText } from "../callers";
import { gridParams } from "../grid_params";
import { InShort, Nothing, viewOf } from "../loaded";
import { TableView } from "../table_view";

export const LinesView = viewOf("lines", [60, 480], ({ payload, hrefOf, params, setParam }) => {
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
});
