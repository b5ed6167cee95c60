import { settingsSchema } from './schema.js'

/** A setting's schema, as far as it is put into words. */
export interface NotedSchema {
  readonly type?: string
  readonly description: string
  readonly allowed?: string
  readonly default?: string | number | boolean
  readonly defaultNote?: string
  readonly secret?: true
  /** The literals of a union. */
  readonly anyOf?: readonly { readonly const: string }[]
  readonly minimum?: number
  readonly maximum?: number
}

/** Every setting by name, in the order of the schema. */
export const settingNotes: ReadonlyMap<string, NotedSchema> = new Map(
  Object.entries(settingsSchema.properties as Record<string, NotedSchema>),
)

/** What a setting may be, to end the sentence "it must be …". */
export function allowed(name: string): string {
  const notes = settingNotes.get(name)
  if (notes?.allowed !== undefined) return notes.allowed
  if (notes?.anyOf !== undefined) return `one of ${notes.anyOf.map((each) => each.const).join(', ')}`
  if (notes?.type === 'boolean') return 'true or false'
  if (notes?.minimum !== undefined) return `a whole number from ${notes.minimum} to ${notes.maximum}`
  return 'text'
}
