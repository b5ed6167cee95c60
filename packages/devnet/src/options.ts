import { DevnetError } from './errors.js'

/**
 * Refuses options that do not exist, which are misspelt. One that is undefined counts as absent.
 *
 * @param of whose options they are
 * @throws {DevnetError} `DEVNET_CONFIGURATION` names the first, and those that exist
 */
export function refuseUnknown(of: string, options: object, names: readonly string[]): void {
  const unknown = unknownOf(options, names)
  if (unknown === undefined) return
  throw wrong(`${of}: there is no option ${unknown}; its options are ${names.join(', ')}`)
}

/** Like {@link refuseUnknown}, for a plugin, whose options include those that `register` itself takes. */
export function refuseUnknownOf(plugin: string, options: object, names: readonly string[]): void {
  const own = Object.entries(options).filter(([name]) => !ofFastify.has(name))
  refuseUnknown(plugin, Object.fromEntries(own), names)
}

const ofFastify: ReadonlySet<string> = new Set(['prefix', 'logLevel', 'logSerializers'])

/** The first field that has a value and none of these names. */
export function unknownOf(fields: object, names: readonly string[]): string | undefined {
  return Object.entries(fields).find(([name, value]) => value !== undefined && !names.includes(name))?.[0]
}

export function wrong(message: string): DevnetError {
  return new DevnetError('DEVNET_CONFIGURATION', message)
}
