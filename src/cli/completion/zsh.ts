/** Completions for zsh, as a file of `fpath` or sourced. */
import type { Value } from "../command.ts";
import {
  type Completed,
  type CompletedAction,
  type CompletedCommand,
  type CompletedOption,
  listActionsBeside,
  typedNames,
} from "./completed-actions.ts";

export function writeZshCompletion({ commands, actions }: Completed): string {
  const withActions = commands.filter(({ isAction }) => !isAction);
  const beside = listActionsBeside(commands).map((words) => quote(words.join(" ")));
  return `#compdef companiond
# Completions of companiond for zsh: source <(companiond completion zsh)

_companiond() {
    local place=$words[2]
    local -a offered
    if ((CURRENT == 2)); then
        offered=(
${writeOffered([...commands, { name: "help", about: "Show the help" }])}
        )
        _describe command offered
        return
    fi
    if ((CURRENT == 3)); then
        case $place in
        help)
            offered=(
${writeOffered(commands)}
            )
            ;;
${withActions.map(writeActions).join("\n")}
        esac
        if ((\${#offered})); then
            _describe action offered
            return
        fi
    fi
    case $place in
    ${withActions.map(({ name }) => name).join(" | ")})
        place="$place $words[3]"
        shift words
        ((CURRENT--))
        ;;
    esac
    if ((CURRENT > 3)); then
        case "$place $words[3]" in
        ${beside.join(" | ")})
            place="$place $words[3]"
            shift words
            ((CURRENT--))
            ;;
        esac
    fi
    shift words
    ((CURRENT--))
    case $place in
${actions.map(writeAction).join("\n")}
    esac
}

if [[ \${funcstack[1]} == _companiond ]]; then
    _companiond "$@"
else
    compdef _companiond companiond
fi
`;
}

function writeOffered(all: readonly { name: string; about: string }[]): string {
  return all.map(({ name, about }) => `                ${quote(`${name}:${about}`)}`).join("\n");
}

function writeActions({ name, actions }: CompletedCommand): string {
  return `        ${name})
            offered=(
${writeOffered(actions)}
            )
            ;;`;
}

function writeAction({ words, options, operands }: CompletedAction): string {
  const specs = [
    ...options.flatMap(writeOption),
    ...operands.map(({ value, isOptional, isRepeatable }) =>
      quote(`${isRepeatable ? "*" : ""}${isOptional ? "::" : ":"}${writeValue(value)}`),
    ),
  ];
  return [
    `    ${quote(words.join(" "))})`,
    `        _arguments \\\n            ${specs.join(" \\\n            ")}`,
    "        ;;",
  ].join("\n");
}

function writeOption(option: CompletedOption): string[] {
  const { about, value, isRepeatable } = option;
  return typedNames(option).map((typed) => {
    const isJoined = value !== null && typed.startsWith("--");
    const spec = `${isRepeatable ? "*" : ""}${typed}${isJoined ? "=" : ""}[${escapeSpec(about)}]`;
    return quote(value === null ? spec : `${spec}:${writeValue(value)}`);
  });
}

/** What it is called, and what offers it. */
function writeValue({ shown, choices, path, isList }: Value): string {
  const offered = choices.map(escapeSpec).join(" ");
  const files = path === null ? "" : path === "file" ? "_files" : "_files -/";
  const action = isList
    ? `_sequence compadd - ${offered}`
    : choices.length === 0
      ? files || " "
      : path === null
        ? `(${offered})`
        : `{${files}; compadd -S "" ${offered}}`;
  return `${escapeSpec(shown.replaceAll(/[<>]/g, ""))}:${action}`;
}

/** Brackets end a description, and colons a part. */
function escapeSpec(text: string): string {
  return text.replace(/[\\[\]:]/g, "\\$&");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
