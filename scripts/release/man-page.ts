/** The manual page, in mdoc, from the same declarations as the help. */
import { commonOptions } from "../../src/cli/arguments.ts";
import type { Action, Command, Operand, OptionSpec, Value } from "../../src/cli/command.ts";
import type { Setting } from "../../src/config/setting.ts";
import { allSettings } from "../../src/config/settings.ts";

export function renderManPage(commands: readonly Command[], version: string, builtAt: Date): string {
  const date = builtAt.toLocaleDateString("en-US", { dateStyle: "long", timeZone: "UTC" });
  return `.Dd ${date}
.Dt COMPANIOND 1
.Os companiond ${version}
.Sh NAME
.Nm companiond
.Nd host conversational companions
.Sh SYNOPSIS
.Nm
.Ar command
.Op Ar action
.Op Ar options
.Op Ar operands
.Nm
.Cm help
.Op Ar command Op Ar action
.Sh DESCRIPTION
.Nm
is a server for conversational companions: streamed text chat and voice
sessions for websites, a management API for platforms, and a dashboard for site
owners.
The command
.Cm serve
runs it.
The other commands work beside a running server, as the same user; root works as
the owner of the data directory.
.Sh COMMANDS
.Bl -tag -width Ds
${commands.flatMap((command) => command.actions.map((action) => describeAction(command, action))).join("\n")}
.El
.Sh OPTIONS
Every command takes these.
${describeOptions(commonOptions)}
.Sh ENVIRONMENT
Flags take precedence over the environment, and the environment over the file of
.Fl -env-file .
All are optional.
A name with
.Ql _FILE
stands for a file that contains the value.
.Bl -tag -width Ds
${allSettings.map(describeSetting).join("\n")}
.El
.Sh FILES
.Bl -tag -width Ds
.It Pa ./companiond-data
All durable data, unless
.Fl -data-dir
says otherwise.
.It Pa /etc/companiond/companiond.env
Settings of the service, where a package installed it; root's alone.
.It Pa /var/lib/companiond
The data of that service.
.El
.Sh EXIT STATUS
.Bl -tag -width Ds -compact
.It 0
Success.
.It 1
Failure; standard error says why, or the log of
.Cm serve
where it is JSON.
.It 2
Wrong use of the command line, or a configuration that cannot be used.
.El
.Sh SIGNALS
.Bl -tag -width Ds
.It Dv SIGTERM , SIGINT
The server accepts no more connections, gives open replies 30 seconds to finish,
and ends.
A second signal ends it at once.
.It Dv SIGHUP
The server loads its certificate again; without one, nothing changes.
At a terminal and without a certificate, it ends.
.El
.Sh EXAMPLES
Try it, with a companion to talk to:
.Pp
.Dl companiond serve --demo
.Pp
Create an account, for a server that runs as a service from a package:
.Bd -literal -offset indent
sudo companiond account create --email you@example.com \\e
    --env-file /etc/companiond/companiond.env
.Ed
.Pp
Look for what is wrong:
.Pp
.Dl companiond doctor --env-file companiond.env
.Sh SEE ALSO
.Xr openssl 1 ,
.Xr systemctl 1
`;
}

function describeAction(command: Command, action: Action): string {
  const required = Object.entries(action.options ?? {}).filter(([, spec]) => spec.isRequired);
  const usage = [
    ...[command.name, action.name].filter((word) => word !== "").map((word) => `Cm ${argument(word)}`),
    ...required.map(([name, spec]) => writeOption(name, spec)),
    ...(action.operands ?? []).map(writeOperand),
  ];
  const parts = [`.It ${usage.join(" ")}`, text(action.about)];
  if (Object.keys(action.options ?? {}).length > 0) parts.push(describeOptions(action.options ?? {}));
  return parts.join("\n");
}

function describeOptions(options: Readonly<Record<string, OptionSpec>>): string {
  const items = Object.entries(options).map(([name, spec]) => {
    const notes = [spec.isRequired ? "Required." : "", spec.isRepeatable ? "Can be repeated." : ""];
    return `.It ${writeOption(name, spec)}\n${text([spec.about, ...notes].filter((note) => note !== "").join(" "))}`;
  });
  return [".Bl -tag -width Ds", ...items, ".El"].join("\n");
}

function describeSetting({ variable, about, defaultText, isSecret, hasFile }: Setting<unknown>): string {
  const names = isSecret || hasFile ? `${variable} , ${variable}_FILE` : variable;
  return `.It Ev ${names}\n${text(defaultText === "" ? about : `${about} (${defaultText})`)}`;
}

function writeOption(name: string, spec: OptionSpec): string {
  return `Fl -${name}${spec.value === undefined ? "" : ` ${writeValue(spec.value)}`}`;
}

function writeOperand({ value, isOptional, isRepeatable }: Operand): string {
  const words = `${writeValue(value)}${isRepeatable ? " ..." : ""}`;
  return isOptional ? `Op ${words}` : words;
}

/** Slanted, as manual pages show what is replaced; so without the brackets. */
function writeValue({ shown }: Value): string {
  return `Ar ${argument(shown.replaceAll(/[<>]/g, ""))}`;
}

/** A word on a macro's line; the escape in front keeps it from being taken for a macro. */
function argument(word: string): string {
  return `\\&${escapeText(word).replaceAll('"', '""')}`;
}

/** One sentence a line, and none longer than the tools like. */
function text(about: string): string {
  const lines = about.split(/(?<=[.:]\)?) +(?=[A-Z"'(])|\n/).flatMap((sentence) => wrap(escapeText(sentence)));
  return lines.map((line) => line.replace(/^[.']/, "\\&$&")).join("\n");
}

function wrap(sentence: string): string[] {
  return sentence.match(/.{1,78}(?: |$)|\S+/g)?.map((line) => line.trim()) ?? [];
}

function escapeText(line: string): string {
  return line.replaceAll("\\", "\\e").replaceAll("…", "...").trim();
}
