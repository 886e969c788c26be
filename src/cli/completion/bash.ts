/** Completions for bash, from 3.2 on, which macOS has. */
import type { Completed, Place } from "./places.ts";

export function writeBashCompletion({ commands, places }: Completed): string {
  const names = commands.map(({ name }) => name).join(" ");
  const withActions = commands.filter(({ actions }) => actions.length > 0);
  return `# Completions of companiond for bash: source <(companiond completion bash)

_companiond() {
    local current=\${COMP_WORDS[COMP_CWORD]} place=\${COMP_WORDS[1]} words="" kind="" operand="" line
    local previous=\${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    # Bash takes --name=value for three words.
    if [[ $current == "=" ]]; then
        current=""
    elif [[ $previous == "=" ]]; then
        previous=\${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if ((COMP_CWORD == 1)); then
        words="${names} help --help --version"
    elif ((COMP_CWORD == 2)); then
        case $place in
        help) words="${names}" ;;
${withActions.map(({ name, actions }) => `        ${name}) words="${actions.map((one) => one.name).join(" ")} --help" ;;`).join("\n")}
        esac
    fi
    if [[ -z $words ]]; then
        case $place in
        ${withActions.map(({ name }) => name).join(" | ")}) place+=" \${COMP_WORDS[2]}" ;;
        esac
        case $place in
${places.map(writePlace).join("\n")}
        *) return ;;
        esac
        case "$place $previous" in
${(["file", "directory", "text"] as const).map((kind) => writeKind(places, kind)).join("\n")}
        esac
        if [[ -z $kind && $current != -* ]]; then kind=$operand; fi
    fi
    case $kind in
    text) return ;;
    file | directory) compopt -o filenames 2>/dev/null || true ;;
    esac
    while IFS= read -r line; do
        COMPREPLY+=("$line")
    done < <(
        case $kind in
        file) compgen -f -- "$current" ;;
        directory) compgen -d -- "$current" ;;
        *) compgen -W "$words" -- "$current" ;;
        esac
    )
}

complete -F _companiond companiond
`;
}

function writePlace({ words, options, operands }: Place): string {
  const offered = options.map(({ name }) => `--${name}`).join(" ");
  const kind = operands.some((operand) => operand.kind === "file") ? ' operand="file"' : "";
  return `        "${words.join(" ")}") words="${offered}"${kind} ;;`;
}

function writeKind(places: readonly Place[], kind: string): string {
  const patterns = places.flatMap(({ words, options }) =>
    options.filter((option) => option.value?.kind === kind).map((option) => `"${words.join(" ")} --${option.name}"`),
  );
  return patterns.length === 0 ? "" : `        ${patterns.join(" | \\\n        ")}) kind="${kind}" ;;`;
}
