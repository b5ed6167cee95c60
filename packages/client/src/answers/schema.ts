type Fields = Readonly<Record<string, Schema>>

/** The parts of a JSON schema that are checked. */
export interface Schema {
  readonly $ref?: string
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  /** Nothing is accepted. */
  readonly not?: object
  readonly type?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: Schema
  readonly properties?: Fields
  readonly required?: readonly string[]
}

/** An object with these fields; the optional ones may be absent. */
export const object = (properties: Fields, optional: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
})

/** A list of these. */
export const list = (items: Schema): Schema => ({ type: 'array', items })
