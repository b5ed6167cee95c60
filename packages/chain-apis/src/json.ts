/**
 * Encodes JSON with bigints as numbers of any size, as Kupo and Ogmios write quantities; `JSON.stringify`
 * rejects bigints. Members that are `undefined` are omitted.
 */
export function encodeJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map((item) => encodeJson(item ?? null)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${encodeJson(member)}`).join(',')}}`
}

export type JsonObject = { readonly [key: string]: unknown }

/** True for parsed JSON that is an object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
