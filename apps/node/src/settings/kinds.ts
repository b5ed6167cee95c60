import { type TOptional, type TUnsafe, Type } from '@sinclair/typebox'

/** The most lovelace that a setting may name. */
export const maxLovelace = 1_000_000_000_000_000

interface SettingNotes {
  /** One line for the table of settings. */
  readonly description: string
  /** Completes "it must be …" in error messages. By default, derived from the schema. */
  readonly allowed?: string
  /** The default in words, if it is not a constant. */
  readonly defaultNote?: string
  /** Never shown, and also read from the file that `<NAME>_FILE` names. */
  readonly secret?: true
}

/** A setting's schema, as far as tables and error messages use it. */
export interface NotedSchema extends SettingNotes {
  readonly type?: string
  readonly default?: string | number | boolean
  /** The literals of a union. */
  readonly anyOf?: readonly { readonly const: string }[]
  readonly minimum?: number
  readonly maximum?: number
}

/** Completes "it must be …" for a setting. */
export function allowedValues({ allowed, anyOf, type, minimum, maximum }: NotedSchema): string {
  if (allowed !== undefined) return allowed
  if (anyOf !== undefined) return `one of ${anyOf.map((each) => each.const).join(', ')}`
  if (type === 'boolean') return 'true or false'
  if (minimum !== undefined) return `a whole number from ${minimum} to ${maximum}`
  return 'text'
}

/** One of several words. */
export function oneOf<const Value extends string>(
  values: readonly Value[],
  notes: SettingNotes & { readonly default?: Value },
): TUnsafe<Value> {
  return Type.Unsafe<Value>(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      notes,
    ),
  )
}

/** A whole number within bounds. */
export function wholeNumber(notes: SettingNotes & { default: number; minimum: number; maximum: number }) {
  return Type.Integer(notes)
}

/** `true` or `false`. */
export function flag(notes: SettingNotes & { default: boolean }) {
  return Type.Boolean(notes)
}

/** A whole number within bounds, without a constant default. */
export function optionalNumber(notes: SettingNotes & { minimum: number; maximum: number }) {
  return Type.Optional(Type.Integer(notes))
}

/** Text without a default. */
export function optional(
  notes: SettingNotes & { pattern?: string },
): TOptional<ReturnType<typeof Type.String>> {
  return Type.Optional(Type.String(notes))
}

/** Values of one form, separated by commas; without a default. */
export function optionalList(notes: SettingNotes & { pattern: string; allowed: string }) {
  const { pattern, ...rest } = notes
  return Type.Optional(Type.Array(Type.String({ pattern }), { minItems: 1, ...rest }))
}

/** A bearer token without a default. Clients encode other characters in different ways, or not at all. */
export function optionalToken(notes: SettingNotes) {
  return optional({ secret: true, pattern: '^[!-~]+$', allowed: 'ASCII characters without spaces', ...notes })
}

/** An HTTP address without a default. */
export function optionalUrl(notes: SettingNotes & { example: string }) {
  const { example, ...rest } = notes
  return optional({ pattern: '^https?://[^\\s]+$', allowed: `a URL such as ${example}`, ...rest })
}

const phrasePattern = '\\s*([a-z]+\\s+){23}[a-z]+\\s*'

/** A BIP-39 phrase; the devnet has defaults. */
export function seedPhrase(description: string, { several = false } = {}) {
  return optional({
    pattern: several ? `^${phrasePattern}(,${phrasePattern})*$` : `^${phrasePattern}$`,
    allowed: several
      ? 'a BIP-39 phrase of 24 words, or several separated by commas'
      : 'a BIP-39 phrase of 24 words',
    defaultNote: "devnet: a test wallet's",
    secret: true,
    description,
  })
}
