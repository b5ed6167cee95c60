import { commitDefaults } from '@ratatosk/sequencer'
import type { Static } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { SettingsError } from '../errors.js'
import { allowedValues } from './kinds.js'
import { fileLimits, readRegularFile } from './regular-file.js'
import { brokenRules } from './rules.js'
import { type NetworkDefaults, type Settings, settingNotes, settingsSchema } from './schema.js'

type Given = string | number | boolean | readonly string[]

export type Environment = Readonly<Record<string, string | undefined>>

const dayMs = 86_400_000
const devnetDefaults = {
  AUTO_INIT: true,
  BLOCK_VALIDITY_MS: 10_000,
  COMMIT_BUDGET_PER_HOUR: 0,
  COMMIT_INTERVAL_MS: commitDefaults.devnet.commitEveryMs,
  MATURITY_WINDOW_MS: 30_000,
  OPERATION_INTERVAL_MS: 50,
  OPERATOR_BOND: 500_000_000,
  SLASH_PENALTY: 0,
}
/** Of a network where others have ada to gain. */
export const publicDefaults = {
  AUTO_INIT: false,
  BLOCK_VALIDITY_MS: 120_000,
  COMMIT_BUDGET_PER_HOUR: Number(commitDefaults.public.hourlyBudget),
  COMMIT_INTERVAL_MS: commitDefaults.public.commitEveryMs,
  MATURITY_WINDOW_MS: 7 * dayMs,
  OPERATION_INTERVAL_MS: 10_000,
  OPERATOR_BOND: 130_000_000,
  SLASH_PENALTY: 115_000_000,
}

/**
 * Reads the settings from environment variables. An empty variable counts as unset. A secret may be in the
 * file that `<NAME>_FILE` names.
 *
 * @param onWarning with UNKNOWN_SETTINGS=warn, receives one message for each misspelt name
 * @throws SettingsError with one message for each invalid value. A message names the setting and what is
 *   allowed, and shows the value unless it is a secret.
 *
 * @example
 * readSettings({ PORT: '0', NODE_ROLE: 'all' }).PORT // 0
 */
export function readSettings(
  environment: Environment,
  onWarning: (message: string) => void = () => undefined,
): Settings {
  const problems: string[] = []
  const misspelt = environment.UNKNOWN_SETTINGS === 'warn' ? [] : misspeltIn(environment)
  if (environment.UNKNOWN_SETTINGS === 'warn') nearMisses(environment).forEach(onWarning)
  problems.push(...misspelt.map(({ message }) => message))
  const values: Record<string, Given> = {}
  for (const [name, notes] of settingNotes) {
    const value = notes.secret ? readSecret(name, environment, problems) : environment[name]
    if (value === undefined || value === '') continue
    if (isServiceLink(name, value))
      onWarning(
        `${name} is ${shown(value)}, which Kubernetes sets for a service of this name: it is ignored.`,
      )
    else values[name] = parsed(notes.type, value)
  }

  const doubtful = misspelt.map(({ near }) => near)
  for (const name of invalidNames(Value.Default(settingsSchema, { ...values }))) {
    problems.push(invalidValue(name, values[name]))
    doubtful.push(name)
    delete values[name]
  }
  const settings = Value.Default(settingsSchema, values)
  // Of a secret that cannot be read nothing is known.
  const unread = [...settingNotes.keys()].filter((name) => problems.some((each) => each.startsWith(name)))
  const complete = Value.Check(settingsSchema, settings) ? withDefaults(settings) : undefined
  const broken = complete === undefined ? [] : brokenRules(complete)
  problems.push(...judgeable(broken, [...doubtful, ...unread]))
  if (complete === undefined || problems.length > 0) throw new SettingsError(problems)
  return complete
}

function withDefaults(settings: Static<typeof settingsSchema>): Settings {
  const isDevnet = settings.NETWORK === 'devnet'
  const defaults: Required<NetworkDefaults> = isDevnet ? devnetDefaults : publicDefaults
  return { ...defaults, ...settings }
}

/** Without what rests on a setting whose value is not known. */
function judgeable(faults: readonly string[], doubtful: readonly string[]): readonly string[] {
  // Nearly all depends on these.
  if (doubtful.includes('NODE_ROLE') || doubtful.includes('NETWORK')) return []
  return faults.filter((fault) => !doubtful.some((name) => new RegExp(`\\b${name}\\b`).test(fault)))
}

/** Kubernetes describes each service to every pod: one with the name `devnet` in `DEVNET_PORT`. */
function isServiceLink(name: string, value: string): boolean {
  return name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value)
}

/** Numbers are decimal digits only, not "0x50", " 80" or "1e3". */
function parsed(type: string | undefined, value: string): Given {
  if (type === 'integer' && /^\d+$/.test(value)) return Number(value)
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  if (type === 'array') return value.split(',').map((item) => item.trim())
  return value
}

function readSecret(name: string, environment: Environment, problems: string[]): string | undefined {
  const path = environment[`${name}_FILE`]
  if (path === undefined || path === '') return environment[name]
  if (environment[name]) {
    problems.push(`${name} and ${name}_FILE are both set: set only one of them.`)
    return undefined
  }
  try {
    return readRegularFile(path, fileLimits.secret).trim()
  } catch (error) {
    problems.push(`${name}_FILE is ${shown(path)}: ${error instanceof Error ? error.message : error}.`)
    return undefined
  }
}

/** The settings that break their schema, each once. */
function invalidNames(settings: unknown): Set<string> {
  return new Set([...Value.Errors(settingsSchema, settings)].map(({ path }) => path.split('/')[1] ?? ''))
}

function invalidValue(name: string, value: Given | undefined): string {
  const notes = settingNotes.get(name)
  const found = notes?.secret ? 'has an invalid value' : `is ${shown(String(value))}`
  return `${name} ${found}: it must be ${notes ? allowedValues(notes) : 'unset'}.`
}

function shown(value: string): string {
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

/** A URL without user, password and query, for logs and banners. */
export function maskedUrl(url: string): string {
  if (!URL.canParse(url)) return '(hidden: the URL has a form that cannot be masked)'
  const { protocol, host, pathname, username, password } = new URL(url)
  return `${protocol}//${username || password ? '***@' : ''}${host}${pathname === '/' ? '' : pathname}`
}

/**
 * Messages about misspelled settings: one edit up to five letters, else two, as `HOME` is not `HOST`; a last
 * word that lacks, or another unit than milliseconds.
 */
export function nearMisses(environment: Environment): string[] {
  return misspeltIn(environment).map(({ message }) => message)
}

function misspeltIn(environment: Environment) {
  return Object.keys(environment).flatMap((variable) => {
    const near = nearestSetting(variable)
    if (near === undefined) return []
    const message = `${variable} is not a setting. Did you mean ${near}? If not, set UNKNOWN_SETTINGS=warn.`
    return [{ near, message }]
  })
}

/** The setting that a name resembles; undefined also if it is one. */
export function nearestSetting(variable: string): string | undefined {
  const names = [...settingNotes].flatMap(([name, { secret }]) => (secret ? [name, `${name}_FILE`] : [name]))
  if (names.includes(variable)) return undefined
  return (
    names.find((name) => edits(variable, name) <= (name.length <= 5 ? 1 : 2)) ??
    names.find(
      (name) =>
        (variable.includes('_') && name.startsWith(`${variable}_`)) ||
        (name.endsWith('_MS') && variable.startsWith(name.slice(0, -'MS'.length))),
    )
  )
}

/** Insertions, deletions, substitutions and swaps of neighbours between two texts; Infinity above two. */
export function edits(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > 2) return Number.POSITIVE_INFINITY
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const at = (line: readonly number[], index: number) => line[index] ?? Number.POSITIVE_INFINITY
      const same = from[row - 1] === to[column - 1]
      let best = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
      )
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      if (row > 1 && column > 1 && swapped) best = Math.min(best, at(beforeLast, column - 2) + 1)
      current.push(best)
    }
    if (Math.min(...last, ...current) > 2) return Number.POSITIVE_INFINITY
    beforeLast = last
    last = current
  }
  return last[to.length] ?? Number.POSITIVE_INFINITY
}
