import { expect, test } from "vitest";
import { embeddedFetch, keyOf, readReport } from "./embedded_report";

const BASE = new URL("file:///somewhere/");

test("a key is the route and the query in order, as Python writes it", () => {
  const url = new URL("callers?worker=w0&run=a%20%C3%A9&name=x", BASE);
  expect(keyOf(url, BASE)).toBe('["callers",["name","x"],["run","a é"],["worker","w0"]]');
});

test("what was kept is answered", async () => {
  const report = { about: "Elsewhere.", answers: { '["steps",["run","r"]]': { steps: [] } } };
  const answer = await embeddedFetch(report, BASE)("file:///somewhere/steps?run=r");
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({ steps: [] });
});

test("what was not kept says where to look", async () => {
  const answer = await embeddedFetch(
    { about: "Elsewhere.", answers: {} },
    BASE,
  )("file:///somewhere/trace");
  expect(answer.status).toBe(404);
  expect(await answer.json()).toEqual({
    error: { code: "not_in_report", message: "Not part of this report", hint: "Elsewhere." },
  });
});

test("a packed report is read", async () => {
  const report = { about: "µ", answers: { a: [1] } };
  const packed = new Blob([JSON.stringify(report)])
    .stream()
    .pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  expect(await readReport(btoa(String.fromCharCode(...bytes)))).toEqual(report);
});
