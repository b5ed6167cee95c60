import type { Schema } from './schema.js'
import { answers, named } from './schemas.js'

/**
 * Why the JSON of a 2xx is not what the OpenAPI document describes; undefined if it is, or if the document
 * does not have the operation. Entries that it does not describe are accepted.
 *
 * @param operation method and path, such as `GET /operators`
 * @example
 * createClient(url, { checkAnswer: faultOf })
 */
export function faultOf(operation: string, answer: unknown): string | undefined {
  const schema = Object.hasOwn(answers, operation) ? answers[operation] : undefined
  return schema && faultIn(schema, answer, 'the answer')
}

function faultIn(schema: Schema, value: unknown, place: string): string | undefined {
  const { $ref, anyOf, enum: values, not, pattern } = schema
  const target = $ref === undefined ? undefined : named[$ref]
  if (target !== undefined) return faultIn(target, value, place)
  if (anyOf !== undefined) {
    const faults = anyOf.map((each) => faultIn(each, value, place))
    return faults.includes(undefined) ? undefined : faults.at(-1)
  }
  if (not !== undefined) return `${place} must be absent`
  if (values !== undefined && !values.includes(value)) return `${place} is not one of ${values.join(', ')}`
  return (
    faultOfType(schema, value, place) ??
    faultOfNumber(schema, value, place) ??
    faultOfText(pattern, value, place)
  )
}

function faultOfType(schema: Schema, value: unknown, place: string): string | undefined {
  switch (schema.type) {
    case 'array':
      return Array.isArray(value) ? faultOfItems(schema, value, place) : `${place} is not a list`
    case 'object':
      return isFields(value) ? faultOfFields(schema, value, place) : `${place} is not an object`
    case 'integer':
      return Number.isInteger(value) ? undefined : `${place} is not a whole number`
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === schema.type ? undefined : `${place} is not a ${schema.type}`
    default:
      return undefined
  }
}

function faultOfNumber({ minimum, maximum }: Schema, value: unknown, place: string): string | undefined {
  if (typeof value !== 'number') return undefined
  if (minimum !== undefined && value < minimum) return `${place} is less than ${minimum}`
  return maximum !== undefined && value > maximum ? `${place} is more than ${maximum}` : undefined
}

/** Amounts and numbers of slots: none of 64 bits has more, and the work for one grows with its length. */
const digits = '^[0-9]+$'
const mostDigits = 20

const expressions = new Map<string, RegExp>()

/** A pattern of a schema, compiled once: a list may have it for each of many thousand values. */
function expressionOf(pattern: string): RegExp {
  const known = expressions.get(pattern) ?? new RegExp(pattern, 'u')
  expressions.set(pattern, known)
  return known
}

function faultOfText(pattern: string | undefined, value: unknown, place: string): string | undefined {
  if (pattern === digits && typeof value === 'string' && value.length > mostDigits)
    return `${place} has more than ${mostDigits} digits`
  if (pattern === undefined || typeof value !== 'string' || expressionOf(pattern).test(value))
    return undefined
  return `${place} does not match ${pattern}`
}

function faultOfItems({ items = {} }: Schema, values: readonly unknown[], place: string): string | undefined {
  for (const [index, value] of values.entries()) {
    const fault = faultIn(items, value, `${place}[${index}]`)
    if (fault !== undefined) return fault
  }
  return undefined
}

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function faultOfFields({ properties = {}, required }: Schema, value: Fields, place: string) {
  for (const [name, schema] of Object.entries(properties)) {
    const isPresent = Object.hasOwn(value, name)
    if (!isPresent && required?.includes(name)) return `${place} has no ${name}`
    const fault = isPresent ? faultIn(schema, value[name], `${place}.${name}`) : undefined
    if (fault !== undefined) return fault
  }
  return undefined
}
