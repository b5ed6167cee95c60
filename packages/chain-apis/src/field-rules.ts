/** Which values a field takes, and the end of "<field> must be …". */
export type FieldRule = readonly [takes: (value: unknown) => boolean, expected: string]

/** Options that `register` of Fastify itself takes. */
export const optionsOfFastify: readonly string[] = ['prefix', 'logLevel', 'logSerializers']

/** The longest time of a timer of Node.js, in milliseconds; a longer one would end after 1. */
export const longestTimer = 2 ** 31 - 1

/** Lets a field be absent or undefined. */
export function optional([takes, expected]: FieldRule): FieldRule {
  return [(value) => value === undefined || takes(value), expected]
}

/** Rule of an object that has these methods. */
export function withMethods(...names: readonly string[]): FieldRule {
  return [
    (value) => names.every((name) => typeof Object(value)[name] === 'function'),
    `an object with the method${names.length > 1 ? 's' : ''} ${names.join(', ')}`,
  ]
}

/** Rule of a whole number from `least` to `most`, which is 2^53 - 1 by default. */
export function wholeNumber(least: number, most?: number): FieldRule {
  const [top, end] = most === undefined ? [Number.MAX_SAFE_INTEGER, ''] : [most, ` to ${most}`]
  return [
    (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= top,
    `a whole number from ${least}${end}`,
  ]
}

/** Rule of one of these texts. */
export function oneOf(...texts: readonly string[]): FieldRule {
  const expected = texts.length > 2 ? `one of ${texts.join(', ')}` : texts.join(' or ')
  return [(value) => texts.some((text) => text === value), expected]
}

/** Rule of the path of an API in the options of a plugin; it may be absent. */
export const apiPath: FieldRule = optional([
  (value) => value === false || (typeof value === 'string' && /^(?:\/.*)?$/.test(value)),
  'a path that begins with a slash, or false',
])

/**
 * Explains the first field that has a value but none of these names: it is misspelt. Undefined if there is
 * none.
 *
 * @param of what has the fields: the beginning of the text
 * @param noun what the fields are
 * @param unlisted names that may occur as well
 */
export function faultOfNames(
  of: string,
  noun: 'option' | 'field' | 'parameter',
  names: readonly string[],
  fields: object,
  unlisted: readonly string[] = [],
): string | undefined {
  const known = [...names, ...unlisted]
  const unknown = Object.entries(fields).find(([name, value]) => value !== undefined && !known.includes(name))
  return unknown && `${of}: there is no ${noun} ${unknown[0]}; its ${noun}s are ${names.join(', ')}`
}

/**
 * Explains the first field that is misspelt, as {@link faultOfNames} does, or else breaks its rule. Undefined
 * if there is none.
 *
 * @example
 * ```ts
 * faultOfFields('openShop', 'option', { log: withMethods('warn') }, { log: 1 })
 * // 'openShop: log must be an object with the method warn, not 1'
 * ```
 */
export function faultOfFields(
  of: string,
  noun: 'option' | 'field' | 'parameter',
  rules: Readonly<Record<string, FieldRule>>,
  fields: unknown,
  unlisted?: readonly string[],
): string | undefined {
  const names = Object.keys(rules)
  if (!isObject(fields)) return `${of}: the ${noun}s must be an object; its ${noun}s are ${names.join(', ')}`
  const misspelt = faultOfNames(of, noun, names, fields, unlisted)
  if (misspelt !== undefined) return misspelt
  for (const [name, [takes, expected]] of Object.entries(rules)) {
    const value = fields[name]
    if (!takes(value)) return `${of}: ${name} must be ${expected}${shown(value)}`
  }
  return undefined
}

/** A wrong value at the end of a sentence; nothing if its text says little. */
function shown(value: unknown): string {
  const isLong = typeof value === 'function' || (typeof value === 'object' && value !== null)
  return isLong ? '' : `, not ${String(value)}`
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
