import type { Evidence, Finding } from "../../api/types.gen";
import { formatCount, formatTime } from "../../base/units";
import { Badge, CopyButton, Icon, Term } from "../../widgets";
import { figureText, gainText } from "./model";

const SHOWN = 4;

export type EvidenceHref = (evidence: Evidence) => string;

interface FindingListProps {
  findings: readonly Finding[];
  hrefOf: EvidenceHref;
}

export function FindingList({ findings, hrefOf }: FindingListProps) {
  return (
    <ol class="findings">
      {findings.map((finding) => (
        // Of one rule there may be several with the same title, of a rank each.
        <li
          key={`${finding.rule} ${finding.sentence}`}
          class={finding.artefact ? "finding finding-artefact" : "finding"}
        >
          <FindingItem finding={finding} hrefOf={hrefOf} />
        </li>
      ))}
    </ol>
  );
}

function FindingItem({ finding, hrefOf }: { finding: Finding; hrefOf: EvidenceHref }) {
  return (
    <article>
      <div class="finding-head">
        <h3>
          {finding.title}{" "}
          {finding.artefact ? (
            <Badge title="A cost of recording; a run without the profiler does not have it.">
              profiler
            </Badge>
          ) : null}
        </h3>
        <Gain finding={finding} />
      </div>
      <p>{finding.sentence}</p>
      {finding.numbers.length ? (
        <ul class="finding-numbers">
          {finding.numbers.map((figure) => (
            <li key={figure.label}>
              {figure.label}: <strong class="number">{figureText(figure)}</strong>
            </li>
          ))}
        </ul>
      ) : null}
      {finding.attempt ? (
        <p>
          <strong>Try:</strong> {finding.attempt}
        </p>
      ) : null}
      {finding.caveat ? <p class="caveat">Caveat: {finding.caveat}</p> : null}
      {finding.line ? (
        <p class="finding-line">
          <code>{finding.line}</code>{" "}
          <CopyButton text={finding.line} label="Copy the source line" />
        </p>
      ) : null}
      <EvidenceLinks finding={finding} hrefOf={hrefOf} />
      <WebLinks finding={finding} />
    </article>
  );
}

function Gain({ finding }: { finding: Finding }) {
  const { share } = finding;
  return (
    <p class="finding-gain">
      <Term id="recoverable">{gainText(finding)}</Term>
      {share === null ? null : (
        <span class="meter" aria-hidden="true">
          <span style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }} />
        </span>
      )}
    </p>
  );
}

function EvidenceLinks({ finding, hrefOf }: { finding: Finding; hrefOf: EvidenceHref }) {
  const { evidence, evidence_count: count } = finding;
  if (!evidence.length) return null;
  const item = (one: Evidence, place: number) => (
    <li key={place}>
      <a href={hrefOf(one)} title={`${one.label}: show it on the timeline`}>
        <span class="number">{formatTime(one.dur_ns)}</span> {one.label}
      </a>
    </li>
  );
  const rest = evidence.slice(SHOWN);
  return (
    <div class="finding-evidence">
      <span class="muted">
        {count > evidence.length
          ? `The largest ${evidence.length} of ${formatCount(count)} events on the timeline:`
          : "On the timeline:"}
      </span>
      <ul>{evidence.slice(0, SHOWN).map(item)}</ul>
      {rest.length ? (
        <details>
          <summary>{formatCount(rest.length)} more</summary>
          <ul>{rest.map(item)}</ul>
        </details>
      ) : null}
    </div>
  );
}

/** Only addresses of the web become links. */
function WebLinks({ finding }: { finding: Finding }) {
  const links = finding.links.filter((link) => /^https?:\/\//i.test(link.url));
  if (!links.length) return null;
  return (
    <p class="links">
      {links.map((link) => (
        <a key={link.url} href={link.url} target="_blank" rel="noopener noreferrer">
          {link.text} <Icon name="external" size={12} />
        </a>
      ))}
    </p>
  );
}

export function NothingFound({ children }: { children: string }) {
  return (
    <p class="all-good">
      <Icon name="check" /> {children}
    </p>
  );
}

/** What could not be judged, and why. */
export function Unsure({ reasons }: { reasons: readonly string[] }) {
  if (!reasons.length) return null;
  return (
    <details class="unsure">
      <summary>
        {reasons.length === 1 ? "1 check" : `${reasons.length} checks`} could not be made
      </summary>
      <ul>
        {reasons.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
    </details>
  );
}
