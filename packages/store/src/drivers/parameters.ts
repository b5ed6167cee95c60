export type Scalar = Uint8Array | string | number | bigint | Date | null
export type Parameter = Scalar | readonly Scalar[]

/** PostgreSQL's type numbers of what the drivers' own conversions are replaced for. */
export const typeOf = { bytea: 17, int8: 20 } as const

/**
 * A parameter in PostgreSQL's text format. Arrays become array literals here, because neither driver can write a
 * `bytea[]`, and one literal for a whole column is what makes `unnest` fast.
 */
export function toText(parameter: Parameter): string | null {
  return isArray(parameter) ? `{${parameter.map(toElement).join()}}` : scalarToText(parameter)
}

function isArray(parameter: Parameter): parameter is readonly Scalar[] {
  return Array.isArray(parameter)
}

function scalarToText(scalar: Scalar): string | null {
  if (scalar === null || typeof scalar === 'string') return scalar
  if (scalar instanceof Uint8Array) return `\\x${toHex(scalar)}`
  return scalar instanceof Date ? scalar.toISOString() : String(scalar)
}

function toElement(scalar: Scalar): string {
  if (scalar === null) return 'NULL'
  if (scalar instanceof Uint8Array) return `"\\\\x${toHex(scalar)}"`
  if (typeof scalar === 'number' || typeof scalar === 'bigint') return String(scalar)
  const text = scalar instanceof Date ? scalar.toISOString() : scalar
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

/** Reads `bytea` in its hex format. */
export function toBytes(text: string): Uint8Array {
  const buffer = Buffer.from(text.slice(2), 'hex')
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
}
