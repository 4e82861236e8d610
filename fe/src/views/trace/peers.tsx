import { onAxis } from "../../timeline/clock";
import type { CollectivePeer, EventPayload, EventRef } from "../../api/types.gen";
import { useResource } from "../../state/resource";
import type { Arrow } from "../../timeline/types";
import { Section, timeCell } from "./fact";
import { type Recording } from "./recordings";

const NOBODY: readonly CollectivePeer[] = [];
const COMMUNICATION = 13;
/** Host events that a collective may be known by, where it left no kernel. */
const HOST_NAMES = /^(nccl:|gloo:|c10d::|record_param_comms)/;

/** The collective of the selected event on every worker; none where it is no collective or nobody shares it. */
export function usePeers(
  recording: Recording | null,
  payload: EventPayload | null,
): readonly CollectivePeer[] {
  const { look, name } = payload?.ref ?? { look: -1, name: "" };
  const wanted = recording !== null && (look === COMMUNICATION || HOST_NAMES.test(name));
  const resource = useResource(
    "trace/collective",
    wanted && payload
      ? { ...recording.query, event: String(payload.ref.event), ...chosenRanks(recording) }
      : null,
  );
  const peers = wanted ? (resource.data?.peers ?? NOBODY) : NOBODY;
  return peers.length < 2 ? NOBODY : peers;
}

/** Nobody else is opened for it where ranks are chosen. */
const chosenRanks = ({ ranks }: Recording): { ranks?: string } => (ranks ? { ranks } : {});

/** From where the selected event begins to where its peers do, as far as they are drawn. */
export function arrowsToPeers(
  peers: readonly CollectivePeer[],
  recordings: readonly Recording[],
  source: number,
  payload: EventPayload,
): Arrow[] {
  const from = {
    source,
    lane: payload.ref.lane,
    time: onAxis(recordings[source] ?? { offset: 0 }, payload.ref.start_ns),
  };
  return peers.flatMap((peer): Arrow[] => {
    const place = sourceOf(peer, recordings);
    const at = recordings[place];
    if (place === source || !at || peer.ref.lane < 0) return [];
    return [
      {
        source: from,
        target: { source: place, lane: peer.ref.lane, time: onAxis(at, peer.ref.start_ns) },
        strong: true,
      },
    ];
  });
}

/** −1 where its worker is not drawn. */
const sourceOf = (peer: CollectivePeer, recordings: readonly Recording[]): number =>
  recordings.findIndex(({ query }) => query.worker === peer.worker && query.span === peer.span);

interface PeersProps {
  recordings: readonly Recording[];
  recording: Recording;
  payload: EventPayload;
  peers: readonly CollectivePeer[];
  go: (source: number, ref: EventRef) => void;
}

export function CollectivePeers({ recordings, recording, payload, peers, go }: PeersProps) {
  if (peers.length === 0) return null;
  return (
    <Section title="On all workers" term="collective_peers">
      <ul class="refs">
        {peers.map((peer) => {
          const { worker, span, ref } = peer;
          const source = sourceOf(peer, recordings);
          const current = worker === recording.query.worker && ref.event === payload.ref.event;
          const content = (
            <>
              <span class="ref-name">{worker}</span>
              {timeCell(ref.dur_ns)}
            </>
          );
          return (
            <li key={`${worker} ${span}`}>
              {source < 0 ? (
                <span class="ref" title="Not shown: choose “All of the run” under Workers.">
                  {content}
                </span>
              ) : (
                <button
                  type="button"
                  class="ref"
                  aria-current={current ? "true" : undefined}
                  onClick={() => go(source, ref)}
                >
                  {content}
                </button>
              )}
            </li>
          );
        })}
      </ul>
    </Section>
  );
}
