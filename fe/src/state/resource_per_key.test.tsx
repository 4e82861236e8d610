import { render, screen, waitFor } from "@testing-library/preact";
import { expect, it, vi } from "vitest";
import { ApiError, fetchColumns, type Parameters } from "../api/client";
import { useResources } from "./resource";

type Query = Parameters["trace/names"];
const ASKED = { run: "a", worker: "b", span: "1", id: "c", level: "0", k: "0" };

function Shown({ queries }: { queries: readonly Partial<Query>[] }) {
  return (
    <>
      {useResources("trace/names", queries as readonly Query[]).map(
        ({ state, data, error }, place) => (
          <p key={place}>
            {`${place} ${state} ${data?.names.join() ?? ""} ${error?.message ?? ""}`.trim()}
          </p>
        ),
      )}
    </>
  );
}

it("has one answer per query, in their order, whichever came first", async () => {
  const waiting: (() => void)[] = [];
  vi.stubGlobal("fetch", (address: string) => {
    const worker = new URL(address).searchParams.get("worker") ?? "";
    const body =
      worker === "bad"
        ? { error: { code: "not_found", message: "No such worker.", hint: "" } }
        : { first: 0, names: [worker] };
    return new Promise((resolve) =>
      waiting.push(() =>
        resolve(new Response(JSON.stringify(body), { status: worker === "bad" ? 404 : 200 })),
      ),
    );
  });
  render(<Shown queries={[{ worker: "a" }, { worker: "bad" }, { worker: "b" }]} />);
  expect(screen.getByText("0 loading")).toBeTruthy();
  [...waiting].reverse().forEach((answer) => answer());
  await waitFor(() =>
    expect(document.body.textContent).toBe("0 ready a1 error  No such worker.2 ready b"),
  );
});

it("asks nothing for no query, and forgets answers that nobody wants any more", async () => {
  const fetched = vi.fn((_: string) =>
    Promise.resolve(new Response(JSON.stringify({ first: 0, names: ["x"] }))),
  );
  vi.stubGlobal("fetch", fetched);
  const { rerender } = render(<Shown queries={[]} />);
  expect(fetched).not.toHaveBeenCalled();
  const one = [{ worker: "a" }];
  rerender(<Shown queries={one} />);
  await waitFor(() => expect(screen.getByText("0 ready x")).toBeTruthy());
  rerender(<Shown queries={[]} />);
  expect(document.body.textContent).toBe("");
});

it("fetchColumns gives bytes, and a reason where there are none", async () => {
  const answer = (body: BodyInit, init: ResponseInit): void =>
    void vi.stubGlobal("fetch", () => Promise.resolve(new Response(body, init)));
  answer(new Uint8Array([1, 2]), { headers: { "Content-Type": "application/octet-stream" } });
  expect([...new Uint8Array(await fetchColumns("trace/tiles", ASKED))]).toEqual([1, 2]);
  answer(
    JSON.stringify({ error: { code: "outdated", message: "The trace changed.", hint: "Reload." } }),
    { status: 409 },
  );
  await expect(fetchColumns("trace/tiles", ASKED)).rejects.toMatchObject({
    code: "outdated",
    hint: "Reload.",
  });
  answer("<html>login</html>", { headers: { "Content-Type": "text/html" } });
  await expect(fetchColumns("trace/tiles", ASKED)).rejects.toBeInstanceOf(ApiError);
});
