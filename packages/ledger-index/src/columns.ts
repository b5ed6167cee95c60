import { toHex } from '@ratatosk/cbor'

type ColumnType = 'bytea' | 'integer' | 'bigint' | 'numeric' | 'text' | 'boolean'

/**
 * A sub-select over rows that are sent as one text parameter per column, numbered from `first`: values
 * separated by commas, with nothing between two commas for NULL. PostgreSQL parses hex in this form faster
 * than a `bytea[]`.
 */
export function rows(columns: { readonly [name: string]: ColumnType }, first = 1): string {
  const entries = Object.entries(columns)
  const names = entries.map(([name]) => name).join(', ')
  const values = entries
    .map(([name, type]) =>
      type === 'bytea' ? `decode(${name}, 'hex') AS ${name}` : `${name}::${type} AS ${name}`,
    )
    .join(', ')
  const arrays = entries.map((_, position) => `string_to_array($${first + position}::text, ',', '')`)
  return `(SELECT ${values} FROM unnest(${arrays.join(', ')}) AS packed (${names}))`
}

/** A column as one parameter. No value may contain a comma; an empty one reads as NULL. */
export function column(
  values: readonly (Uint8Array | number | bigint | string | boolean | undefined)[],
): string {
  return values
    .map((value) => (value instanceof Uint8Array ? toHex(value) : value === undefined ? '' : String(value)))
    .join()
}
