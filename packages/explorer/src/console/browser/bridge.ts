import { CborWriter, fromHex } from '@ratatosk/cbor'
import type {
  Bridge,
  BridgeDeposit,
  BridgeDeposits,
  BridgeDraft,
  BridgeWithdrawal,
  BridgeWithdrawals,
} from '@ratatosk/client'
import { AnswerError, operate, read } from './api.js'
import type { ReadOutput } from './outputs.js'
import { openWallet, send, sign } from './send.js'

/** An entry of a list of the bridge, and what its output on layer 2 holds. */
export type Shown<T> = T & ReadOutput

/** Entries of a list that are asked for at once, and that are shown. */
export const most = 100

export const readDeposits = newestOf<BridgeDeposit, BridgeDeposits>('deposits', ({ deposits }) => deposits)
export const readWithdrawals = newestOf<BridgeWithdrawal, BridgeWithdrawals>(
  'withdrawals',
  ({ withdrawals }) => withdrawals,
)

/** Reads the newest entries of a list, newest first; the node answers the oldest first. */
function newestOf<T extends { readonly output: string }, Page extends { readonly hasMore: boolean }>(
  path: string,
  entriesOf: (page: Page) => readonly T[],
): () => Promise<readonly Shown<T>[]> {
  /** Where the last part but one began. */
  let begin = 0
  return async () => {
    const { readOutput } = await import('./outputs.js')
    let before: readonly T[] = []
    let newest: readonly T[] = []
    for (let offset = begin, hasMore = true; hasMore; offset += most) {
      const page = await read<Page>(`${path}?limit=${most}&offset=${offset}`)
      hasMore = page.hasMore
      before = newest
      newest = entriesOf(page)
      begin = Math.max(0, offset - most)
    }
    return [...before, ...newest]
      .slice(-most)
      .reverse()
      .map((entry) => ({ ...entry, ...readOutput(fromHex(entry.output)) }))
  }
}

/** A draft is valid for some seconds only. */
const attempts = 3

/**
 * Deposits lovelace of a devnet's test wallet, to its own address on layer 2. Whose keys are public needs no
 * check of the draft. Rejects with an error for people.
 */
export async function deposit(account: number, address: string, lovelace: bigint): Promise<BridgeDraft> {
  for (let attempt = 1; ; attempt++) {
    const utxos = await operate<readonly string[]>(`devnet/outputs?address=${encodeURIComponent(address)}`)
    if (utxos.length === 0) throw new Error('This wallet has nothing on layer 1')
    const order = { kind: 'deposit', utxos, changeAddress: address, to: address, lovelace: String(lovelace) }
    const draft = await operate<BridgeDraft>('bridge/draft', 'POST', order)
    try {
      const transaction = await sign(account, draft.transaction)
      await operate('bridge/submit', 'POST', { transaction })
      return draft
    } catch (error) {
      const isLate = error instanceof AnswerError && error.message.includes('OutsideValidityInterval')
      if (!isLate || attempt === attempts) throw error
    }
  }
}

/**
 * Withdraws lovelace of a devnet's test wallet, to its own address on layer 1. Returns the transaction hash
 * once accepted, or rejects with an error for people.
 */
export async function withdraw(account: number, lovelace: bigint): Promise<string> {
  const [wallet, { address }, { addressHex }] = await Promise.all([
    openWallet(account),
    read<Bridge>('bridge'),
    import('./outputs.js'),
  ])
  const payTo = fromHex(await wallet.getChangeAddress())
  const datum = new CborWriter().bytes(payTo).toBytes()
  return send(wallet, { receiver: addressHex(address), amount: lovelace, datum })
}
