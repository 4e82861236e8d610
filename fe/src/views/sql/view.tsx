/** The SQL page: a statement over the tables of the trace, its answer as table and chart. */

import { useMemo, useState } from "preact/hooks";
import type { SqlColumn, SqlPayload, SqlTablesPayload } from "../../api/types.gen";
import { useId } from "../../base/id";
import { seriesColor } from "../../base/theme";
import { formatCount, type Unit } from "../../base/units";
import { useResource } from "../../state/resource";
import type { ViewProps } from "../../state/view";
import {
  Button,
  Card,
  type CellValue,
  type Column,
  EmptyState,
  ErrorState,
  Figure,
  GridPanel,
  Panel,
  Select,
  type StackedBar,
  StackedBars,
  TextInput,
} from "../../widgets";
import { useColumns } from "../columns";
import { gridParams } from "../grid_params";
import { Loaded, Notes } from "../loaded";

export function SqlView(props: ViewProps) {
  const resource = useResource("sql/tables", {});
  return (
    <Loaded resource={resource} shape={[120, 400]}>
      {(tables) =>
        tables.missing ? (
          <EmptyState
            title="SQL needs DuckDB, which the server does not have"
            text="Install it where the server runs, and start that again."
            code={tables.missing}
          />
        ) : (
          <Console {...props} tables={tables} />
        )
      }
    </Loaded>
  );
}

function Console(props: ViewProps & { tables: SqlTablesPayload }) {
  const { params, tables, setParam } = props;
  const { run: name, worker, span } = props.selection;
  // Until somebody asks, an example that suits the trace is answered.
  const resource = useResource("sql", { run: name, worker, span, q: params.q });
  const asked = params.q ?? resource.data?.statement ?? "";
  // What was typed holds for the statement that it was typed over.
  const [typed, setTyped] = useState<{ over?: string | undefined; text: string } | null>(null);
  const text = typed && typed.over === params.q ? typed.text : asked;
  const setText = (next: string): void => setTyped({ over: params.q, text: next });
  const run = (): void => {
    if (text === asked) resource.reload();
    else {
      // The order and the column of another answer mean nothing in this one.
      for (const key of ["sort", "y"]) setParam(key, null);
      setParam("q", text);
    }
  };
  return (
    <div class="sql">
      <div class="view">
        <Card>
          <Ask {...{ text, setText, run, tables }} />
        </Card>
        {resource.error ? (
          <ErrorState error={resource.error} title="The statement was not answered" />
        ) : (
          <Loaded resource={resource} shape={[300]}>
            {(answer) => <Answer {...props} answer={answer} />}
          </Loaded>
        )}
      </div>
      <Tables tables={tables} insert={(name) => setText(`select * from ${name} limit 100`)} />
    </div>
  );
}

interface AskProps {
  text: string;
  setText: (text: string) => void;
  run: () => void;
  tables: SqlTablesPayload;
}

function Ask({ text, setText, run, tables: { examples } }: AskProps) {
  const id = useId("sql");
  const example = examples.findIndex(({ statement }) => statement === text);
  return (
    <div class="sql-ask">
      <label for={id} class="field-label">
        One SELECT; times are ns
      </label>
      <textarea
        id={id}
        rows={Math.min(14, Math.max(4, text.split("\n").length + 1))}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          run();
        }}
      />
      <div class="sql-actions">
        <Button kind="primary" disabled={!text.trim()} onClick={run}>
          Run (Ctrl+Enter)
        </Button>
        <Select
          label="Example"
          value={example < 0 ? "" : String(example)}
          options={[
            { value: "", label: "Your own" },
            ...examples.map(({ question }, place) => ({ value: String(place), label: question })),
          ]}
          onChange={(place) => setText(examples[Number(place)]?.statement ?? text)}
        />
      </div>
    </div>
  );
}

function Answer(props: ViewProps & { answer: SqlPayload }) {
  const { answer, params, setParam, hrefOf } = props;
  const columns = useColumns(() => gridColumns(answer, hrefOf), [answer]);
  const rows = answer.values[0]?.length ?? 0;
  const places = useMemo(() => drawable(answer), [answer]);
  const place = places.find((p) => String(p) === params.y);
  return (
    <>
      {answer.note ? <Notes notes={[answer.note]} /> : null}
      {place === undefined ? null : <Chart answer={answer} place={place} />}
      <GridPanel
        label="Answer"
        note={`${formatCount(rows)} rows`}
        columns={columns}
        tools={
          places.length && rows > 1 ? (
            <Select
              label="Chart"
              value={place === undefined ? "" : String(place)}
              options={[
                { value: "", label: "None" },
                ...places.map((p) => ({ value: String(p), label: answer.columns[p]?.name ?? "" })),
              ]}
              onChange={(value) => setParam("y", value || null)}
            />
          ) : null
        }
        {...gridParams(params, setParam)}
      />
    </>
  );
}

function Chart({ answer, place }: { answer: SqlPayload; place: number }) {
  const { columns, values } = answer;
  const column = columns[place];
  if (!column) return null;
  const bars = barsOf(answer, place);
  return (
    <Card>
      <Figure
        title={column.name}
        note={bars.length === MOST_BARS ? `the first ${MOST_BARS} rows` : null}
        table={{
          columns: [
            { label: columns[0]?.name ?? "" },
            { label: column.name, unit: unitOf(column) },
          ],
          rows: bars.map((bar, row) => [values[0]?.[row] ?? null, bar.values[0] ?? null]),
        }}
      >
        <StackedBars
          label={column.name}
          series={[{ key: "y", label: column.name, color: seriesColor(0) }]}
          bars={bars}
          unit={unitOf(column)}
          axisLabel="row"
          height={180}
        />
      </Figure>
    </Card>
  );
}

/** The tables by topic, those for people open; of a search the tables that it is found in, with their columns where it is one's. */
function Tables(props: { tables: SqlTablesPayload; insert: (name: string) => void }) {
  const { tables, insert } = props;
  const [typed, setTyped] = useState("");
  const wanted = typed.trim().toLowerCase();
  const has = (text: string): boolean => text.toLowerCase().includes(wanted);
  const found = tables.tables.filter(
    ({ name, doc, columns }) => has(`${name} ${doc}`) || columns.some((column) => has(column.name)),
  );
  const topics = [...new Set(found.map(({ topic }) => topic))];
  return (
    <Panel title="Tables">
      <div class="sql-tables" tabIndex={0} aria-label="Tables and their columns" role="region">
        <TextInput
          type="search"
          aria-label="Search tables and columns"
          placeholder="Search"
          value={typed}
          onInput={setTyped}
        />
        {topics.map((topic) => {
          const own = found.filter((table) => table.topic === topic);
          const [schema] = own[0]?.name.match(/.+\./) ?? [];
          return (
            <details key={topic} open={wanted !== "" || !schema}>
              <summary>
                <strong>{schema ? `${schema}*` : "Calls and records"}</strong>
              </summary>
              <p>{topic}</p>
              {own.map(({ name, doc, columns }) => (
                <details key={name} open={wanted !== "" && !has(`${name} ${doc}`)}>
                  <summary title={doc}>{name}</summary>
                  <p>{doc}</p>
                  <Button onClick={() => insert(name)}>Show its rows</Button>
                  <dl>
                    {columns.map((column) => (
                      <div key={column.name}>
                        <dt title={column.type}>{column.name}</dt>
                        <dd>{[column.unit, column.doc].filter(Boolean).join(": ")}</dd>
                      </div>
                    ))}
                  </dl>
                </details>
              ))}
            </details>
          );
        })}
        {topics.length ? null : <p>No table or column matches.</p>}
      </div>
    </Panel>
  );
}

/** Bars that are drawn at most: the table has the rest. */
const MOST_BARS = 200;

const WIDTHS = { text: 260, count: 110, number: 110, time: 110, bytes: 110, event: 90 } as const;

export const gridColumns = (
  { columns, values }: SqlPayload,
  hrefOf: ViewProps["hrefOf"],
): Column[] =>
  columns.map(({ name, kind }, place): Column => {
    const cells: readonly CellValue[] = values[place] ?? [];
    const column = { key: `${place}`, label: name, name, width: WIDTHS[kind], values: cells };
    if (kind === "text") return { ...column, kind: "code", grow: true };
    if (kind !== "event") return { ...column, kind };
    return {
      ...column,
      kind: "text",
      values: cells.map((id) => (id === null ? null : `#${id}`)),
      href: (row) => {
        const id = cells[row] ?? null;
        return id === null ? null : hrefOf("trace", { sel: String(id) });
      },
    };
  });

/** Places of columns that bars may show: numbers of which none is negative, other than the first column. */
export const drawable = ({ columns, values }: SqlPayload): number[] =>
  [...columns.keys()].filter(
    (place) =>
      place > 0 &&
      columns[place]?.kind !== "text" &&
      columns[place]?.kind !== "event" &&
      values[place]?.some((value) => Number(value) > 0) &&
      values[place].every((value) => Number(value) >= 0),
  );

const unitOf = ({ kind }: SqlColumn): Unit =>
  kind === "time" ? "ns" : kind === "bytes" ? kind : "number";

export const barsOf = ({ values }: SqlPayload, place: number): StackedBar[] =>
  (values[0] ?? []).slice(0, MOST_BARS).map((name, row) => ({
    key: row,
    label: String(row + 1),
    title: String(name ?? "–"),
    values: [Number(values[place]?.[row] ?? 0)],
  }));
