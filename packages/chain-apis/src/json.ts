/** JSON that is encoded already: in UTF-8, or as text that is read while it is sent. */
export class EncodedJson<Part extends JsonPart = JsonPart> {
  constructor(readonly part: Part) {}
}

/**
 * Encodes JSON with bigints as numbers of any size, as Kupo and Ogmios write quantities; `JSON.stringify`
 * rejects bigints. Members that are `undefined` are omitted.
 *
 * @param value without {@link EncodedJson}
 */
export function encodeJson(value: unknown): string {
  return encode(value, [])
}

/** A part of JSON text: text, encoded text, or text that is read while it is sent. */
export type JsonPart = string | Buffer | AsyncIterable<string>

/** The same, in parts: each {@link EncodedJson} is one of them and is not copied. The last one is text. */
export function encodeJsonParts(value: unknown): readonly JsonPart[] {
  const encoded: JsonPart[] = []
  const text = encode(value, encoded)
  if (encoded.length === 0) return [text]
  return text.split(placeholder).flatMap((part, index) => [part, ...encoded.slice(index, index + 1)])
}

/** Stands for an {@link EncodedJson}; JSON text has no such character. */
const placeholder = '\0'

function encode(value: unknown, encoded: JsonPart[]): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map((item) => encode(item ?? null, encoded)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (value instanceof EncodedJson) {
    encoded.push(value.part)
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
