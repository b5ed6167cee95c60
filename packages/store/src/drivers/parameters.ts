import { toHex } from './columns.js'

/** Bytes are sent by themselves or through `bytesColumn`, never in an array. */
export type Parameter =
  | Uint8Array
  | string
  | number
  | bigint
  | readonly (number | null)[]
  | readonly string[]
  | readonly Date[]

/** PostgreSQL's numbers of the types whose conversion the drivers leave to us. */
export const typeOf = { bytea: 17, int8: 20 } as const

/** A parameter in PostgreSQL's text format, the same for both drivers. */
export function toText(parameter: Parameter): string {
  if (parameter instanceof Uint8Array) return `\\x${toHex(parameter)}`
  if (typeof parameter !== 'object') return String(parameter)
  return `{${parameter.map(toElement).join()}}`
}

function toElement(element: number | string | Date | null): string {
  if (element === null) return 'NULL'
  if (typeof element === 'number') return String(element)
  const text = typeof element === 'string' ? element : element.toISOString()
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

/** Reads `bytea` in its hex format. */
export function toBytes(text: string): Uint8Array {
  const buffer = Buffer.from(text.slice(2), 'hex')
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
}
