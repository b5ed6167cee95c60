import { BytesSet, equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { renouncedAdministrator } from '@ratatosk/contracts'
import { testWallets } from '@ratatosk/devnet'
import type { Credential } from '@ratatosk/ledger'
import {
  isSatisfiedBy,
  isWalletError,
  keysFromSeedPhrase,
  keysOfNativeScript,
  type NativeScriptContent,
  nativeScript,
  type SigningKey,
  type WalletKeys,
} from '@ratatosk/ledger/builder'
import { isSettingsError, SettingsError } from '../errors.js'
import type { Network } from '../network/network.js'
import { duties, hasFaucet, watches } from '../roles.js'
import type { Settings } from '../settings/schema.js'

export interface AdministratorKeys {
  /** A parameter of the contracts. */
  readonly credential: Credential
  /** The administrator's signing; or why these settings have none; undefined without an administrator. */
  readonly signing: AdministratorSigning | { readonly absent: string } | undefined
}

interface AdministratorSigning {
  readonly wallet: WalletKeys
  /** If the administrator is a script: the script, and the keys that satisfy it together. */
  readonly script?: NativeScriptContent
  readonly keys: readonly SigningKey[]
}

const howToSign =
  'To run the operation, start the node with ADMIN_SEED_PHRASE_FILE, repeat the request, and start ' +
  'it without again'

/**
 * None with ADMIN_RENOUNCED; otherwise by ADMIN_SCRIPT, ADMIN_KEY_HASH or ADMIN_SEED_PHRASE, in this order;
 * the `operator`'s key counts too.
 * @throws SettingsError if they contradict each other, or the script cannot be read
 */
function administratorKeys(
  {
    ADMIN_RENOUNCED,
    ADMIN_SCRIPT,
    ADMIN_KEY_HASH,
  }: Pick<Settings, 'ADMIN_RENOUNCED' | 'ADMIN_SCRIPT' | 'ADMIN_KEY_HASH'>,
  own: readonly WalletKeys[],
  operator: WalletKeys | undefined,
): AdministratorKeys {
  if (ADMIN_RENOUNCED) return { credential: renouncedAdministrator, signing: undefined }
  if (ADMIN_SCRIPT !== undefined) return scriptAdministrator(ADMIN_SCRIPT.trim(), own, operator)
  const [first, second] = own
  if (second !== undefined)
    throw new SettingsError(['ADMIN_SEED_PHRASE holds several phrases: this needs ADMIN_SCRIPT.'])
  const hash = ADMIN_KEY_HASH === undefined ? first?.payment.hash : fromHex(ADMIN_KEY_HASH)
  if (hash === undefined) throw new TypeError('the rules of the settings ask for an administrator')
  if (first !== undefined && !equalBytes(first.payment.hash, hash)) {
    throw new SettingsError([
      `ADMIN_KEY_HASH is ${toHex(hash)} but the key of ADMIN_SEED_PHRASE has the hash ` +
        `${toHex(first.payment.hash)}: they must belong together.`,
    ])
  }
  const wallet = first ?? (operator && equalBytes(operator.payment.hash, hash) ? operator : undefined)
  return {
    credential: { kind: 'key', hash },
    signing: wallet
      ? { wallet, keys: [wallet.payment] }
      : { absent: `this node knows only the hash of the key. ${howToSign}` },
  }
}

function scriptAdministrator(
  text: string,
  own: readonly WalletKeys[],
  operator: WalletKeys | undefined,
): AdministratorKeys {
  if (/^[0-9a-f]{56}$/i.test(text)) {
    const absent =
      'this node knows only the hash of the script. To run the operation, start the node with the script ' +
      'itself in ADMIN_SCRIPT and with phrases of its keys in ADMIN_SEED_PHRASE_FILE'
    return { credential: { kind: 'script', hash: fromHex(text) }, signing: { absent } }
  }
  const script = readScript(text)
  const credential: Credential = { kind: 'script', hash: script.hash }
  const named = keysOfNativeScript(script.script)
  const wallets = [...own, ...(operator ? [operator] : [])]
  const keys = wallets.map(({ payment }) => payment).filter(({ hash }) => named.has(hash))
  const held = new BytesSet(keys.map(({ hash }) => hash))
  const [wallet] = wallets
  if (wallet !== undefined && isSatisfiedBy(script.script, held))
    return { credential, signing: { wallet, script, keys } }
  const missing = [...named].flatMap((hash) => (held.has(hash) ? [] : toHex(hash))).join(', ')
  const absent =
    'the keys at hand do not satisfy the script. To run the operation, start the node with phrases of ' +
    'enough of its other keys in ADMIN_SEED_PHRASE_FILE, separated by commas; not at hand: ' +
    missing
  return { credential, signing: { absent } }
}

function readScript(text: string): NativeScriptContent {
  try {
    return nativeScript(text)
  } catch (error) {
    if (isWalletError(error)) throw new SettingsError([`ADMIN_SCRIPT: ${error.message}.`])
    throw error
  }
}

/** The keys and addresses that a node's role needs; undefined for what it does not need. */
export interface NodeKeys {
  readonly administrator: AdministratorKeys | undefined
  /** Bech32 address of the operator's wallet, which pays for commitments. */
  readonly operatorAddress: string | undefined
  /** The operator's wallet, of a sequencer: signs headers and pays for commitments and merges. */
  readonly operator: WalletKeys | undefined
  readonly faucet: WalletKeys | undefined
  readonly watcher: WalletKeys | undefined
}

/** Accounts of the devnet's public test wallet that serve as defaults on a devnet. */
export const devnetAccounts = {
  ADMIN_SEED_PHRASE: 0,
  OPERATOR_SEED_PHRASE: 1,
  FAUCET_SEED_PHRASE: 2,
  WATCHER_SEED_PHRASE: 4,
} as const

/** Lovelace on a devnet's layer 1 for the ada that its layer 2 begins with, and for what sending it costs. */
export const backing = 2_001_000_000_000n
/** Of it, lovelace that are left for costs. */
export const backingCosts = 1_000_000_000n

/** Owns {@link backing}: an account of the devnet's public test wallet that has nothing else. */
export const backingKeys = (): WalletKeys =>
  keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: testWallets.wallets.length })

/** Reads the keys of a role. @throws SettingsError with every seed phrase and address that is invalid */
export function readKeys(settings: Settings, network: Network): NodeKeys {
  const { serves, sequences, reachesLayer1, validates } = duties[settings.NODE_ROLE]
  const problems: string[] = []
  function reading<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      if (!isSettingsError(error)) throw error
      problems.push(...error.problems)
      return undefined
    }
  }
  const keysOf = (setting: keyof typeof devnetAccounts) => walletKeys(setting, settings, network.id)
  const operator = sequences ? reading(() => keysOf('OPERATOR_SEED_PHRASE')) : undefined
  const watcher = watches(settings) ? reading(() => keysOf('WATCHER_SEED_PHRASE')) : undefined
  if (watcher && watcher.addressText === operator?.addressText)
    problems.push(
      'WATCHER_SEED_PHRASE has the address of OPERATOR_SEED_PHRASE: the watcher needs a wallet of its own.',
    )
  const keys = {
    // Who validates knows the bridge from the contracts.
    administrator:
      reachesLayer1 || (validates && network.isDevnet)
        ? reading(() => administratorKeys(settings, administratorWallets(settings, network), operator))
        : undefined,
    operatorAddress:
      serves.length > 0
        ? reading(() => operatorAddress(settings) ?? keysOf('OPERATOR_SEED_PHRASE').addressText)
        : undefined,
    operator,
    faucet: hasFaucet(settings) ? reading(() => keysOf('FAUCET_SEED_PHRASE')) : undefined,
    watcher,
  }
  if (problems.length > 0) throw new SettingsError([...new Set(problems)])
  return keys
}

/** The wallets of ADMIN_SEED_PHRASE; none if it is not set, or the administrator is renounced. */
function administratorWallets(settings: Settings, network: Network): readonly WalletKeys[] {
  const { ADMIN_SEED_PHRASE, ADMIN_KEY_HASH, ADMIN_SCRIPT, ADMIN_RENOUNCED } = settings
  if (ADMIN_RENOUNCED) return []
  const phrases = ADMIN_SEED_PHRASE?.split(',')
  if (phrases === undefined && (ADMIN_KEY_HASH ?? ADMIN_SCRIPT) !== undefined) return []
  return (phrases ?? [undefined]).map((phrase) => {
    const { ADMIN_SEED_PHRASE: _all, ...rest } = settings
    const single = phrase === undefined ? rest : { ...rest, ADMIN_SEED_PHRASE: phrase }
    return walletKeys('ADMIN_SEED_PHRASE', single, network.id)
  })
}

function walletKeys(setting: keyof typeof devnetAccounts, settings: Settings, networkId: 0 | 1): WalletKeys {
  const phrase = settings[setting]
  try {
    if (phrase !== undefined) return keysFromSeedPhrase(phrase, { networkId })
    return keysFromSeedPhrase(testWallets.mnemonic, { networkId, account: devnetAccounts[setting] })
  } catch (error) {
    if (isWalletError(error)) throw new SettingsError([`${setting}: ${error.message}.`])
    throw error
  }
}

/** OPERATOR_ADDRESS, unless the seed phrase is there to derive it from. */
const operatorAddress = ({ OPERATOR_ADDRESS, OPERATOR_SEED_PHRASE }: Settings): string | undefined =>
  OPERATOR_SEED_PHRASE === undefined ? OPERATOR_ADDRESS : undefined
