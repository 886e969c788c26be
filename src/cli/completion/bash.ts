/** Completions for bash, from 3.2 on, which macOS has. */
import type { Value } from "../command.ts";
import { type Completed, type CompletedAction, listActionsBeside, typedNames } from "./completed-actions.ts";

export function writeBashCompletion({ commands, actions }: Completed): string {
  const names = commands.map(({ name }) => name).join(" ");
  const withActions = commands.filter(({ isAction }) => !isAction);
  const beside = listActionsBeside(commands).map((words) => `"${words.join(" ")}"`);
  return `# Completions of companiond for bash: source <(companiond completion bash)

# What the value of an option is completed with; fails for a switch.
_companiond_value() {
    words="" path="" list=""
    case "$1 $2" in
${writeCases(actions.flatMap(listOptionValues))}
    *) return 1 ;;
    esac
}

# The same for an operand by its number; fails for one that is the reader's own.
_companiond_operand() {
    words="" path="" list=""
    case "$1 $2" in
${writeCases(actions.flatMap(listOperandValues))}
    *) return 1 ;;
    esac
}

_companiond() {
    local current=\${COMP_WORDS[COMP_CWORD]} place=\${COMP_WORDS[1]} last=$COMP_CWORD
    local words="" path="" list="" options="" previous at=2 number=0 left="" one joined
    COMPREPLY=()
    # Bash takes a:b and a@b for three words, and --name=value too.
    while ((last > 2)) && [[ \${COMP_WORDS[last]} == [:@] || \${COMP_WORDS[last - 1]} == [:@] ]]; do
        last=$((last - 1))
        current=\${COMP_WORDS[last]}$current
    done
    if [[ \${COMP_WORDS[COMP_CWORD]} == [:@] ]]; then
        joined=$current
    else
        joined=\${current%"\${COMP_WORDS[COMP_CWORD]}"}
    fi
    previous=\${COMP_WORDS[last - 1]}
    if [[ $current == "=" ]]; then
        current=""
    elif [[ $previous == "=" ]]; then
        previous=\${COMP_WORDS[last - 2]}
    fi
    if ((last == 1)); then
        words="${names} help --help --version"
    elif ((last == 2)); then
        case $place in
        help) words="${names}" ;;
${withActions.map(({ name, actions }) => `        ${name}) words="${actions.map((one) => one.name).join(" ")} --help" ;;`).join("\n")}
        esac
    fi
    if [[ -z $words ]]; then
        case $place in
        ${withActions.map(({ name }) => name).join(" | ")}) place+=" \${COMP_WORDS[2]}" at=3 ;;
        esac
        if ((last > 2)); then
            case "$place \${COMP_WORDS[2]}" in
            ${beside.join(" | ")}) place+=" \${COMP_WORDS[2]}" at=3 ;;
            esac
        fi
        case $place in
${actions.map(writeAction).join("\n")}
        *) return ;;
        esac
        while ((at < last)); do
            one=\${COMP_WORDS[at]}
            at=$((at + 1))
            if [[ $one == [:@] ]]; then
                at=$((at + 1))
            elif [[ $one != -* ]]; then
                number=$((number + 1))
            elif _companiond_value "$place" "$one"; then
                if [[ \${COMP_WORDS[at]} == "=" ]]; then at=$((at + 1)); fi
                at=$((at + 1))
            fi
        done
        if _companiond_value "$place" "$previous"; then
            if [[ -z $words$path ]]; then return; fi
        elif [[ $current == -* ]] || ! _companiond_operand "$place" "$number"; then
            words=$options
        fi
    fi
    if [[ -n $list ]]; then
        left=\${current%"\${current##*,}"}
        options=""
        for one in $words; do
            if [[ ",$left" != *",$one,"* ]]; then options+=" $left$one"; fi
        done
        words=$options
        compopt -o nospace 2>/dev/null || true
    fi
    while IFS= read -r one; do
        COMPREPLY+=("$one")
    done < <(compgen -W "$words" -- "$current" || :)
    if [[ -n $path ]]; then
        # Colons of words need no quotes, and a name follows s3: without a space.
        if ((\${#COMPREPLY[@]})); then one=nospace; else one=filenames; fi
        compopt -o $one 2>/dev/null || true
    fi
    while IFS= read -r one; do
        COMPREPLY+=("$one")
    done < <(
        case $path in
        file) compgen -f -- "$current" || : ;;
        directory) compgen -d -- "$current" || : ;;
        esac
    )
    # It replaces only the last of the words that it has made of one.
    for ((at = 0; at < \${#COMPREPLY[@]}; at++)); do COMPREPLY[at]=\${COMPREPLY[at]#"$joined"}; done
}

complete -F _companiond companiond
`;
}

function writeAction({ words, options }: CompletedAction): string {
  return `        "${words.join(" ")}") options="${options.flatMap(typedNames).join(" ")}" ;;`;
}

interface Case {
  pattern: string;
  value: Value;
}

function listOptionValues({ words, options }: CompletedAction): Case[] {
  return options.flatMap((option) => {
    const { value } = option;
    if (value === null) return [];
    return typedNames(option).map((typed) => ({ pattern: `"${words.join(" ")} ${typed}"`, value }));
  });
}

function listOperandValues({ words, operands }: CompletedAction): Case[] {
  return operands.flatMap(({ value, isRepeatable }, index) => {
    if (value.path === null && value.choices.length === 0) return [];
    const number = isRepeatable ? `${words.join(" ")} "*` : `${words.join(" ")} ${index}"`;
    return [{ pattern: `"${number}`, value }];
  });
}

/** One case for all that are completed with the same. */
function writeCases(cases: readonly Case[]): string {
  const byWhat = Map.groupBy(cases, ({ value: { choices, path, isList } }) => {
    const parts = [
      choices.length === 0 ? "" : `words="${choices.join(" ")}"`,
      path === null ? "" : `path="${path}"`,
      isList ? 'list=","' : "",
    ];
    return parts.filter((part) => part !== "").join(" ");
  });
  return [...byWhat]
    .map(
      ([what, alike]) =>
        `    ${alike.map(({ pattern }) => pattern).join(" | \\\n    ")}) ${what === "" ? ":" : what} ;;`,
    )
    .join("\n");
}
