import type { Environment } from '@ratatosk/node'
import { fileLimits, readRegularFile } from '@ratatosk/node/regular-file'
import { parse } from 'yaml'
import { CommandError } from './errors.js'

/** The option of commands that read settings. */
export const configArgument = {
  config: {
    type: 'string',
    valueHint: 'path',
    description: 'YAML file with settings; the environment takes precedence',
  },
} as const

/** Problems of one file that are shown. */
const mostProblems = 50

function linesOf(path: string, problems: readonly string[]): readonly string[] {
  const lines = problems.slice(0, mostProblems).map((problem) => `${path}: ${problem}`)
  if (problems.length > mostProblems)
    lines.push(`${path}: and ${problems.length - mostProblems} further faults`)
  return lines
}

/** Every setting by its name. */
type Kinds = ReadonlyMap<string, 'secret' | 'plain'>

/** The environment, completed by a settings file; secrets only by `<NAME>_FILE`. @throws CommandError */
export async function withConfigFile(
  path: string | undefined,
  environment: Environment,
): Promise<Environment> {
  const { complete, problems } = await readConfigFile(path, environment)
  if (problems.length > 0) throw new CommandError('CLI_CONFIG', problems.join('\n'))
  return complete
}

/** As {@link withConfigFile}, but with the faults of the file, without which it is read. */
export async function readConfigFile(
  path: string | undefined,
  environment: Environment,
): Promise<{ readonly complete: Environment; readonly problems: readonly string[] }> {
  if (path === undefined) return { complete: environment, problems: [] }
  const entries = Object.entries(readMapping(path))
  const { nearestSetting, settingsSchema } = await import('@ratatosk/node')
  const known: Kinds = new Map(
    Object.entries<object>(settingsSchema.properties).map(([name, notes]) => [
      name,
      'secret' in notes ? 'secret' : 'plain',
    ]),
  )
  const problemsIn = ([name, value]: readonly [string, unknown]) =>
    problemOf(name, value, known, nearestSetting)
  const missing = entries
    .filter(([name]) => !environment[name] && !environment[name.replace(/_FILE$/, '')])
    .filter((entry) => problemsIn(entry).length === 0)
  return {
    complete: {
      ...environment,
      ...Object.fromEntries(missing.map(([name, value]) => [name, textOf(value)])),
    },
    problems: linesOf(path, entries.flatMap(problemsIn)),
  }
}

function readMapping(path: string): object {
  let content: unknown
  try {
    // Every scalar is text, as in an environment: 56 digits are a hash and no number.
    content = parse(readRegularFile(path, fileLimits.settings), { schema: 'failsafe' })
  } catch (error) {
    throw new CommandError('CLI_CONFIG', `The file "${path}" cannot be used: ${reasonOf(error)}`)
  }
  if (typeof content === 'object' && content !== null && !Array.isArray(content)) return content
  throw new CommandError('CLI_CONFIG', `${path}: it must have lines such as \`PORT: 3000\`.`)
}

function reasonOf(error: unknown): string {
  const [message = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1)
  // Too many levels for the parser.
  if (error instanceof RangeError || /^(?:Maximum call stack|Invalid string length)/.test(message))
    return 'its values are nested. It must have lines such as `PORT: 3000`'
  return message
}

function problemOf(
  name: string,
  value: unknown,
  known: Kinds,
  nearest: (name: string) => string | undefined,
): readonly string[] {
  if (known.get(name) === 'secret')
    return [`${name} is a secret: set ${name}_FILE to the path of a file that contains it.`]
  const namesSecret = name.endsWith('_FILE') && known.get(name.replace(/_FILE$/, '')) === 'secret'
  const near = nearest(name)
  if (!known.has(name) && !namesSecret)
    return [`${name} is not a setting.${near === undefined ? '' : ` Did you mean ${near}?`}`]
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (texts.every((text) => typeof text === 'string')) return []
  return [`${name} must be a value, or a list of values.`]
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value)
}

/**
 * The text of a file that an option or a setting names.
 *
 * @param name of the option or the setting
 * @param mostBytes of the file
 * @throws CommandError with the code if it cannot be read
 */
export function fileText(file: string, name: string, code: string, mostBytes: number): string {
  try {
    return readRegularFile(file, mostBytes)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandError(code, `"${file}" for ${name}: ${reason}.`)
  }
}
