/** A website on loopback, whose pages tests change, and which counts its requests. */

export interface WebPage {
  body: string;
  type?: string;
  status?: number;
  etag?: string;
}

export interface Website extends AsyncDisposable {
  readonly url: string;
  /** By path. What is not here is 404. */
  readonly pages: Map<string, WebPage>;
  /** Paths that were asked for, in order, with the status of the answer. */
  readonly requests: { path: string; status: number }[];
}

export function startWebsite(pages: Readonly<Record<string, WebPage>> = {}): Website {
  const shown = new Map(Object.entries(pages));
  const requests: { path: string; status: number }[] = [];

  function answer(request: Request): Response {
    const page = shown.get(new URL(request.url).pathname);
    if (page === undefined) return new Response("no such page", { status: 404 });
    const headers = { "content-type": page.type ?? "text/html; charset=utf-8", ...(page.etag && { etag: page.etag }) };
    const isKnown = page.etag !== undefined && request.headers.get("if-none-match") === page.etag;
    if (isKnown) return new Response(null, { status: 304, headers });
    return new Response(page.body, { status: page.status ?? 200, headers });
  }

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const response = answer(request);
      requests.push({ path: new URL(request.url).pathname, status: response.status });
      return response;
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    pages: shown,
    requests,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/** A page with a heading and a paragraph, long enough to count as an article. */
export function articleOf(title: string, text: string): string {
  return `<!doctype html><html lang="en"><head><title>${title}</title></head><body><main><article><h1>${title}</h1><p>${text}</p></article></main></body></html>`;
}

export function sitemapOf(urls: readonly string[]): WebPage {
  const entries = urls.map((url) => `<url><loc>${url}</loc></url>`).join("");
  const body = `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries}</urlset>`;
  return { body, type: "application/xml" };
}
