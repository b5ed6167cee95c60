import { BytesSet } from '@ratatosk/cbor'
import { keyAddress, type Utxo } from '@ratatosk/ledger'
import {
  type BuildContext,
  type BuiltTransaction,
  buildTransaction,
  keysFromSigningKey,
  type SigningKey,
  type TransactionDraft,
  toOutput,
} from '@ratatosk/ledger/builder'

/*
 * Drafts for wallets whose keys are elsewhere. The builder signs what it builds and judges it by all rules of
 * the ledger, so keys that are public stand in for those of the wallet. Only the witnesses show it:
 * inputs are references, and each output keeps its staking part. The stand-ins' signatures are taken out
 * again; the fee has paid for their room.
 */

/** Public: nothing is ever paid to them. */
const standIn = (number: number): SigningKey =>
  keysFromSigningKey(number.toString(16).padStart(64, '0'), { networkId: 0 }).payment

const first = standIn(1)

/** Outputs of a wallet that keys lock, as the builder may spend them. */
export interface WalletFunds {
  /** Locked by the stand-in. */
  readonly funds: readonly Utxo[]
  /** How many keys have to sign for some of them. */
  keysOf(utxos: readonly Utxo[]): number
}

/** Takes the outputs that a key locks and that hold no script; others are left out. */
export function standInFunds(utxos: readonly Utxo[], networkId: 0 | 1): WalletFunds {
  const owners = new Map<Utxo, Uint8Array>()
  for (const { reference, output } of utxos) {
    const { address, value, datum, referenceScript } = output
    if (address.kind !== 'base' && address.kind !== 'enterprise') continue
    if (address.payment.kind !== 'key' || address.networkId !== networkId || referenceScript) continue
    const place = keyAddress(first.hash, networkId, address.stake)
    const utxo = { reference, output: toOutput({ address: place.bytes, value, datum }) }
    owners.set(utxo, address.payment.hash)
  }
  return {
    funds: [...owners.keys()],
    keysOf: (spent) => new BytesSet(spent.flatMap((utxo) => owners.get(utxo) ?? [])).size,
  }
}

const maxRounds = 4

/** Builds a transaction of a wallet with stand-ins for its signatures. @throws {WalletError} (rejects) */
export async function buildWithStandIns(
  draft: TransactionDraft,
  { funds, keysOf }: WalletFunds,
  context: Omit<BuildContext, 'funds' | 'signers'>,
): Promise<BuiltTransaction> {
  let keys = 1
  for (let round = 1; ; round++) {
    const signers = Array.from({ length: keys }, (_, number) => (number === 0 ? first : standIn(number + 1)))
    const built = await buildTransaction(draft, { ...context, funds, signers })
    const needed = keysOf([...built.spent, ...built.collateral])
    // The fee has to pay for the signatures of all.
    if (needed <= keys || round === maxRounds) return built
    keys = needed
  }
}
