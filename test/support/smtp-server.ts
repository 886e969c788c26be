/** A mail server on loopback: it speaks SMTP well enough for real clients, and misbehaves as it is asked to. */
import { readFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, TLSSocket } from "node:tls";

interface ReceivedMail {
  from: string;
  to: string[];
  /** As it was sent, without the dots of the protocol. */
  text: string;
  /** By the name in lower case, unfolded. */
  headers: ReadonlyMap<string, string>;
  /** What follows the headers, decoded. */
  body: string;
  /** Whether it came through TLS. */
  isEncrypted: boolean;
}

export interface SmtpChoices {
  tls?: "implicit" | "starttls" | "none";
  /** Required where it is given. */
  signIn?: { user: string; password: string };
  methods?: string;
  /** Before anything else is sent; never, where it is null. */
  greetingAfterMs?: number | null;
  greeting?: string;
  /** Accepts connections, and never answers their TLS handshake. */
  isMute?: boolean;
  /** Replies instead of the usual one, by the command; an empty one: nothing is replied. */
  replies?: Partial<Record<"EHLO" | "STARTTLS" | "AUTH" | "MAIL" | "RCPT" | "DATA" | "END", string>>;
}

export interface SmtpServer extends AsyncDisposable {
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
  /** Each line of each client; what is secret in them, too. */
  readonly lines: readonly string[];
  readonly connections: number;
  /** How many of them have ended. */
  readonly closed: number;
  /** Changes hold for what comes next. */
  readonly choices: SmtpChoices;
}

const fixture = (name: string) => readFileSync(`${import.meta.dir}/../fixtures/tls/${name}`, "utf8");
/** For `localhost`, by an authority that no machine trusts by default. */
export const smtpAuthority = fixture("authority.cert.pem");

export async function startSmtpServer(given: SmtpChoices = {}): Promise<SmtpServer> {
  const choices = { ...given };
  const mails: ReceivedMail[] = [];
  const lines: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  let closed = 0;
  const keys = { cert: fixture("issued.cert.pem"), key: fixture("issued.key.pem") };
  const accept = (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on("close", () => {
      sockets.delete(socket);
      closed++;
    });
    socket.on("error", () => {});
  };
  const secured = createTlsServer(keys, (socket) => void converse(socket, session).catch(() => socket.destroy()));
  secured.on("tlsClientError", () => {});
  const session: Session = { choices, mails, lines, securedPort: () => portOf(secured) };
  const begin = (socket: Socket) => void greet(socket, session).catch(() => socket.destroy());
  const isImplicit = choices.tls === "implicit" && choices.isMute !== true;
  const server = isImplicit ? createTlsServer(keys) : createServer();
  server.on("connection", accept);
  server.on("tlsClientError", () => {});
  if (isImplicit) server.on("secureConnection", begin);
  else if (choices.isMute !== true) server.on("connection", begin);
  for (const one of [server, secured]) await new Promise<void>((resolve) => one.listen(0, "127.0.0.1", resolve));
  return {
    port: portOf(server),
    mails,
    lines,
    choices,
    get connections() {
      return connections;
    },
    get closed() {
      return closed;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      for (const one of [server, secured]) await new Promise((resolve) => one.close(resolve));
    },
  };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the mail server has no port");
  return address.port;
}

interface Session {
  choices: SmtpChoices;
  mails: ReceivedMail[];
  lines: string[];
  /** Where the second half of a STARTTLS goes on. */
  securedPort(): number;
}

async function greet(socket: Socket, session: Session): Promise<void> {
  const { greetingAfterMs = 0, greeting = "220 mail.test ESMTP" } = session.choices;
  if (greetingAfterMs === null) return;
  if (greetingAfterMs > 0) await Bun.sleep(greetingAfterMs);
  socket.write(`${greeting}\r\n`);
  await converse(socket, session);
}

async function converse(socket: Socket, session: Session): Promise<void> {
  const { choices, mails, lines } = session;
  const isEncrypted = socket instanceof TLSSocket;
  const reader = readLines(socket);
  const next = async () => {
    const line = await reader.next();
    lines.push(line);
    return line;
  };
  const reply = (name: keyof NonNullable<SmtpChoices["replies"]>, usual: string) => {
    const text = choices.replies?.[name] ?? usual;
    if (text !== "") socket.write(`${text}\r\n`);
    return text === usual;
  };
  let from = "";
  let to: string[] = [];
  let isSignedIn = choices.signIn === undefined;
  for (;;) {
    const line = await next();
    const [command = ""] = line.toUpperCase().split(/[ :]/);
    if (command === "EHLO") {
      const offers = choices.tls === "starttls" && !isEncrypted ? ["STARTTLS"] : [];
      const methods = choices.signIn === undefined ? [] : [`AUTH ${choices.methods ?? "PLAIN LOGIN"}`];
      const all = ["mail.test", ...offers, ...methods, "8BITMIME"];
      reply("EHLO", all.map((one, at) => `250${at === all.length - 1 ? " " : "-"}${one}`).join("\r\n"));
    } else if (command === "STARTTLS") {
      if (choices.tls !== "starttls") {
        reply("STARTTLS", "502 5.5.1 not offered");
      } else if (reply("STARTTLS", "220 go ahead")) {
        reader.stop();
        const inner = connect(session.securedPort(), "127.0.0.1");
        inner.on("error", () => socket.destroy());
        socket.on("close", () => inner.destroy());
        inner.pipe(socket);
        socket.pipe(inner);
        return;
      }
    } else if (command === "AUTH") {
      isSignedIn = await signIn(line, socket, next, choices.signIn);
      reply("AUTH", isSignedIn ? "235 2.7.0 welcome" : "535 5.7.8 not you, alice@example.com");
    } else if (command === "MAIL") {
      if (!isSignedIn) socket.write("530 5.7.0 sign in first\r\n");
      else if (reply("MAIL", "250 ok")) from = addressOf(line);
    } else if (command === "RCPT") {
      if (reply("RCPT", "250 ok")) to = [...to, addressOf(line)];
    } else if (command === "DATA") {
      if (!reply("DATA", "354 go on")) continue;
      const text: string[] = [];
      for (let each = await next(); each !== "."; each = await next()) text.push(each.replace(/^\./, ""));
      const received = { from, to, isEncrypted, ...readMail(text) };
      if (reply("END", "250 2.0.0 kept")) mails.push(received);
      [from, to] = ["", []];
    } else if (command === "QUIT") {
      socket.end("221 bye\r\n");
      return;
    } else {
      socket.write("250 ok\r\n");
    }
  }
}

async function signIn(
  line: string,
  socket: Socket,
  next: () => Promise<string>,
  expected: SmtpChoices["signIn"],
): Promise<boolean> {
  const decode = (text: string) => Buffer.from(text, "base64").toString();
  const [, method = "", initial] = line.split(" ");
  if (method.toUpperCase() === "LOGIN") {
    socket.write(`334 ${btoa("Username:")}\r\n`);
    const user = decode(await next());
    socket.write(`334 ${btoa("Password:")}\r\n`);
    return user === expected?.user && decode(await next()) === expected.password;
  }
  const [, user, password] = decode(initial ?? "").split("\0");
  return user === expected?.user && password === expected?.password;
}

/** Lines as they arrive, until the reader releases the socket. */
function readLines(socket: Socket) {
  const lines: (string | null)[] = [];
  let rest = "";
  let wake = () => {};
  const push = (...more: (string | null)[]) => {
    lines.push(...more);
    wake();
  };
  const take = (piece: Buffer) => {
    const parts = (rest + piece.toString("latin1")).split("\r\n");
    rest = parts.pop() ?? "";
    push(...parts);
  };
  socket.on("data", take);
  socket.on("close", () => push(null));
  return {
    async next(): Promise<string> {
      while (lines.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const line = lines.shift();
      if (line == null) throw new Error("the client has left");
      return line;
    },
    stop: () => void socket.removeListener("data", take),
  };
}

const addressOf = (line: string) => /<([^>]*)>/.exec(line)?.[1] ?? "";

function readMail(lines: readonly string[]): Pick<ReceivedMail, "text" | "headers" | "body"> {
  const text = lines.join("\r\n");
  const end = lines.indexOf("");
  const unfolded = lines
    .slice(0, end)
    .join("\r\n")
    .replace(/\r\n[ \t]+/g, " ")
    .split("\r\n");
  const headers = new Map(
    unfolded.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), decodeWords(line.slice(colon + 1).trim())] as const;
    }),
  );
  const raw = lines.slice(end + 1);
  const coding = headers.get("content-transfer-encoding")?.toLowerCase();
  if (coding === "base64") return { text, headers, body: Buffer.from(raw.join(""), "base64").toString() };
  if (coding === "quoted-printable") return { text, headers, body: fromQuoted(raw.join("\r\n")) };
  return { text, headers, body: raw.join("\n") };
}

function fromQuoted(text: string): string {
  const joined = text.replace(/=\r\n/g, "").replaceAll("\r\n", "\n");
  const bytes = joined.replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString();
}

/** Encoded words (RFC 2047). */
function decodeWords(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, "?==?")
    .replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toLowerCase() === "b" ? Buffer.from(word, "base64").toString() : fromQuoted(word.replaceAll("_", " ")),
    );
}
