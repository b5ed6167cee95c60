/** Levels of nesting that are logged. */
const maxDepth = 16

/** Converts a value to JSON for the log. Circular references become `[circular]`, deep ones `[deeper]`. */
export function loggable(value: unknown): unknown {
  return toJson(value, [])
}

function toJson(value: unknown, ancestors: readonly object[]): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'symbol') return value.toString()
  if (typeof value === 'function') return undefined
  if (typeof value !== 'object' || value === null) return value
  if (ancestors.includes(value)) return '[circular]'
  if (ancestors.length === maxDepth) return '[deeper]'
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (value instanceof Error) return `${value.name}: ${value.message}`
  const path = [...ancestors, value]
  if (Array.isArray(value) || value instanceof Set) return [...value].map((item) => toJson(item, path))
  const entries = value instanceof Map ? [...value] : Object.entries(value)
  return Object.fromEntries(entries.map(([key, item]) => [keyOf(key), toJson(item, path)]))
}

function keyOf(key: unknown): string {
  return key instanceof Uint8Array ? Buffer.from(key).toString('hex') : String(key)
}
