import { type TOptional, type TUnsafe, Type } from '@sinclair/typebox'

/** What a setting says of itself beside its JSON schema. */
export interface SettingNotes {
  readonly description: string
  /** What is allowed, to end the sentence "it must be …"; derived from the schema where it is not given. */
  readonly allowed?: string
  /** Where the default is no constant. */
  readonly defaultNote?: string
  /** Never shown, and readable from the file that `<NAME>_FILE` names. */
  readonly secret?: true
}

/** One of some words. */
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

/** A whole number within bounds, or none. */
export function optionalNumber(notes: SettingNotes & { minimum: number; maximum: number }) {
  return Type.Optional(Type.Integer(notes))
}

/** Text, or none. */
export function optional(
  notes: SettingNotes & { pattern?: string },
): TOptional<ReturnType<typeof Type.String>> {
  return Type.Optional(Type.String(notes))
}
