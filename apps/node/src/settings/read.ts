import { readFileSync } from 'node:fs'
import { Value } from '@sinclair/typebox/value'
import { SettingsError } from '../errors.js'
import { contradictions } from './contradictions.js'
import { allowed, settingNotes } from './notes.js'
import { type Settings, settingsSchema } from './schema.js'

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads the settings from environment variables. An empty variable counts as unset; a secret may be given as
 * `<NAME>_FILE`, the path of a file that holds it.
 *
 * @throws SettingsError with one sentence for each wrong value, naming the setting, the value unless it is secret, and
 *   what is allowed
 *
 * @example
 * readSettings({ PORT: '0', NODE_ROLE: 'api' }).PORT // 0
 */
export function readSettings(environment: Environment): Settings {
  const problems: string[] = []
  const given: Record<string, string | number | boolean> = {}
  for (const [name, notes] of settingNotes) {
    const value = notes.secret ? readSecret(name, environment, problems) : environment[name]
    if (value !== undefined && value !== '') given[name] = typed(name, value)
  }

  const settings = Value.Default(settingsSchema, given)
  for (const name of wrongNames(settings)) problems.push(wrongValue(name, given[name]))
  if (problems.length === 0 && Value.Check(settingsSchema, settings)) {
    problems.push(...contradictions(settings))
    if (problems.length === 0) return settings
  }
  throw new SettingsError(problems)
}

/** Only digits are a number: neither "0x50" nor " 80" nor "". */
function typed(name: string, value: string): string | number | boolean {
  const type = settingNotes.get(name)?.type
  if (type === 'integer' && /^\d+$/.test(value)) return Number(value)
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  return value
}

function readSecret(name: string, environment: Environment, problems: string[]): string | undefined {
  const path = environment[`${name}_FILE`]
  if (path === undefined || path === '') return environment[name]
  if (environment[name]) {
    problems.push(`${name} and ${name}_FILE are both set: one of them is enough.`)
    return undefined
  }
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    problems.push(`${name}_FILE is ${shown(path)}: no file can be read there.`)
    return undefined
  }
}

/** The settings that break their schema, each once. */
function wrongNames(settings: unknown): Set<string> {
  return new Set([...Value.Errors(settingsSchema, settings)].map(({ path }) => path.split('/')[1] ?? ''))
}

function wrongValue(name: string, value: string | number | boolean | undefined): string {
  const found = settingNotes.get(name)?.secret
    ? 'has a value that cannot be used'
    : `is ${shown(String(value))}`
  return `${name} ${found}: it must be ${allowed(name)}.`
}

function shown(value: string): string {
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
