/** Completions for fish, from 3.0 on. */
import type { Operand, Value } from "../command.ts";
import {
  type Completed,
  type CompletedAction,
  type CompletedOption,
  listActionsBeside,
  typedNames,
} from "./completed-actions.ts";

export function writeFishCompletion({ commands, actions }: Completed): string {
  const lines = [
    ...commands.map((command) => offer("__companiond_only", command)),
    offer("__companiond_only", { name: "help", about: "Show the help" }),
    ...commands.map((command) => offer("__companiond_only help", command)),
    ...commands.flatMap(({ name, actions, isAction }) =>
      isAction ? [] : actions.map((action) => offer(`__companiond_only ${name}`, action)),
    ),
    ...actions.flatMap((action) => writeAction(action, listActionsBeside(commands))),
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

# So many operands or, with "+", at least as many are there already.
function __companiond_operand
    __companiond_at $argv[2..-1]; or return 1
    set -l words (__companiond_words)
    set -e words[1..(count $argv[2..-1])]
    set -l number 0
    set -l isValue 0
    for word in $words
        if test $isValue = 1
            set isValue 0
        else if contains -- $word ${listValued(actions)}
            set isValue 1
        else if not string match -q -- '-*' $word
            set number (math $number + 1)
        end
    end
    string match -q '*+' -- $argv[1]; or test $number -eq $argv[1]
end

# Several of these, separated by commas.
function __companiond_list
    set -l chosen (string split , -- (commandline -ct | string replace -r '^--[^=]*=' ''))
    set -e chosen[-1]
    for one in $argv
        contains -- $one $chosen; or string join , -- $chosen $one
    end
end

complete -c companiond -f
${lines.join("\n")}
`;
}

function offer(condition: string, { name, about }: { name: string; about: string }): string {
  return `complete -c companiond -n '${condition}' -a ${name} -d ${quote(about)}`;
}

function writeAction(
  { words, options, operands }: CompletedAction,
  beside: ReturnType<typeof listActionsBeside>,
): string[] {
  const others = words.length > 1 ? [] : beside.filter(([command]) => command === words[0]);
  const only = others.map((other) => `; and not __companiond_at ${other.join(" ")}`).join("");
  const start = `complete -c companiond -n '__companiond_at ${words.join(" ")}${only}'`;
  return [
    ...options.map((option) => `${start} ${writeOption(option)}`),
    ...operands.flatMap((operand, index) => writeOperand(words, operand, { index, only })),
  ];
}

function writeOperand(
  words: readonly string[],
  { value, isRepeatable }: Operand,
  { index, only }: { index: number; only: string },
): string[] {
  const { choices, path } = value;
  if (choices.length === 0 && path === null) return [];
  const condition = `__companiond_operand ${index}${isRepeatable ? "+" : ""} ${words.join(" ")}${only}`;
  const start = `complete -c companiond -n '${condition}'`;
  const files = path === null ? "" : path === "file" ? " -F" : ` -a ${directories}`;
  return [`${start}${files}${choices.length === 0 ? "" : ` -a ${quote(choices.join(" "))}`}`];
}

const directories = "'(__fish_complete_directories)'";

function writeOption({ name, short, about, value }: CompletedOption): string {
  const names = short === null ? [] : ["-s", short];
  return [...names, "-l", name, ...(value === null ? [] : [writeValue(value)]), "-d", quote(about)].join(" ");
}

function writeValue({ choices, path, isList }: Value): string {
  if (path === "file") return "-r -F";
  if (path === "directory") return `-x -a ${directories}`;
  if (choices.length === 0) return "-x";
  return `-x -a ${quote(isList ? `(__companiond_list ${choices.join(" ")})` : choices.join(" "))}`;
}

/** After which a word is a value: no option has one in some commands and none in others. */
function listValued(actions: readonly CompletedAction[]): string {
  const names = actions.flatMap(({ options }) => options.filter(({ value }) => value !== null).flatMap(typedNames));
  return [...new Set(names)].join(" ");
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
