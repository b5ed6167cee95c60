/**
 * A value sent to PostgreSQL. Bytes are sent alone or, for many rows, as a {@link bytesColumn}; never in an
 * array.
 */
export type Parameter = Uint8Array | string | number | bigint | readonly Element[]

export type Element = string | number | bigint | boolean | Date | null | undefined

export type ParameterType = 'bytea' | 'integer' | 'bigint' | 'numeric' | 'boolean' | 'text' | 'timestamptz'

/** A parameter in PostgreSQL's text format, the same for both drivers. */
export function toText(parameter: Parameter): string {
  if (parameter instanceof Uint8Array) return `\\x${toHex(parameter)}`
  if (typeof parameter !== 'object') return String(parameter)
  return `{${parameter.map(toElement).join()}}`
}

function toElement(element: Element): string {
  if (element === null || element === undefined) return 'NULL'
  if (typeof element !== 'string' && !(element instanceof Date)) return String(element)
  const text = typeof element === 'string' ? element : element.toISOString()
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

/**
 * A sub-select over rows that are sent as one parameter per column, numbered from `first`. Adds `position`,
 * counted from 1. Byte columns are sent as {@link bytesColumn}, the others as arrays.
 */
export function parameterRows(columns: { readonly [name: string]: ParameterType }, first = 1): string {
  const entries = Object.entries(columns)
  const names = entries.map(([name]) => name)
  const arrays = entries.map(([, type], before) =>
    type === 'bytea' ? `string_to_array($${first + before}::text, ',', '')` : `$${first + before}::${type}[]`,
  )
  const values = entries.map(([name, type]) =>
    type === 'bytea' ? `decode(${name}, 'hex') AS ${name}` : name,
  )
  return `(
    SELECT ${values.join(', ')}, position::integer AS position
    FROM unnest(${arrays.join(', ')}) WITH ORDINALITY AS packed (${names.join(', ')}, position)
  )`
}

/**
 * The values of a byte column as one parameter: hex, separated by commas, with nothing between two commas for
 * NULL. A value must not be empty, because it would read as NULL. PostgreSQL parses this three times as fast
 * as a `bytea[]`, whose escapes it resolves character by character; writing rows becomes more than twice as
 * fast.
 */
export function bytesColumn(values: readonly (Uint8Array | undefined)[]): string {
  return values.map((bytes) => (bytes === undefined ? '' : toHex(bytes))).join()
}

/** Lower-case hex. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}
