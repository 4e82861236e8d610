/** A job that records when the command asks it to. */

import type { LiveJob } from "../../api/types.gen";
import { CodeBlock } from "../../widgets";

export function Job({ job }: { job: LiveJob }) {
  return (
    <div class="job">
      <p>{`${job.folder}, ranks ${job.ranks.join(", ")}`}</p>
      <CodeBlock code={job.command} label="Copy the command" />
    </div>
  );
}
