import { FormatRegistry, OptionalKind, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { isHostName, tokenPattern, tokenRule } from './guards.js'

/**
 * Checks the options of a plugin when it is registered.
 *
 * @param plugin npm name of the plugin
 * @param rules a schema per option; its keyword `expected` completes "<option> must be …". An option may be
 *   absent if its schema is wrapped in `Type.Optional`
 * @throws {TypeError} for the first option that breaks its rule: names plugin, option and what is expected;
 *   and for one that has no rule, which is misspelt
 *
 * @example
 * ```ts
 * checkOptions('@ratatosk/submit', { queue: hasMethods('add') }, options)
 * // TypeError: @ratatosk/submit: queue must be an object with the method add
 * ```
 */
export function checkOptions(
  plugin: string,
  rules: Readonly<Record<string, TSchema>>,
  options: object,
): void {
  for (const [name, rule] of Object.entries(rules)) {
    const value: unknown = (options as Readonly<Record<string, unknown>>)[name]
    if (value === undefined && OptionalKind in rule) continue
    if (!Value.Check(rule, value)) throw new TypeError(`${plugin}: ${name} must be ${rule.expected}`)
  }
  const unknown = Object.entries(options).find(
    ([name, value]) => value !== undefined && !(name in rules) && !ofFastify.has(name),
  )
  if (unknown === undefined) return
  const known = Object.keys(rules).join(', ') || 'none'
  throw new TypeError(`${plugin}: there is no option ${unknown[0]}; its options are ${known}`)
}

/** Options that `register` itself takes. */
const ofFastify: ReadonlySet<string> = new Set(['prefix', 'logLevel', 'logSerializers'])

/** Rule of an option that its user checks. */
export const checkedLater = Type.Optional(Type.Unknown())

/** Rule of an option that is a bearer token. */
export const tokenText = Type.String({ pattern: tokenPattern.source, expected: tokenRule })

const hostFormat = 'ratatosk-host'
FormatRegistry.Set(hostFormat, isHostName)

/** Rules of {@link OperatorAccess}. */
export const operatorAccessRules = {
  allowedHosts: Type.Optional(
    Type.Array(Type.String({ format: hostFormat }), {
      expected: 'an array of host names or IP addresses, without port',
    }),
  ),
  operatorToken: Type.Optional(tokenText),
}

const method = Type.Function([], Type.Unknown())

/** Rule of an option that is an object with these methods. */
export function hasMethods(...names: readonly string[]) {
  return Type.Object(Object.fromEntries(names.map((name) => [name, method])), {
    expected: `an object with the method${names.length > 1 ? 's' : ''} ${names.join(', ')}`,
  })
}

/**
 * Rule of an option that is an object of functions.
 *
 * @param reserved names that no function may have
 */
export function functionsByName(...reserved: readonly string[]) {
  const others = reserved.length > 0 ? ` with other names than ${reserved.join(', ')}` : ''
  return Type.Record(Type.String({ pattern: `^(?!(?:${reserved.join('|')})$)` }), method, {
    additionalProperties: false,
    expected: `an object of functions${others}`,
  })
}

/** Rule of an option that is one of these texts. */
export function oneOf(...texts: readonly string[]) {
  return Type.String({ pattern: `^(?:${texts.join('|')})$`, expected: texts.join(' or ') })
}

/** Rule of a whole number from a minimum to 2^53 - 1. */
export function integer(minimum: number) {
  const expected = `a whole number from ${minimum}`
  return Type.Integer({ minimum, maximum: Number.MAX_SAFE_INTEGER, expected })
}

/** Rule of an optional {@link integer}. */
export function optionalInteger(minimum: number) {
  return Type.Optional(integer(minimum))
}

/** The longest time of a timer of Node.js, in milliseconds; a longer one would end after 1. */
const maxTimer = 2 ** 31 - 1

/** Rule of the milliseconds of a timer. */
export function timer(minimum: number) {
  const expected = `a whole number from ${minimum} to ${maxTimer}`
  return Type.Integer({ minimum, maximum: maxTimer, expected })
}

/** Rule of an optional {@link timer}. */
export function optionalTimer(minimum: number) {
  return Type.Optional(timer(minimum))
}

/** The network whose addresses a plugin accepts. All test networks share one network id (CIP-19). */
export type AddressNetwork = 'mainnet' | 'testnet'

/** The network id in the addresses of a network (CIP-19). */
export const networkIds: Readonly<Record<AddressNetwork, number>> = { testnet: 0, mainnet: 1 }

/** Rule of an option that is an {@link AddressNetwork}. */
export const addressNetwork = () => oneOf('mainnet', 'testnet')
