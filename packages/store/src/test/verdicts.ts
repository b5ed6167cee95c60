import { blockVersion, encodedHeader } from '@ratatosk/block'
import type { NewVerdict } from '../verdicts/types.js'
import { idOf } from './transactions.js'

export const verdictOperator = new Uint8Array(28).fill(9)

/** A block that breaks a rule. */
export function verdictOf(height: number, position?: number): NewVerdict {
  const { bytes, hash } = encodedHeader({
    prevUtxosRoot: idOf('before'),
    utxosRoot: idOf(`after ${height}`),
    transactionsRoot: idOf('transactions'),
    depositsRoot: new Uint8Array(32),
    withdrawalsRoot: new Uint8Array(32),
    startTime: 0n,
    endTime: 1n,
    prevHeaderHash: new Uint8Array(28),
    operatorVkey: verdictOperator,
    blockVersion,
  })
  return {
    headerHash: hash,
    height: BigInt(height),
    header: bytes,
    reason: `breaks rule ${height}`,
    commitId: idOf(`commit ${height}`),
    ...(position !== undefined && { position }),
  }
}
