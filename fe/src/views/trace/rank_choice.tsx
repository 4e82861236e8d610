/** Which ranks of a run the timeline shows: ranges as text, or workers found by name. */

import { useState } from "preact/hooks";
import type { WorkerItem } from "../../api/types.gen";
import { parseRanges, rangesText } from "../../base/ranges";
import { formatCount } from "../../base/units";
import { TextInput } from "../../widgets";

/** More numbers are not read from the address; of more than the server draws it takes the nearest. */
const MOST_RANKS = 4096;
const MOST_MATCHES = 8;

/** `0-7,64` as the address has it, in one form; empty where it says no rank. */
export const ranksOf = (text: string): string => rangesText(parseRanges(text, MOST_RANKS));

/** What of the text is no range, or a range that runs backwards. */
export function wrongPart(text: string): string {
  const parts = text.split(",").map((part) => part.trim());
  return parts.find((part) => part !== "" && !ranksOf(part)) ?? "";
}

/** Workers with a rank whose name holds the text and that are not chosen yet. */
export function matching(
  workers: readonly Pick<WorkerItem, "name" | "rank">[],
  text: string,
  chosen: string,
): { name: string; rank: number }[] {
  const wanted = text.trim().toLowerCase();
  const have = new Set(parseRanges(chosen, MOST_RANKS));
  return workers.flatMap(({ name, rank }) =>
    wanted && rank !== null && !have.has(rank) && name.toLowerCase().includes(wanted)
      ? [{ name, rank }]
      : [],
  );
}

interface RankChoiceProps {
  ranks: string;
  workers: readonly Pick<WorkerItem, "name" | "rank">[];
  onRanks: (ranks: string) => void;
}

export function RankChoice({ ranks, workers, onRanks }: RankChoiceProps) {
  const [text, setText] = useState(ranks.replace(/,/g, ", "));
  const [name, setName] = useState("");
  const wrong = wrongPart(text);
  const found = matching(workers, name, ranks);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (!wrong && ranksOf(text)) onRanks(ranksOf(text));
  };
  return (
    <form class="rank-choice" onSubmit={submit}>
      <label>
        Ranks
        <TextInput
          value={text}
          placeholder="0-7, 64, 128"
          aria-invalid={wrong ? true : undefined}
          onInput={setText}
        />
      </label>
      <button type="submit" class="button button-plain">
        Show
      </button>
      {wrong ? (
        <p class="menu-note" role="alert">
          {`“${wrong}” is no rank: write numbers and ranges like 0-7, 64.`}
        </p>
      ) : null}
      <label>
        Add by name
        <TextInput value={name} placeholder="Part of a worker's name" onInput={setName} />
      </label>
      <ul class="rank-matches">
        {found.slice(0, MOST_MATCHES).map((worker) => (
          <li key={worker.name}>
            <button
              type="button"
              class="link"
              onClick={() => onRanks(ranksOf(`${ranks},${worker.rank}`))}
            >
              {`Add ${worker.name} (rank ${worker.rank})`}
            </button>
          </li>
        ))}
        {found.length > MOST_MATCHES ? (
          <li class="muted">{`${formatCount(found.length - MOST_MATCHES)} more`}</li>
        ) : null}
      </ul>
    </form>
  );
}
