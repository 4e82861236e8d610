import type { Evidence, Finding } from "../../api/types.gen";
import { formatCount, formatShare, formatTime } from "../../base/units";
import { Badge, CopyButton, Icon, Term } from "../../widgets";
import { figureText, gainText, ranked } from "./model";

const SHOWN = 4;

/** Where the links of a finding lead. */
export interface Links {
  timeline: (evidence: Evidence) => string;
  whatIf: (change: string) => string;
}

interface FindingListProps {
  findings: readonly Finding[];
  links: Links;
}

export function FindingList({ findings, links }: FindingListProps) {
  return (
    <ol class="findings">
      {findings.map((finding) => (
        // Of one rule there may be several with the same title, of a rank each.
        <li
          key={`${finding.rule} ${finding.sentence}`}
          class={finding.artefact ? "finding finding-artefact" : "finding"}
        >
          <FindingItem finding={finding} links={links} />
        </li>
      ))}
    </ol>
  );
}

/** All findings of a page: first what to change, what only theory promises folded, then what costs no time. */
export function RankedFindings({ findings, links }: FindingListProps) {
  const { firm, theoretical, others } = ranked(findings);
  const [first] = theoretical;
  return (
    <>
      {firm.length ? <FindingList findings={firm} links={links} /> : null}
      {first ? (
        <details class="findings-theoretical" open={!firm.length}>
          <summary>
            {formatCount(theoretical.length)}
            {firm.length ? " more" : ""}, theoretical: {first.title}, {gainText(first)}
            {theoretical.length > 1 ? " …" : ""}
          </summary>
          <FindingList findings={theoretical} links={links} />
        </details>
      ) : null}
      {others.length ? <FindingList findings={others} links={links} /> : null}
    </>
  );
}

const TONES = { certain: "good", likely: "info", theoretical: "neutral" } as const;

function FindingItem({ finding, links }: { finding: Finding; links: Links }) {
  const { certainty, change, evidence } = finding;
  const [first] = evidence;
  return (
    <article>
      <div class="finding-head">
        <div>
          <h3>
            {finding.title}{" "}
            {finding.artefact ? (
              <Badge title="A cost of recording; a run without the profiler does not have it.">
                profiler
              </Badge>
            ) : certainty ? (
              <Badge tone={TONES[certainty]}>
                <Term id={certainty}>{certainty}</Term>
              </Badge>
            ) : null}
          </h3>
          <p>{finding.sentence}</p>
        </div>
        <Gain finding={finding} />
        <p class="finding-links">
          {change ? <a href={links.whatIf(change)}>what-if</a> : null}
          {first ? <a href={links.timeline(first)}>timeline</a> : null}
        </p>
      </div>
      <details class="finding-more">
        <summary>What to try, and when this is wrong</summary>
        <FindingDetails finding={finding} links={links} />
      </details>
    </article>
  );
}

function FindingDetails({ finding, links }: { finding: Finding; links: Links }) {
  return (
    <>
      {finding.attempt ? (
        <p>
          <strong>Try:</strong> {finding.attempt}
        </p>
      ) : null}
      {finding.caveat ? <p class="caveat">Caveat: {finding.caveat}</p> : null}
      {finding.numbers.length ? (
        <ul class="finding-numbers">
          {finding.numbers.map((figure) => (
            <li key={figure.label}>
              {figure.label}: <strong class="number">{figureText(figure)}</strong>
            </li>
          ))}
        </ul>
      ) : null}
      {finding.line ? (
        <p class="finding-line">
          <code>{finding.line}</code>{" "}
          <CopyButton text={finding.line} label="Copy the source line" />
        </p>
      ) : null}
      <EvidenceLinks finding={finding} hrefOf={links.timeline} />
      <WebLinks finding={finding} />
    </>
  );
}

function Gain({ finding }: { finding: Finding }) {
  const { recoverable_ns, share } = finding;
  return (
    <p class="finding-gain">
      {recoverable_ns === null ? (
        <span class="muted">costs no step time</span>
      ) : (
        <>
          <Term id="recoverable">−{formatTime(recoverable_ns)}</Term>
          <span class="muted">{formatShare(share)} of a step</span>
        </>
      )}
    </p>
  );
}

function EvidenceLinks({ finding, hrefOf }: { finding: Finding; hrefOf: Links["timeline"] }) {
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
