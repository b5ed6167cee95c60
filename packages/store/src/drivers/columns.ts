type ColumnType = 'bytea' | 'integer' | 'text' | 'timestamptz'

/**
 * A sub-select of rows that come as one parameter a column, numbered from `first`, with their `position` counted from 1.
 * Byte columns come from {@link bytesColumn}, the others as arrays.
 */
export function rowsOf(columns: { readonly [name: string]: ColumnType }, first = 1): string {
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
 * The values of a byte column as one parameter: hex, separated by commas, nothing between them for NULL (so none may be
 * empty). PostgreSQL reads this three times as fast as a `bytea[]`, whose escapes it unfolds character by character,
 * and writing rows becomes more than twice as fast.
 */
export function bytesColumn(values: readonly (Uint8Array | undefined)[]): string {
  return values.map((bytes) => (bytes === undefined ? '' : toHex(bytes))).join()
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}
