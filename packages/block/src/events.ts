import { equalBytes } from '@ratatosk/cbor'
import { encodeOutputReference } from '@ratatosk/ledger'
import { rootOf } from '@ratatosk/trie'
import type { Deposit } from './body.js'
import { BlockError } from './errors.js'
import { type FeeHeader, withoutFeeOutput } from './fees.js'
import type { Header } from './header.js'

/** Reads what layer 1 has for blocks; `openEventSource` of `@ratatosk/protocol` is one. */
export interface EventSource {
  /**
   * The deposits with a time in `[start, end)`, ascending by id. Only those of unmerged blocks, and of blocks
   * to come, are there: later ones may be spent.
   *
   * @param start POSIX milliseconds, as in a header
   * @returns `'not read yet'` while layer 1 may still include a deposit of this time
   */
  between(start: bigint, end: bigint, signal?: AbortSignal): Promise<readonly Deposit[] | 'not read yet'>
}

/** The `depositsRoot` of a block that credits these: 32 bytes, zeros without one. */
export const depositsRoot = (deposits: readonly Deposit[]): Promise<Uint8Array> =>
  rootOf(
    deposits.map(
      ({ id, output }) => [encodeOutputReference({ transactionId: id, index: 0 }), output] as const,
    ),
  )

/**
 * Whether a block credits just these deposits, in this order, besides its fee output.
 *
 * @param credited by the block, ascending by id
 * @param due the deposits of the block's time on layer 1, ascending by id
 */
export function creditsJust(
  credited: readonly Deposit[],
  due: readonly Deposit[],
  header: Pick<FeeHeader, 'prevHeaderHash'>,
): boolean {
  const deposits = withoutFeeOutput(credited, header)
  return (
    deposits.length === due.length &&
    deposits.every(({ id, output }, place) => {
      const other = due[place]
      return other !== undefined && equalBytes(id, other.id) && equalBytes(output, other.output)
    })
  )
}

/**
 * Whether an unmerged block credits what layer 1 has: each deposit of its time, and no other.
 *
 * @param credited by the block, its fee output included; ascending by id
 * @returns `'not read yet'` when that is not known yet
 * @throws {BlockError} (rejects) `BLOCK_INVALID` if they differ. If the block was merged meanwhile, its
 *   deposits may be spent: read the state queue again before you rely on it.
 */
export async function verifyDeposits(
  credited: readonly Deposit[],
  header: Pick<Header, 'startTime' | 'endTime' | 'prevHeaderHash'>,
  source: EventSource,
  signal?: AbortSignal,
): Promise<'right' | 'not read yet'> {
  const due = await source.between(header.startTime, header.endTime, signal)
  if (due === 'not read yet') return due
  assertDeposits(credited, due, header)
  return 'right'
}

/** The same as {@link creditsJust}. @throws {BlockError} `BLOCK_INVALID` */
export function assertDeposits(...block: Parameters<typeof creditsJust>): void {
  if (creditsJust(...block)) return
  const [credited, due, header] = block
  const { length } = withoutFeeOutput(credited, header)
  throw new BlockError(
    'BLOCK_INVALID',
    `The block credits ${length} deposits, and not just the ${due.length} of its time on layer 1`,
  )
}
