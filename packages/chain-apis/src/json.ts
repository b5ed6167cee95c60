/** JSON that is encoded already, as UTF-8. */
export class JsonBytes {
  constructor(readonly bytes: Buffer) {}
}

/**
 * Encodes JSON with bigints as numbers of any size, as Kupo and Ogmios write quantities; `JSON.stringify`
 * rejects bigints. Members that are `undefined` are omitted.
 */
export function encodeJson(value: unknown): string {
  return encodeJsonParts(value).join('')
}

/** The same in parts, of which each {@link JsonBytes} is one that is not copied. */
export function encodeJsonParts(value: unknown): readonly (string | Buffer)[] {
  const encoded: Buffer[] = []
  const text = encode(value, encoded)
  if (encoded.length === 0) return [text]
  return text.split(placeholder).flatMap((part, index) => [part, ...encoded.slice(index, index + 1)])
}

/** Stands for a {@link JsonBytes}; JSON text has no such character. */
const placeholder = '\0'

function encode(value: unknown, encoded: Buffer[]): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map((item) => encode(item ?? null, encoded)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (value instanceof JsonBytes) {
    encoded.push(value.bytes)
    return placeholder
  }
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${encode(member, encoded)}`).join(',')}}`
}

export type JsonObject = { readonly [key: string]: unknown }

/** True for parsed JSON that is an object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
