import { testWallets } from '@ratatosk/devnet'
import { type Address, type Assets, decodeBech32Address } from '@ratatosk/ledger'
import { isWalletError, keysFromSeedPhrase, type WalletKeys } from '@ratatosk/ledger/builder'
import { fileLimits } from '@ratatosk/node/regular-file'
import { CommandError, UsageError } from '../frame/errors.js'
import { fileText } from '../frame/files.js'
import { nodeArguments } from '../frame/node-connection.js'

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

/** Options that say who pays. */
export const payerArguments = {
  'seed-file': {
    type: 'string',
    valueHint: 'path',
    description:
      'File with the seed phrase that pays. Default: a test wallet of the devnet, whose keys are public',
  },
  account: { type: 'string', valueHint: 'number', description: 'Account of the phrase (CIP-1852)' },
} as const

/** Options of a command that moves money over the bridge. */
export const transferArguments = {
  lovelace: {
    type: 'string',
    valueHint: 'amount',
    required: true,
    description: 'Lovelace; 1 ada is 1000000',
  },
  asset: { type: 'string', valueHint: 'unit=quantity,…', description: 'Tokens of bridged policies, too' },
  ...payerArguments,
  bridge: { type: 'string', valueHint: 'address', description: "Use this bridge only. Default: the node's" },
  wait: { type: 'boolean', description: 'Wait until the money is there' },
  ...nodeArguments,
} as const

/** Of the test wallets: the accounts before it are those of a node. */
const testAccount = 5
const mostAccounts = 2 ** 31 - 1

/** Money to be moved over the bridge. */
export interface BridgeOrder {
  readonly from: WalletKeys
  /** On the other layer. */
  readonly to: Address
  readonly lovelace: bigint
  readonly units: ReadonlyMap<string, bigint>
  /** Bech32: no other bridge. */
  readonly bridge?: string | undefined
}

interface OrderArguments {
  readonly 'seed-file'?: string | undefined
  readonly account?: string | undefined
  readonly to: string
  readonly lovelace: string
  readonly asset?: string | undefined
  readonly bridge?: string | undefined
}

/** The order of a command with {@link transferArguments} and `--to`. @throws UsageError or CommandError */
export const orderOf = (args: OrderArguments): BridgeOrder => ({
  from: keysOf(args),
  to: receiverOf(args.to),
  lovelace: lovelaceOf(args.lovelace),
  units: unitsOf(args.asset),
  bridge: args.bridge,
})

/** The keys that pay, of test networks. @throws UsageError or CommandError */
export function keysOf(args: Pick<OrderArguments, 'seed-file' | 'account'>): WalletKeys {
  const { 'seed-file': file, account: text = file === undefined ? String(testAccount) : '0' } = args
  const account = /^\d{1,10}$/.test(text) ? Number(text) : mostAccounts + 1
  if (account > mostAccounts) throw new UsageError(`--account is "${text}": it must be a whole number.`)
  const phrase =
    file === undefined
      ? testWallets.mnemonic
      : fileText(file, '--seed-file', 'CLI_SEED_FILE', fileLimits.secret).trim()
  try {
    return keysFromSeedPhrase(phrase, { networkId: 0, account })
  } catch (error) {
    if (!isWalletError(error)) throw error
    throw new CommandError('CLI_SEED_FILE', `"${file}": ${error.message}.`)
  }
}

/** A payment address of a test network without a pointer. @throws UsageError, which names the option */
export function receiverOf(text: string, option = '--to'): Address {
  try {
    const address = decodeBech32Address(text)
    if ((address.kind === 'base' || address.kind === 'enterprise') && address.networkId === 0) return address
  } catch {
    // The text is not repeated: the caller has it.
  }
  throw new UsageError(`${option} must be a bech32 payment address of a test network, without a pointer.`)
}
