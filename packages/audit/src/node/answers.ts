/** An entry of an answer, which may have any shape; otherwise throws an Error that names it. */
function entryOf(answer: unknown, name: string): unknown {
  if (typeof answer === 'object' && answer !== null && Object.hasOwn(answer, name))
    return (answer as Readonly<Record<string, unknown>>)[name]
  throw new Error(`its answer has no ${name}`)
}

export function listIn(answer: unknown, name: string): readonly unknown[] {
  const list = entryOf(answer, name)
  if (Array.isArray(list)) return list
  throw new Error(`its answer has a ${name} that is no list`)
}

export function textIn(answer: unknown, name: string): string {
  const text = entryOf(answer, name)
  if (typeof text === 'string') return text
  throw new Error(`its answer has a ${name} that is no text`)
}

/** @param digits how many a hash has */
export function hashIn(answer: unknown, name: string, digits: number): string {
  return hashOf(textIn(answer, name), name, digits)
}

export const hashesIn = (answer: unknown, name: string, digits: number): readonly string[] =>
  listIn(answer, name).map((hash) => hashOf(hash, name, digits))

export function heightIn(answer: unknown, name: string): number {
  const height = entryOf(answer, name)
  if (typeof height === 'number' && Number.isSafeInteger(height)) return height
  throw new Error(`its answer has a ${name} that is no number`)
}

/** An entry that may be absent. */
export function optionalIn(answer: unknown, name: string): unknown {
  return typeof answer === 'object' && answer !== null && Object.hasOwn(answer, name)
    ? entryOf(answer, name)
    : undefined
}

function hashOf(value: unknown, name: string, digits: number): string {
  if (typeof value === 'string' && value.length === digits && /^[0-9a-f]+$/.test(value)) return value
  throw new Error(`its answer has a hash in ${name} that has not ${digits} hex digits`)
}
