import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Parameters, served } from "../../api/client";
import type { Evidence, Finding } from "../../api/types.gen";
import { formatAbout, formatCount, formatShare, formatTime, MINUS } from "../../base/units";
import { useResource } from "../../state/resource";
import { CodeBlock, Icon, ShareBar, Term, unbroken } from "../../widgets";
import { stepTitle } from "../critical_path/model";
import { TwoSteps } from "../critical_path/two_steps";
import { certaintyOf, gainText, lineParts, nowAndThen, ranked } from "./model";

/** Steps beyond which words alone say in which of them. */
const CELLS = 24;

/** Share of a step by which two savings that are one may differ. */
const AGREES = 0.02;

/** Where the links of a finding lead. */
export interface Links {
  timeline: (evidence: Evidence) => string;
  /** The command that compares the next recording with this one. */
  verify: string;
  whatIf: (finding: Finding) => string;
  /** The question that simulates its change; null where the change has no name. */
  simulated: (finding: Finding) => Parameters["what_if"] | null;
}

interface FindingListProps {
  findings: readonly Finding[];
  links: Links;
  /** The steps in their order, and whether each counts; for the cells. */
  steps?: readonly { step: number; counts: boolean }[];
}

export function FindingList({ findings, links, steps = [] }: FindingListProps) {
  const most = Math.max(1, ...findings.map(({ recoverable_ns }) => recoverable_ns ?? 0));
  return (
    <ol class="findings">
      {findings.map((finding) => (
        // Of one rule there may be several with the same title, of a rank each.
        <li key={`${finding.rule} ${finding.sentence}`} class="finding">
          <OneFinding {...{ finding, steps, most, links }} />
        </li>
      ))}
    </ol>
  );
}

interface OneFindingProps extends Omit<Required<FindingListProps>, "findings"> {
  finding: Finding;
  most: number;
}

function OneFinding({ finding, steps, most, links }: OneFindingProps) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <FindingHead finding={finding} steps={steps} most={most} />
      </summary>
      <FindingDetails {...{ finding, links, open }} />
    </details>
  );
}

/** What to do and what it saves; where, by which fact, and how sure. */
function FindingHead(
  props: Required<Pick<FindingListProps, "steps">> & { finding: Finding; most: number },
) {
  const { finding, steps, most } = props;
  const { action, fact, often, line, certainty, recoverable_ns, artefact } = finding;
  const [dots, word] = certainty ? certaintyOf(certainty) : ["", ""];
  return (
    <span class="finding-head">
      <span class="finding-what">
        <h3>{action}</h3>
        {often ? (
          <span class="finding-often">
            <Cells finding={finding} steps={steps} /> {often}
          </span>
        ) : null}
      </span>
      <span class="finding-gain">
        {recoverable_ns === null ? (
          <span class="muted">{artefact ? "profiler overhead" : ""}</span>
        ) : (
          <>
            <strong>{gainText(finding)}</strong>
            <ShareBar size="finding-bar" share={recoverable_ns / most} />
          </>
        )}
      </span>
      <span class="finding-why">
        {line ? <Line line={line} /> : null} {unbroken(fact)}
      </span>
      <span class="finding-sure">
        {certainty ? (
          <>
            <span aria-hidden="true">{dots}</span> {artefact ? "profiler" : word}
          </>
        ) : null}
      </span>
    </span>
  );
}

function Cells({
  finding,
  steps,
}: { finding: Finding } & Required<Pick<FindingListProps, "steps">>) {
  if (steps.length < 2 || steps.length > CELLS) return null;
  return (
    <span class="cells" aria-hidden="true">
      {steps.map(({ step, counts }) => (
        <i key={step} class={finding.steps.includes(step) ? "hit" : counts ? "" : "apart"} />
      ))}
    </span>
  );
}

/** A line as `file.py:12`; its folder and function are in the tooltip. */
export function Line({ line }: { line: string }) {
  return <code title={line}>{lineParts(line).place}</code>;
}

/** The findings that save time; the others folded, but where there is no step that they could save time of: `all`. */
export function RankedFindings({
  children,
  all,
  ...props
}: FindingListProps & { children?: ComponentChildren; all?: boolean }) {
  const { top, rest } = all ? { top: props.findings, rest: [] } : ranked(props.findings);
  return (
    <>
      {top.length ? <FindingList {...props} findings={top} /> : null}
      <div class="findings-foot">
        {rest.length ? (
          <details>
            <summary>
              {formatCount(rest.length)} more
              {rest.every(({ recoverable_ns }) => recoverable_ns === null)
                ? ", which cost no step time"
                : ""}
            </summary>
            <FindingList {...props} findings={rest} />
          </details>
        ) : null}
        {children}
      </div>
    </>
  );
}

interface DetailsProps {
  finding: Finding;
  links: Links;
  open: boolean;
}

function FindingDetails({ finding, links, open }: DetailsProps) {
  const { change, evidence, certainty, share, line } = finding;
  const [first] = evidence;
  return (
    <div class="finding-more">
      <p>
        {unbroken(finding.sentence)}{" "}
        {certainty && share !== null ? (
          <span class="muted">
            <Term id={certainty}>{certaintyOf(certainty)[1]}</Term>, {formatShare(share)} of the{" "}
            {finding.subject ? "job’s " : ""}step
          </span>
        ) : null}
      </p>
      {line ? <code>{line}</code> : null}
      <NowAndThen {...{ finding, links, open }} />
      {finding.attempt ? (
        <p>
          <strong>Try:</strong> {unbroken(finding.attempt)}
        </p>
      ) : null}
      {finding.caveat ? <p class="muted">But: {unbroken(finding.caveat)}</p> : null}
      {finding.edit ? <Edit {...finding} /> : null}
      {share === null || !links.verify ? null : (
        <div class="finding-verify">
          <strong>Verify</strong> with the next recording of this program:
          <CodeBlock code={links.verify} label="Copy the command" />
        </div>
      )}
      <p class="wrap">
        {change ? <a href={links.whatIf(finding)}>What if …</a> : null}
        {first ? <a href={links.timeline(first)}>On the timeline</a> : null}
        <WebLinks finding={finding} />
      </p>
    </div>
  );
}

/** The step as recorded and as simulated, on one axis; what is saved is hatched. Bars, where the lanes of the simulated step are not known. */
function NowAndThen({ finding, links, open }: DetailsProps) {
  const question = open && served ? links.simulated(finding) : null;
  const { data } = useResource(question && "what_if", question);
  const { device = "", drawn = [] } = data?.prediction ?? {};
  const [before, after] = drawn;
  const told = nowAndThen(finding);
  if (!told) return null;
  const share = `${(100 * told.then) / told.now}%`;
  const simulated = `simulated${told.range ? `; such changes leave ${told.range}` : ""}`;
  const [now = 0, then = 0] = drawn.map(({ start_ns, end_ns }) => end_ns - start_ns);
  // A change that does more than the finding says saves something else.
  const agrees = Math.abs(now - then - (told.now - told.then)) <= AGREES * now;
  if (before && after && agrees) {
    return (
      <div>
        <TwoSteps
          steps={[before, after]}
          names={["now", "then"]}
          lengths={[formatTime(now), `about ${formatAbout(then)}`]}
          device={device}
          difference={`${MINUS}${formatAbout(now - then)}`}
        />
        <small class="muted">
          {stepTitle(before.name)}, {simulated}
        </small>
      </div>
    );
  }
  return (
    <div class="now-then">
      <span>now</span>
      <div class="fall-track">
        <i class="fall-bar" style={{ width: "100%" }} />
      </div>
      <b class="number">{formatTime(told.now)}</b>
      <span>then</span>
      <div class="fall-track">
        <i class="fall-bar" style={{ width: share }} />
        <i class="fall-bar fall-gained" style={{ left: share, right: 0 }} />
      </div>
      <b class="number">about {formatAbout(told.then)}</b>
      <small class="muted">{simulated}</small>
    </div>
  );
}

function Edit({ edit, line }: Finding) {
  return (
    <div>
      <strong>The edit</strong>{" "}
      <span class="muted">
        a pattern{line ? `; the call is at ${lineParts(line).place}` : ", no line of this program"}
      </span>
      <pre class="edit" tabIndex={0}>
        {edit.split("\n").map((text) => (
          <span key={text} class={`edit${text.startsWith("+") ? "-after" : "-before"}`}>
            {text}
          </span>
        ))}
      </pre>
    </div>
  );
}

/** Only addresses of the web become links. */
function WebLinks({ finding }: { finding: Finding }) {
  return (
    <>
      {finding.links
        .filter((link) => /^https?:\/\//i.test(link.url))
        .map((link) => (
          <a key={link.url} href={link.url} target="_blank" rel="noopener noreferrer">
            {link.text} <Icon name="external" size={12} />
          </a>
        ))}
    </>
  );
}

/** What could not be judged, and why. */
export function Unsure({ reasons }: { reasons: readonly string[] }) {
  if (!reasons.length) return null;
  return (
    <details>
      <summary>
        {reasons.length === 1 ? "1 check" : `${reasons.length} checks`} could not be made
      </summary>
      <ul class="unsure">
        {reasons.map((reason) => (
          <li key={reason}>{unbroken(reason)}</li>
        ))}
      </ul>
    </details>
  );
}
