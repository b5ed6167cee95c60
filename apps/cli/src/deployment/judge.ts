import type { BlockJudge } from '@ratatosk/audit'
import { type BlockRules, decodeHeader, isBlockError, judgeBlock } from '@ratatosk/block'
import { decodeTransactionOutput } from '@ratatosk/ledger'

/** Judges blocks by the rules that every node judges them by. */
export function judgeWith(rules: BlockRules): BlockJudge {
  return async ({ header, transactions, unspent }) => {
    const before = {
      get: (key: string) => {
        const output = unspent(key)
        return output && decodeTransactionOutput(output)
      },
    }
    try {
      await judgeBlock(transactions, decodeHeader(header), before, rules)
      return undefined
    } catch (error) {
      if (!isBlockError(error)) throw error
      const { message, position } = error
      return { message, ...(position !== undefined && { position }) }
    }
  }
}
