import type { Assets } from '@ratatosk/ledger'
import { UsageError } from '../frame/errors.js'

const mostLovelace = 45_000_000_000_000_000n

/** A positive amount of lovelace. @param option that has it @throws UsageError */
export function lovelaceOf(text: string, option = '--lovelace'): bigint {
  const amount = /^[0-9]{1,17}$/.test(text) ? BigInt(text) : 0n
  if (amount > 0n && amount <= mostLovelace) return amount
  throw new UsageError(
    `${option} is "${text}": it must be a whole number from 1 to ${mostLovelace}; 1 ada is 1000000.`,
  )
}

/** Amounts by unit in lower case, of `unit=quantity,…`. @throws UsageError */
export function unitsOf(text: string | undefined): ReadonlyMap<string, bigint> {
  const units = new Map<string, bigint>()
  for (const each of text === undefined ? [] : text.split(',')) {
    const match = /^([0-9a-f]{56}(?:[0-9a-f]{2}){0,32})=([1-9][0-9]{0,18})$/i.exec(each.trim())
    const [, unit = '', quantity = ''] = match ?? []
    if (match === null)
      throw new UsageError(
        `--asset is "${each}": it must be <policy id and asset name in hex>=<quantity>, separated by commas.`,
      )
    if (units.has(unit.toLowerCase()))
      throw new UsageError(`--asset has two quantities of ${unit}: name one.`)
    units.set(unit.toLowerCase(), BigInt(quantity))
  }
  return units
}

/** The same by policy and name. */
export function assetsOf(units: ReadonlyMap<string, bigint>): Assets {
  const assets = new Map<string, Map<string, bigint>>()
  for (const [unit, quantity] of units) {
    const [policy, name] = [unit.slice(0, 56), unit.slice(56)]
    assets.set(policy, (assets.get(policy) ?? new Map<string, bigint>()).set(name, quantity))
  }
  return assets
}
