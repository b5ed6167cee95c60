/** How deep a value is followed. */
const maxDepth = 16

/**
 * A value as a log can take it: JSON, with bytes in hex, big integers and dates as text, sets as arrays, maps as objects, and
 * functions left out. What is inside itself or too deep is named instead of followed.
 */
export function loggable(value: unknown): unknown {
  return toJson(value, [])
}

function toJson(value: unknown, around: readonly object[]): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'symbol') return value.toString()
  if (typeof value === 'function') return undefined
  if (typeof value !== 'object' || value === null) return value
  if (around.includes(value)) return '[circular]'
  if (around.length === maxDepth) return '[deeper]'
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (value instanceof Error) return `${value.name}: ${value.message}`
  const inside = [...around, value]
  if (Array.isArray(value) || value instanceof Set) return [...value].map((item) => toJson(item, inside))
  const entries = value instanceof Map ? [...value] : Object.entries(value)
  return Object.fromEntries(entries.map(([key, item]) => [keyOf(key), toJson(item, inside)]))
}

function keyOf(key: unknown): string {
  return key instanceof Uint8Array ? Buffer.from(key).toString('hex') : String(key)
}
