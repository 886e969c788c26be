/** S3 on loopback, in the test's process: s3rver, with its objects in a directory of its own. */
import { mkdirSync, rmSync, statSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import S3rver from "s3rver";
import type { StorageLocation } from "../../src/contracts/backup-storage.ts";
import { eventually } from "./eventually.ts";
import { findSignatureFault } from "./s3-signatures.ts";
import { temporaryDirectory } from "./temporary.ts";

/** It knows one access key, and no signatures of today's: those are checked before it gets a request. */
const key = "S3RVER";

export interface TestS3 extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Each as `PUT /bucket/name?…`. */
  readonly requests: readonly string[];
  /** Called immediately for each request, before its answer. */
  onRequest: ((line: string) => void) | null;
  /** That came with requests. */
  readonly sessionTokens: readonly string[];
  /** Its only bucket, empty. */
  readonly place: StorageLocation;
  /** What a command needs to use it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where its bucket's objects and parts are: names that are not whole names of objects. */
  readonly directory: string;
}

export async function startS3(place: Partial<StorageLocation> = {}): Promise<TestS3> {
  const dir = temporaryDirectory();
  mkdirSync(dir.file("objects"));
  const server = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory: dir.file("objects"),
    vhostBuckets: false,
    configureBuckets: [{ name: "backups" }],
  });
  finishWriting(server);
  const { port } = await server.run();
  const requests: string[] = [];
  const { httpServer } = server;
  const sessionTokens: string[] = [];
  const serve = httpServer.listeners("request");
  httpServer.removeAllListeners("request");
  httpServer.on("request", (request, response) => {
    const { method, url, headers } = request;
    requests.push(`${method} ${url}`);
    started.onRequest?.(`${method} ${url}`);
    const token = headers["x-amz-security-token"];
    if (token !== undefined) sessionTokens.push(String(token));
    if (isSigned(request)) for (const listener of serve) listener(request, response);
    else response.writeHead(403).end("<Error><Code>SignatureDoesNotMatch</Code></Error>");
  });
  const url = `http://127.0.0.1:${port}`;
  const whole: StorageLocation = {
    endpoint: url,
    region: null,
    bucket: "backups",
    prefix: "companiond/",
    keyId: key,
    secret: key,
    ...place,
  };
  const started: TestS3 = {
    url,
    onRequest: null,
    port,
    requests,
    sessionTokens,
    place: whole,
    environment: toEnvironment(whole),
    directory: dir.file("objects/backups"),
    async [Symbol.asyncDispose]() {
      httpServer.closeAllConnections();
      await server.close();
      dir[Symbol.dispose]();
    },
  };
  return started;
}

/** Another access key is left to it. */
function isSigned({ method = "", url = "", headers }: IncomingMessage): boolean {
  const arrived = new Map(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  const request = { method, target: url, headers: arrived, body: null };
  const fault = findSignatureFault(request, { keyId: key, secret: key, region: "us-east-1" });
  return fault === null || fault === "key";
}

/** It answers when it has read what it is sent; on a busy machine, the file is still empty then. */
function finishWriting({ store }: S3rver): void {
  const putObject = store.putObject.bind(store);
  store.putObject = async (object) => {
    const file = store.getResourcePath(object.bucket, object.key, "object");
    // Otherwise the one before could pass for this one.
    rmSync(file, { force: true });
    const put = await putObject(object);
    await eventually(() => statSync(file, { throwIfNoEntry: false })?.size === put.size, { what: `writing ${file}` });
    return put;
  };
}

export function toEnvironment({ endpoint, bucket, prefix, keyId, secret }: StorageLocation): Record<string, string> {
  return {
    ...(endpoint === null ? {} : { COMPANIOND_BACKUP_S3_ENDPOINT: endpoint }),
    COMPANIOND_BACKUP_S3_BUCKET: bucket,
    COMPANIOND_BACKUP_S3_PREFIX: prefix,
    COMPANIOND_BACKUP_S3_KEY_ID: keyId,
    COMPANIOND_BACKUP_S3_SECRET: secret,
  };
}
