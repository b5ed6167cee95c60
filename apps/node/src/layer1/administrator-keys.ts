import { BytesSet, equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { renouncedAdministrator } from '@ratatosk/contracts'
import type { Credential } from '@ratatosk/ledger'
import {
  isSatisfiedBy,
  isWalletError,
  keysOfNativeScript,
  type NativeScriptContent,
  nativeScript,
  type SigningKey,
  type WalletKeys,
} from '@ratatosk/ledger/builder'
import { SettingsError } from '../errors.js'
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
export function administratorKeys(
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
