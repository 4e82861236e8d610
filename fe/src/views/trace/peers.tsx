/** The same collective on the other workers of the run. */

import type { JSX } from "preact";
import type { CollectivePeer, EventPayload, EventRef } from "../../api/types.gen";
import { formatExactTime, formatTime } from "../../base/units";
import { useResource } from "../../state/resource";
import { Term } from "../../widgets";
import type { Recording } from "./recordings";

const COMMUNICATION = 13;
/** Host events that a collective may be known by, where it left no kernel. */
const HOST_NAMES = /^(nccl:|gloo:|c10d::|record_param_comms)/;

interface PeersProps {
  recordings: readonly Recording[];
  recording: Recording;
  payload: EventPayload;
  go: (source: number, ref: EventRef) => void;
}

export function CollectivePeers({ recordings, recording, payload, go }: PeersProps): JSX.Element | null {
  const { ref } = payload;
  const wanted = ref.look === COMMUNICATION || HOST_NAMES.test(ref.name);
  const resource = useResource(wanted ? "trace/collective" : null, { ...recording.query, event: String(ref.event) });
  const peers = wanted ? (resource.data?.peers ?? []) : [];
  if (peers.length < 2) return null;
  return (
    <section class="details-section">
      <h3>
        <Term id="collective_peers">On all workers</Term>
      </h3>
      <ul class="refs">
        {peers.map((peer) => (
          <li key={`${peer.worker} ${peer.span}`}>
            <Peer peer={peer} recordings={recordings} go={go} current={peer.worker === recording.query.worker && peer.ref.event === ref.event} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface PeerProps {
  peer: CollectivePeer;
  recordings: readonly Recording[];
  go: PeersProps["go"];
  current: boolean;
}

/** A button where the worker is drawn, else a link to its own page. */
function Peer({ peer, recordings, go, current }: PeerProps): JSX.Element {
  const source = recordings.findIndex(({ query }) => query.worker === peer.worker && query.span === peer.span);
  const content = (
    <>
      <span class="ref-name">{peer.worker}</span>
      <span class="number" title={formatExactTime(peer.ref.dur_ns)}>
        {formatTime(peer.ref.dur_ns)}
      </span>
    </>
  );
  if (source >= 0) {
    return (
      <button type="button" class="ref" aria-current={current ? "true" : undefined} onClick={() => go(source, peer.ref)}>
        {content}
      </button>
    );
  }
  return (
    <span class="ref" title="Not drawn: choose “All of the run” under Workers to see it beside the others.">
      {content}
    </span>
  );
}
