/**
 * Answers that were asked before: a report is the page with them instead of a server.
 *
 * `torch-tb-profiler report` writes them as `{"answers": {key: payload}, "about": text}`, gzip and base64, into the element `report`;
 * the key is the JSON of the route followed by the query's entries in order.
 */

export interface Report {
  about: string;
  /** What is shown first where the address does not say: `view=kernel&steps=2`. */
  page?: string;
  answers: Readonly<Record<string, unknown>>;
}

export async function readReport(packed: string): Promise<Report> {
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text()) as Report;
}

export function keyOf(url: URL, base: URL): string {
  const route = decodeURIComponent(url.pathname.slice(base.pathname.length));
  return JSON.stringify([
    route,
    ...[...url.searchParams].sort(([a], [b]) => (a < b ? -1 : Number(a > b))),
  ]);
}

/** Answers as the server would. What was not kept is an error that says where to look for it. */
export function embeddedFetch(report: Report, base: URL): (url: string) => Promise<Response> {
  return (url) => {
    const payload = report.answers[keyOf(new URL(url), base)];
    const known = payload !== undefined;
    const body = known
      ? payload
      : {
          error: { code: "not_in_report", message: "Not part of this report", hint: report.about },
        };
    return Promise.resolve(
      new Response(JSON.stringify(body), {
        status: known ? 200 : 404,
        headers: { "Content-Type": "application/json" },
      }),
    );
  };
}
