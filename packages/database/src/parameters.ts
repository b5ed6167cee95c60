/** The reader of each PostgreSQL type's text format: every type that a table uses is here. */
export const columnTypes = {
  bytea: { id: 17, read: toBytes },
  bigint: { id: 20, read: BigInt },
  integer: { id: 23, read: Number },
  boolean: { id: 16, read: (text: string) => text === 't' },
  text: { id: 25, read: String },
  json: { id: 114, read: JSON.parse },
  uuid: { id: 2950, read: String },
  'timestamp with time zone': { id: 1184, read: (text: string) => new Date(text) },
} as const

/** The types above by PostgreSQL's number of the type. */
export const readers: { readonly [id: number]: (text: string) => unknown } = Object.fromEntries(
  Object.values(columnTypes).map(({ id, read }) => [id, (text: string) => read(text)]),
)

/** Types with greater numbers are user-defined: the schema's enumerations, read as text. */
export const lastBuiltInType = 16_383

/** Reads `bytea` in its hex format. */
function toBytes(text: string): Uint8Array {
  const buffer = Buffer.from(text.slice(2), 'hex')
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
}

/**
 * A value sent to PostgreSQL. Bytes are sent alone or, for many rows, as a {@link bytesColumn}; never in an
 * array.
 */
export type Parameter = Uint8Array | string | number | bigint | readonly Element[] | BytesColumn

/** Byte strings of many rows: a `bytea[]` for SQL. Made by {@link bytesColumn}. */
class BytesColumn {
  /** As PostgreSQL sends and receives the array. */
  readonly binary: Uint8Array

  constructor(binary: Uint8Array) {
    this.binary = binary
  }
}

export type Element = string | number | bigint | boolean | Date | null | undefined

export type ParameterType = 'bytea' | 'integer' | 'bigint' | 'numeric' | 'boolean' | 'text' | 'timestamptz'

/** A parameter as both drivers send it: text, or bytes in PostgreSQL's binary format. */
export function toWire(parameter: Parameter): string | Uint8Array {
  if (parameter instanceof BytesColumn) return parameter.binary
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
  const names = Object.keys(columns).join(', ')
  const arrays = Object.values(columns).map((type, before) => `$${first + before}::${type}[]`)
  return `(
    SELECT ${names}, position::integer AS position
    FROM unnest(${arrays.join(', ')}) WITH ORDINALITY AS packed (${names}, position)
  )`
}

/** Bytes of an array's header, with one dimension, and of the length before each element. */
const headerBytes = 20
const lengthBytes = 4

/**
 * The values of a byte column as one parameter; undefined for NULL. In binary, because PostgreSQL reads hex
 * digit by digit, and the escapes of a `bytea[]` in text character by character.
 */
export function bytesColumn(values: readonly (Uint8Array | undefined)[]): BytesColumn {
  let size = headerBytes
  for (const bytes of values) size += lengthBytes + (bytes?.length ?? 0)
  const binary = Buffer.allocUnsafe(size)
  const header = [1, values.includes(undefined) ? 1 : 0, columnTypes.bytea.id, values.length, 1]
  let end = 0
  for (const field of header) end = binary.writeInt32BE(field, end)
  for (const bytes of values) {
    end = binary.writeInt32BE(bytes?.length ?? -1, end)
    if (bytes === undefined) continue
    binary.set(bytes, end)
    end += bytes.length
  }
  return new BytesColumn(binary)
}

/** Lower-case hex. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}
