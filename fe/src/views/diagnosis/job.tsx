/** A job that records when it is asked to: by a button, with its token, or by the command. */

import { useState } from "preact/hooks";
import { asApiError, askToRecord } from "../../api/client";
import type { LiveJob, RecordPayload } from "../../api/types.gen";
import { parseRanges } from "../../base/ranges";
import { formatCount } from "../../base/units";
import { CodeBlock, TextInput } from "../../widgets";

const MOST_RANKS = 4096;

/** What became of the newest question; without a text it is on its way. */
interface News {
  text: string;
  refused?: boolean;
}

export function Job({ job }: { job: LiveJob }) {
  const [steps, setSteps] = useState("5");
  const [ranks, setRanks] = useState("");
  const [token, setToken] = useState("");
  const [news, setNews] = useState<News | null>(null);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setNews({ text: "" });
    // Without a readable rank the list is empty, which is refused: it must not become all of them.
    const chosen = ranks.trim() ? parseRanges(ranks, MOST_RANKS) : null;
    try {
      const planned = await askToRecord({
        folder: job.folder,
        steps: Number(steps),
        ranks: chosen,
        token,
      });
      setNews({ text: plannedText(planned) });
    } catch (thrown) {
      const { message, hint } = asApiError(thrown);
      setNews({ text: `${message} ${hint}`, refused: true });
    }
  };
  return (
    <div class="job">
      <p>{`${job.folder}, ranks ${job.ranks.join(", ")}`}</p>
      <form class="job-form" onSubmit={(event) => void submit(event)}>
        <label>
          Steps
          <input
            class="text-input"
            type="number"
            min={1}
            max={1000}
            required
            value={steps}
            onInput={(event) => setSteps(event.currentTarget.value)}
          />
        </label>
        <label>
          Ranks
          <TextInput
            value={ranks}
            placeholder="all"
            pattern="[0-9, \\-]*"
            title="Numbers and ranges like 0-7, 64; empty: all"
            onInput={setRanks}
          />
        </label>
        <label>
          Token
          <input
            class="text-input"
            type="password"
            autocomplete="off"
            required
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="button button-primary" disabled={news?.text === ""}>
          Record
        </button>
      </form>
      {news?.text ? <p role={news.refused ? "alert" : "status"}>{news.text}</p> : null}
      <p class="muted">
        {`The token is the one given to listen(); without one, it is in ${job.folder}/.live/token, where this command finds it:`}
      </p>
      <CodeBlock code={job.command} label="Copy the command" />
    </div>
  );
}

/** `Steps 47 to 51 are recorded on 2 of 3 ranks. Rank 2: it does not answer.` */
export function plannedText({ at_step, steps, ranks }: RecordPayload): string {
  const bad = ranks.filter((rank) => rank.problem);
  const which =
    steps === 1 ? `Step ${at_step} is` : `Steps ${at_step} to ${at_step + steps - 1} are`;
  const of = `${formatCount(ranks.length - bad.length)} of ${formatCount(ranks.length)}`;
  return [
    `${which} recorded on ${of} ${ranks.length === 1 ? "rank" : "ranks"}.`,
    ...bad.map((rank) => `Rank ${rank.rank}: ${rank.problem}`),
  ].join(" ");
}
