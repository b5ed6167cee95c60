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
