import { CborWriter, concatBytes, equalBytes, fromHex, isDecodeError, toHex } from '@ratatosk/cbor'
import { type Address, decodeAddress, decodeBech32Address, isAddressError } from '@ratatosk/ledger'
import {
  type Cip30Api,
  type Cip30Wallet,
  cip30Error,
  type DataSignature,
  type DevWalletOptions,
  invalidRequest,
  type PublicWallet,
} from '../cip30.js'
import { bytesOfHex, createLedgerClient, fundsOf, pageOf } from '../ledger-client.js'
import { readParameters } from '../parameters.js'
import { assertComplete, neededKeys, readTransaction } from '../signatures.js'
import { type BrowserKey, publicSigningKey } from './signing-key.js'

const icon =
  'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"%3E%3Ccircle ' +
  'cx="4" cy="4" r="4" fill="%23b5651d"/%3E%3C/svg%3E'

/** The parts of a page that the script needs. */
interface Page {
  readonly document?: { readonly currentScript?: { readonly src?: string } | null }
  readonly location?: { readonly href: string }
  cardano?: Record<string, Cip30Wallet>
}

/**
 * Offers a public wallet as `window.cardano.ratatosk`. Query parameters of the script: `account` (default 3:
 * a node uses the first three), `url` (the Blockfrost API of a ledger), and `decline` (`enable` or `sign`),
 * for a user who declines. With others, `enable` rejects.
 */
export function install({ wallets, url }: DevWalletOptions, page: Page = globalThis as Page): void {
  const src = page.document?.currentScript?.src || undefined
  // A page has parameters of its own.
  const query = new URLSearchParams(src && new URL(src).search)
  let api: Cip30Api | undefined

  function open(): Cip30Api {
    const chosen = readParameters(query, wallets)
    if (typeof chosen === 'string') throw invalidRequest(chosen)
    const { wallet, decline } = chosen
    if (decline === 'enable')
      throw cip30Error('APIError', 'Refused', 'The user declined to connect the wallet')
    const ledger = new URL(chosen.url ?? url, src ?? page.location?.href).href
    return publicWalletApi({ wallet, url: ledger, declines: decline === 'sign' })
  }

  page.cardano ??= {}
  page.cardano.ratatosk = Object.freeze({
    name: 'Ratatosk devnet',
    icon,
    apiVersion: '1',
    supportedExtensions: [],
    isEnabled: async () => api !== undefined,
    async enable() {
      api ??= open()
      return api
    },
  })
}

/** The header of a test network's reward address of a key (CIP-19, type 14). */
const rewardHeader = 0xe0

interface WalletApiOptions {
  readonly wallet: PublicWallet
  /** URL of the Blockfrost API of a ledger. */
  readonly url: string
  /** Whether it behaves like a user who declines every signature. */
  readonly declines: boolean
}

/** The CIP-30 API of a wallet with one address and public keys. */
function publicWalletApi({ wallet, url, declines }: WalletApiOptions): Cip30Api {
  const client = createLedgerClient(url)
  const payment = publicSigningKey(wallet.signingKey)
  const stake = publicSigningKey(wallet.stakeSigningKey)
  const keys = [payment, stake]
  const address = toHex(decodeBech32Address(wallet.address).bytes)
  return {
    ...fundsOf(client, async () => [address]),
    getExtensions: async () => [],
    getNetworkId: async () => 0,
    getUsedAddresses: async (paginate) => pageOf([address], paginate),
    getUnusedAddresses: async () => [],
    getChangeAddress: async () => address,
    getRewardAddresses: async () => [toHex(concatBytes(Uint8Array.of(rewardHeader), stake.hash))],
    async signTx(tx, partialSign = false) {
      const transaction = readTransaction(tx)
      if (declines)
        throw cip30Error('TxSignError', 'UserDeclined', 'The user declined to sign the transaction')
      const needed = await neededKeys(transaction, client)
      const isNeeded = ({ hash }: BrowserKey): boolean => needed.hashes.has(hash) || needed.optional.has(hash)
      // An unknown input may be an output of this wallet, in a transaction that is not submitted yet.
      const signers = keys.filter((key) => isNeeded(key) || (key === payment && needed.unknown.length > 0))
      const witnessSet = encodeWitnesses(signers, transaction.id)
      if (!partialSign) assertComplete(transaction, witnessSet, needed)
      return toHex(witnessSet)
    },
    async signData(signer, payload) {
      const signature = signData(keys, signer, payload)
      if (declines) throw cip30Error('DataSignError', 'UserDeclined', 'The user declined to sign the data')
      return signature
    },
  }
}

function encodeWitnesses(signers: readonly BrowserKey[], id: Uint8Array): Uint8Array {
  if (signers.length === 0) return new CborWriter().map(0).toBytes()
  const writer = new CborWriter().map(1).uint(0).tag(258).array(signers.length)
  for (const key of signers) writer.array(2).bytes(key.publicKey).bytes(key.sign(id))
  return writer.toBytes()
}

/** Labels and values of COSE (RFC 9052, RFC 9053). */
const cose = { alg: 1, kty: 1, keyAlg: 3, crv: -1, x: -2, edDsa: -8, okp: 1, ed25519: 6 } as const

/**
 * Signs data (CIP-8, CIP-30): a COSE_Sign1 whose protected header names the algorithm and the address.
 * @param address hex or bech32; of the payment key or of the stake account
 */
function signData(keys: readonly BrowserKey[], address: unknown, payload: unknown): DataSignature {
  const message = bytesOfHex(payload, 'payload')
  const { bytes, credential } = credentialOf(readAddress(address))
  if (credential?.kind !== 'key') {
    throw cip30Error('DataSignError', 'AddressNotPK', 'The address does not belong to a key')
  }
  const key = keys.find(({ hash }) => equalBytes(hash, credential.hash))
  if (key === undefined) {
    throw cip30Error(
      'DataSignError',
      'ProofGeneration',
      `The wallet does not have the key ${toHex(credential.hash)}`,
    )
  }
  const header = new CborWriter().map(2).int(cose.alg).int(cose.edDsa).text('address').bytes(bytes).toBytes()
  const signed = new CborWriter()
    .array(4)
    .text('Signature1')
    .bytes(header)
    .bytes(new Uint8Array(0))
    .bytes(message)
  const sign1 = new CborWriter().array(4).bytes(header).map(1).text('hashed').boolean(false).bytes(message)
  const coseKey = new CborWriter().map(4).int(cose.kty).int(cose.okp).int(cose.keyAlg).int(cose.edDsa)
  coseKey.int(cose.crv).int(cose.ed25519).int(cose.x).bytes(key.publicKey)
  return {
    signature: toHex(sign1.bytes(key.sign(signed.toBytes())).toBytes()),
    key: toHex(coseKey.toBytes()),
  }
}

function readAddress(address: unknown): Address {
  try {
    if (typeof address !== 'string') throw invalidRequest('address must be hex or bech32')
    return /^([0-9a-f]{2})+$/i.test(address)
      ? decodeAddress(fromHex(address.toLowerCase()))
      : decodeBech32Address(address)
  } catch (error) {
    if (!isAddressError(error) && !isDecodeError(error)) throw error
    throw invalidRequest(`address is neither hex nor bech32 of an address: ${error.message}`)
  }
}

function credentialOf(address: Address) {
  if (address.kind === 'byron') return { bytes: address.bytes, credential: undefined }
  const credential = address.kind === 'reward' ? address.stake : address.payment
  return { bytes: address.bytes, credential }
}
