import { type ParseArgsConfig, parseArgs, stripVTControlCharacters } from 'node:util'
import { renderUsage } from 'citty'
import type { Command } from './command.js'
import { UsageError } from './errors.js'

interface FoundCommand {
  readonly command: Command
  /** The names before its own, such as `ratatosk dead-letters`. */
  readonly parent: string
  /** The arguments after its name. */
  readonly rest: readonly string[]
}

/**
 * The command line as it is run: `help <command>` is `<command> --help`, and a negative number is the value
 * of the option before it, for `parseArgs` takes it for another option.
 */
export function commandLineOf(argv: readonly string[]): readonly string[] {
  if (argv[0] === 'help') return [...argv.slice(1), '--help']
  const joined: string[] = []
  for (const arg of argv) {
    const last = joined.at(-1)
    if (last !== undefined && /^--[^=]+$/.test(last) && /^-\d/.test(arg))
      joined[joined.length - 1] += `=${arg}`
    else joined.push(arg)
  }
  return joined
}

/** The command that the first arguments name. @throws UsageError */
export function findCommand(root: Command, argv: readonly string[]): FoundCommand {
  let found: FoundCommand = { command: root, parent: '', rest: argv }
  while (found.command.subCommands !== undefined) {
    const [name, ...rest] = found.rest
    if (name === undefined || name.startsWith('-')) return found
    const { meta, subCommands } = found.command
    const parent = `${found.parent} ${meta.name}`.trim()
    const command = Object.hasOwn(subCommands, name) ? subCommands[name] : undefined
    if (command === undefined)
      throw new UsageError(`Unknown command: ${name}. \`${parent} --help\` lists the commands.`)
    found = { command, parent, rest }
  }
  return found
}

export async function helpOf({ command, parent }: FoundCommand): Promise<string> {
  const text = await renderUsage(command, parent === '' ? undefined : { meta: { name: parent } })
  return `${stripVTControlCharacters(text).replace(/ +$/gm, '')}\n`
}

/** Refuses what citty ignores: unknown arguments, and a second value of an option. @throws UsageError */
export function checkArguments({ command, parent, rest }: FoundCommand): void {
  const defined = Object.entries(command.args)
  const options = Object.fromEntries(
    defined
      .filter(([, { type }]) => type !== 'positional')
      .map(([name, { type }]) => [name, { type: type === 'boolean' ? type : 'string' } as const]),
  )
  const mostPositionals = defined.length - Object.keys(options).length
  const help = `\`${parent} ${command.meta.name} --help\` lists what it takes.`
  let parsed: ReturnType<typeof parse>
  try {
    parsed = parse(rest, options)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new UsageError(`${error.message.split(/[.\n]/, 1)[0]}. ${help}`)
  }
  const { positionals, tokens } = parsed
  const valued = tokens.flatMap((token) =>
    token.kind === 'option' && token.value !== undefined ? token.name : [],
  )
  const twice = valued.find((name, index) => valued.indexOf(name) < index && name !== command.repeatable)
  if (twice !== undefined) throw new UsageError(`--${twice} has two values. ${help}`)
  const extra = positionals[mostPositionals]
  if (extra !== undefined) throw new UsageError(`Unexpected argument: ${extra}. ${help}`)
}

const parse = (args: readonly string[], options: NonNullable<ParseArgsConfig['options']>) =>
  parseArgs({ args: [...args], options, strict: true, allowPositionals: true, tokens: true })

/** A whole number of an option. @throws UsageError */
export function wholeNumber(option: string, text: string, most: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= most) return number
  throw new UsageError(`--${option} is "${text}": it must be a whole number from 1 to ${most}.`)
}
