/** `companiond completion` for zsh and fish, which complete with it themselves. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { commands } from "../../src/cli/commands.ts";
import { runCommand } from "../support/cli.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

const zsh = "/usr/bin/zsh";
const fish = "/usr/bin/fish";
const names = commands.filter((command) => !command.isHidden).map(({ name }) => name);
const common = ["--data-dir", "--env-file", "--json", "--help"];

let dir: TemporaryDirectory;
beforeAll(async () => {
  dir = temporaryDirectory();
  for (const shell of ["zsh", "fish"]) {
    writeFileSync(dir.file(shell), (await runCommand(["completion", shell])).stdout);
  }
  mkdirSync(dir.file("here/sub folder"), { recursive: true });
  for (const name of ["a file.pem", "*"]) writeFileSync(dir.file(`here/${name}`), "");
});
afterAll(() => dir[Symbol.dispose]());

function run(...command: string[]): string[] {
  const done = Bun.spawnSync(command, { cwd: dir.file("here"), env: { HOME: dir.path, LC_ALL: "C.UTF-8" } });
  expect({ command, stderr: done.stderr.toString() }).toEqual({ command, stderr: "" });
  return done.stdout.toString().split("\n").filter(Boolean);
}

/** Types once the line editor reads, and has it print the line as it then stands: there is nothing to wait for. */
const zshDriver = `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "autoload -U compinit; compinit -u -D; PS1='> '; source $1"
zpty -w shell 'show() { print -r -- "<$BUFFER>" }; zle -N show; bindkey "^X" show; bindkey "^I" complete-word'
zpty -w shell 'zle-line-init() { print -r -- rea""dy }; zle -N zle-line-init'
zpty -r -m shell line '*ready*'
for typed in "\${@[2,-1]}"; do
  zpty -w -n shell "$typed"$'\\t\\x18'
  zpty -r -m shell line '*<*>*'
  print -r -- "\${\${line#*<}%>*}"
  zpty -w -n shell $'\\x15'
done
`;

test("zsh completes commands, actions, options and files", () => {
  expect(run(zsh, "-n", dir.file("zsh"))).toEqual([]);
  const lines = {
    "companiond kn": "companiond knowledge ",
    "companiond key rev": "companiond key revoke ",
    "companiond serve --tls-c": "companiond serve --tls-cert=",
    "companiond restore a": "companiond restore a\\ file.pem ",
    "companiond account set-plan ada@example.com p": "companiond account set-plan ada@example.com paid ",
    "companiond key create --scopes keys:read,au": "companiond key create --scopes keys:read,audit:read,",
    "companiond backup s3": "companiond backup s3:",
  };
  const completed = run(zsh, "-f", "-c", zshDriver, "zsh", dir.file("zsh"), ...Object.keys(lines));
  expect(completed).toEqual(Object.values(lines));
});

test("fish completes commands, actions, options and files", () => {
  const complete = (line: string) =>
    run(fish, "--no-config", "-c", `source ${dir.file("fish")}; complete -C '${line}'`).map(
      (one) => one.split("\t")[0],
    );
  expect(run(fish, "--no-execute", dir.file("fish"))).toEqual([]);
  expect(complete("companiond ").sort()).toEqual([...names, "help"].sort());
  expect(complete("companiond key ").sort()).toEqual(["create", "list", "revoke"]);
  expect(complete("companiond key revoke --").sort()).toEqual([...common].sort());
  expect(complete("companiond restore a")).toEqual(["a file.pem"]);
  expect(complete("companiond serve --data-dir ")).toEqual(["sub folder/"]);
  expect(complete("companiond account create --plan ").sort()).toEqual(["free", "paid"]);
  expect(complete("companiond account set-plan --data-dir d ada@example.com p")).toEqual(["paid"]);
  expect(complete("companiond account set-plan p")).toEqual([]);
  expect(complete("companiond key create --scopes keys:read,keys:")).toEqual(["keys:read,keys:write"]);
  expect(complete("companiond key create --scopes=au")).toEqual(["--scopes=audit:read"]);
  expect(complete("companiond backup s3").sort()).toEqual(["s3:"]);
});
