/**
 * JSON in which a bigint is a number, however large: Kupo and Ogmios write quantities so, and `JSON.stringify` cannot.
 * Members that are `undefined` are left out.
 */
export function encodeJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map((item) => encodeJson(item ?? null)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${encodeJson(member)}`).join(',')}}`
}
