import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Evidence, Finding } from "../../api/types.gen";
import { useId } from "../../base/id";
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

/** Of all findings of a page the three that matter most; the others folded: what saves less, what only theory promises, what costs no time. */
export function RankedFindings({
  findings,
  links,
  children,
}: FindingListProps & { children?: ComponentChildren }) {
  const { top, rest } = ranked(findings);
  const [first] = rest;
  return (
    <>
      {top.length ? <FindingList findings={top} links={links} /> : null}
      <div class="findings-foot">
        {first ? (
          <details class="findings-rest">
            <summary>
              {formatCount(rest.length)} more
              {rest.every(({ certainty }) => certainty === "theoretical")
                ? ", theoretical"
                : ""}: {first.title}, {gainText(first)}
              {rest.length > 1 ? " …" : ""}
            </summary>
            <FindingList findings={rest} links={links} />
          </details>
        ) : null}
        {children}
      </div>
    </>
  );
}

const TONES = { certain: "good", likely: "info", theoretical: "neutral" } as const;

function FindingItem({ finding, links }: { finding: Finding; links: Links }) {
  const { certainty, change, evidence } = finding;
  const [first] = evidence;
  const [open, setOpen] = useState(false);
  const more = useId("finding");
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
          <p class={open ? "" : "finding-short"}>{finding.sentence}</p>
        </div>
        <Gain finding={finding} />
        <p class="finding-links">
          {change ? <a href={links.whatIf(change)}>what-if</a> : null}
          {first ? <a href={links.timeline(first)}>timeline</a> : null}
          <button
            type="button"
            class="finding-open"
            aria-expanded={open}
            aria-controls={open ? more : undefined}
            title="What to try, and when this is wrong"
            onClick={() => setOpen(!open)}
          >
            what to try
          </button>
        </p>
      </div>
      {open ? (
        <div id={more}>
          <FindingDetails finding={finding} links={links} />
        </div>
      ) : null}
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
