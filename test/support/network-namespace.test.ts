/** The network of its own loses packets without a word, and has them again afterwards. */
import { afterAll, expect, test } from "bun:test";
import { inTime } from "./eventually.ts";
import { readLines } from "./line-process.ts";
import { openNetworkNamespace } from "./network-namespace.ts";
import { connectRaw } from "./raw-visitor.ts";

const network = await openNetworkNamespace();
afterAll(() => network?.[Symbol.asyncDispose]());

test.skipIf(network === null)(
  "loses what is sent while the line is cut, on both sides, and passes it on afterwards",
  async () => {
    if (network === null) throw new Error("skipped");
    const script = `
    Bun.listen({ hostname: "${network.cuttable.there}", port: 4000, socket: { data: (socket, bytes) => socket.write(bytes) } });
    console.log("listening");`;
    await using echo = Bun.spawn([...network.enter, process.execPath, "-e", script], { stdout: "pipe" });
    await readLines(echo.stdout).next();
    const visitor = await connectRaw(`http://${network.cuttable.there}:4000`);
    visitor.write("before ");
    await visitor.until((received) => received === "before ");
    await network.cut();
    visitor.write("meanwhile");
    const isRefused = connectRaw(`http://${network.cuttable.there}:4000`);
    await expect(inTime(isRefused, { what: "a connection", withinMs: 1_000 })).rejects.toThrow("in vain");
    expect(visitor.received).toBe("before ");
    expect(visitor.isClosed).toBe(false);
    await network.mend();
    expect(await visitor.until((received) => received.includes("meanwhile"))).toBe("before meanwhile");
    (await isRefused).vanish();
    visitor.vanish();
  },
);
