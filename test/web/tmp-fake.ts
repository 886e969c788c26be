import type { Page } from "playwright-core";
const fields = ["name","system_prompt","greeting","theme_color","starters","model","temperature","voice_id","visitor_auth","metadata"];
export async function fake(page: Page, api: any, id: string) {
  const get = async () => (await api.call("GET", `/api/companions/${id}`)).json;
  const versions: any[] = [];
  const snap = async (via: string, note: string | null, changed: string[]) => {
    const c = await get();
    versions.unshift({ number: versions.length + 1, created_at: new Date(Date.now() - 86400000 * (5 - versions.length)).toISOString(), actor: { type: "session", id: "1", name: "ada@shop.example" }, via, note, changed, settings: Object.fromEntries(fields.map((f) => [f, c[f]])), sources: [], tools: [] });
  };
  await snap("api", null, []);
  let draft: any = null, live: any = null, tag = 0;
  const diff = (a: any, b: any) => fields.filter((f) => JSON.stringify(a[f]) !== JSON.stringify(b[f])).map((f) => ({ field: f, from: a[f], to: b[f] }));
  await page.route(`**/api/companions/${id}`, async (route) => {
    if (route.request().method() !== "PATCH") return route.continue();
    const before = await get();
    const response = await route.fetch();
    const body = await response.json();
    const changed = diff(before, body).map(({ field }) => field);
    const note = route.request().headers()["x-change-note"];
    if (changed.length) await snap("dashboard", note ? decodeURIComponent(note) : null, changed);
    await route.fulfill({ response });
  });
  await page.route(`**/api/companions/${id}/versions**`, async (route) => {
    const url = new URL(route.request().url());
    const m = /versions(?:\/(\d+)(\/diff|\/restore)?)?$/.exec(url.pathname)!;
    const find = (n: number) => versions.find((v) => v.number === n);
    if (!m[1]) return route.fulfill({ json: { data: versions.map(({ settings, ...v }) => v), next_cursor: null } });
    const v = find(Number(m[1]));
    if (!m[2]) return route.fulfill({ json: v });
    if (m[2] === "/diff") return route.fulfill({ json: { changes: diff(v.settings, find(Number(url.searchParams.get("to"))).settings) } });
    const note = route.request().headers()["x-change-note"];
    const patch = Object.fromEntries(diff(await get(), v.settings).map(({ field, to }) => [field, to]));
    await api.call("PATCH", `/api/companions/${id}`, patch);
    await snap("restore", note ? decodeURIComponent(note) : null, Object.keys(patch));
    await route.fulfill({ json: { ...(await get()), missing_sources: [{ id: "1", title: "Opening hours" }] } });
  });
  await page.route(`**/api/companions/${id}/draft**`, async (route) => {
    const method = route.request().method();
    const now = await get();
    const whole = () => { const d = { ...now, ...draft }; return { json: { ...d, changed: Object.keys(draft) }, headers: { etag: `"d${tag}"` } }; };
    if (route.request().url().endsWith("/publish")) {
      const over = route.request().postDataJSON().overwrite;
      const conflicts = Object.keys(draft).filter((f) => JSON.stringify(live[f]) !== JSON.stringify(now[f]));
      if (conflicts.length && !over) return route.fulfill({ status: 409, json: { detail: "Changed live", code: "conflict", fields: conflicts } });
      const note = route.request().headers()["x-change-note"];
      await api.call("PATCH", `/api/companions/${id}`, draft);
      await snap("publish", note ? decodeURIComponent(note) : null, Object.keys(draft));
      draft = null;
      return route.fulfill({ json: await get() });
    }
    if (method === "PUT") { draft = route.request().postDataJSON(); live = now; tag++; return route.fulfill(whole()); }
    if (method === "DELETE") { draft = null; return route.fulfill({ status: 204 }); }
    if (!draft) return route.fulfill({ status: 404, json: { detail: "none", code: "not_found" } });
    return route.fulfill(whole());
  });
  await page.route(`**/api/companions/${id}/test-chat`, async (route) => {
    const { draft: d, version, ...body } = route.request().postDataJSON();
    await route.continue({ postData: JSON.stringify(body) });
  });
}
