import { CborWriter, concatBytes, toHex } from '@ratatosk/cbor'
import { decodeBech32Address } from '@ratatosk/ledger'
import { cip30Error } from '../errors.js'
import { fundsOf, pageOf } from '../funds.js'
import { createLedgerClient } from '../ledger-client.js'
import { assertComplete, neededKeys, readTransaction } from '../signatures.js'
import type { Cip30Api, PublicWallet } from '../types.js'
import { signData } from './sign-data.js'
import { type BrowserKey, publicSigningKey } from './signing-key.js'

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
export function publicWalletApi({ wallet, url, declines }: WalletApiOptions): Cip30Api {
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
