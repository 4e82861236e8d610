/** One field that answers: findings, names with their time, places and words, and commands. */

import { useEffect, useRef, useState } from "preact/hooks";
import { clamp } from "../../base/clamp";
import { useId } from "../../base/id";
import { goTo } from "../../state/location";
import { useResource } from "../../state/resource";
import { type ViewId, viewQuery, type ViewProps } from "../../state/view";
import { Dialog, Icon } from "../../widgets";
import { rowsOf } from "../rows";
import { figureOf, groupOf, isCode, kindName, leadsTo, moreOf, piecesOf, type Row } from "./model";

/** Characters that the route takes. */
const LONGEST = 200;
/** Pause after a keystroke before the server is asked, ms. */
const PAUSE = 80;

export interface AskProps extends ViewProps {
  /** The section that is shown, and the key of the address by which it filters what it shows; empty where it does not. */
  here: ViewId;
  filter: string;
  onClose: () => void;
}

export function Ask(props: AskProps) {
  const { here, filter, setParam, onClose } = props;
  const id = useId("ask");
  const [text, setText] = useState("");
  const question = useRested(text);
  const resource = useResource("ask", viewQuery(props, { q: question.trim() }));
  const { data, error, stale } = resource;
  const rows = data ? rowsOf(data.rows) : [];
  // Each answer begins with its first row.
  const [place, setPlace] = useState({ of: data, at: 0 });
  const at = place.of === data ? place.at : 0;
  const setAt = (next: number): void => setPlace({ of: data, at: next });
  const go = (row: Row | undefined): void => {
    const to = row && leadsTo(row, here, props);
    if (!to) return;
    if ("question" in to) setText(to.question);
    else {
      onClose();
      goTo(to.href);
    }
  };
  const filterHere = (): void => {
    const pattern = /^\/(.+)\/$/.exec(text.trim());
    setParam(filter, pattern?.[1] ?? text.trim());
    setParam(filter === "q" ? "re" : "regex", pattern ? "1" : null);
    onClose();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setAt(clamp(at + step, 0, Math.max(0, rows.length - 1)));
    else if (event.key !== "Enter" || event.isComposing) return;
    else if (event.altKey && filter) filterHere();
    // What was typed and is not answered yet is another question.
    else if (!stale && question === text) go(rows[at]);
    event.preventDefault();
  };
  const active = rows[at];
  return (
    <Dialog title="Ask" bare onClose={onClose}>
      <div class="ask-field">
        <Icon name="search" size={14} />
        <input
          type="text"
          role="combobox"
          aria-label="Ask"
          aria-expanded={rows.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={active ? `${id}-${at}` : undefined}
          placeholder="A name, why 7, rank 2, vs NAME, train.py:12, what if …"
          autocomplete="off"
          maxLength={LONGEST}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <span class="ask-run">{props.selection.run}</span>
      </div>
      <p class="ask-sentence" role="status">
        {error ? [error.message, error.hint].join(" ") : (data?.sentence ?? resource.progress)}
      </p>
      <ul
        id={`${id}-list`}
        class="ask-list"
        role="listbox"
        aria-label="Answers"
        aria-busy={stale || data === null || question !== text}
      >
        {rows.map((row, place) => (
          <Option
            key={`${row.kind} ${row.name} ${row.label} ${place}`}
            id={`${id}-${place}`}
            row={row}
            question={question}
            begins={place > 0 && groupOf(row) !== groupOf(rows[place - 1] ?? row)}
            active={place === at}
            onActive={() => setAt(place)}
            onGo={() => go(row)}
          />
        ))}
      </ul>
      {active?.kind === "word" ? <p class="ask-word">{active.more}</p> : null}
      <footer class="ask-foot">
        <span class="ask-key">
          <kbd>↵</kbd> go
        </span>
        {filter ? (
          <button type="button" class="link" disabled={!text.trim()} onClick={filterHere}>
            <kbd>Alt ↵</kbd> filter this page
          </button>
        ) : null}
        <span class="ask-key">
          <kbd>Esc</kbd> close
        </span>
        <span class="ask-over">{rows.length ? data?.over : ""}</span>
      </footer>
    </Dialog>
  );
}

interface OptionProps {
  id: string;
  row: Row;
  question: string;
  /** A group of rows begins with it. */
  begins: boolean;
  active: boolean;
  onActive: () => void;
  onGo: () => void;
}

function Option({ id, row, question, begins, active, onActive, onGo }: OptionProps) {
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (active) item.current?.scrollIntoView({ block: "nearest" });
  }, [active]);
  const name = piecesOf(row.label, question).map((piece, place) =>
    place % 2 ? <mark key={place}>{piece}</mark> : piece,
  );
  return (
    <li
      ref={item}
      id={id}
      class={begins ? "ask-begins" : undefined}
      role="option"
      aria-selected={active}
      title={isCode(row) ? row.name : undefined}
      // The field keeps the focus.
      onPointerDown={(event) => event.preventDefault()}
      onPointerMove={active ? undefined : onActive}
      onClick={onGo}
    >
      <span class="ask-kind">{kindName(row.kind)}</span>
      <span class="ask-name">
        {isCode(row) ? <code>{name}</code> : name} <small>{moreOf(row)}</small>
      </span>
      <span class="number">{figureOf(row)}</span>
    </li>
  );
}

function useRested(text: string): string {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
}
