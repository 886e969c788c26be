/** Whether visitors of websites can use this server's address. */

/** `loopback`: only this machine reaches it. `plain`: pages with https load nothing from it. Null: nothing is wrong. */
export function judgeAddress(baseUrl: string): "loopback" | "plain" | null {
  const { hostname, protocol } = new URL(baseUrl);
  if (/^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) return "loopback";
  return protocol === "https:" ? null : "plain";
}
