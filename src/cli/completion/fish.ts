/** Completions for fish, from 3.0 on. */
import type { Completed, CompletedOption, Place } from "./places.ts";

const values = { file: "-r -F", directory: "-x -a '(__fish_complete_directories)'", text: "-x" } as const;

export function writeFishCompletion({ commands, places }: Completed): string {
  const lines = [
    ...commands.map((command) => offer("__companiond_only", command)),
    offer("__companiond_only", { name: "help", about: "Show the help" }),
    ...commands.map((command) => offer("__companiond_only help", command)),
    ...commands.flatMap(({ name, actions }) => actions.map((action) => offer(`__companiond_only ${name}`, action))),
    ...places.flatMap(writePlace),
  ];
  return `# Completions of companiond for fish: companiond completion fish | source

function __companiond_words
    set -l words (commandline -opc)
    set -e words[1]
    string join \\n -- $words
end

# Nothing follows these words yet.
function __companiond_only
    set -l words (__companiond_words)
    test "$words" = "$argv"
end

# The line begins with these words.
function __companiond_at
    set -l words (__companiond_words)
    set -l count (count $argv)
    test (count $words) -ge $count; and test "$words[1..$count]" = "$argv"
end

complete -c companiond -f
${lines.join("\n")}
`;
}

function offer(condition: string, { name, about }: { name: string; about: string }): string {
  return `complete -c companiond -n '${condition}' -a ${name} -d ${quote(about)}`;
}

function writePlace({ words, options, operands }: Place): string[] {
  const start = `complete -c companiond -n '__companiond_at ${words.join(" ")}'`;
  const files = operands.some(({ kind }) => kind === "file") ? [`${start} -F`] : [];
  return [...options.map((option) => `${start} ${writeOption(option)}`), ...files];
}

function writeOption({ name, about, value }: CompletedOption): string {
  return ["-l", name, ...(value === null ? [] : [values[value.kind]]), "-d", quote(about)].join(" ");
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
