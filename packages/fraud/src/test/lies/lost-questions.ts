import type { SummonsQuestion } from '@ratatosk/contracts'
import { blockOf, type Committed, type Story } from '../lying-blocks.js'
import { ledgerLies } from './ledger-lies.js'

/** A block about which an operator is asked until it loses a question. */
interface LostQuestion {
  readonly what: string
  /** Whether no peer has the transactions. */
  readonly isWithheld: boolean
  readonly tell: (story: Story) => Committed
}

const told = (fraud: string) => ledgerLies.find((lie) => lie.fraud === fraud)!.tell

/**
 * Questions of the summons that an operator loses. Each kind of question needs one to compile, but entries:
 * these are asked for behind many branches only, and a map of one block may have none.
 */
export const lostQuestions: {
  readonly [Kind in Exclude<SummonsQuestion['kind'], 'entry'>]: LostQuestion
} = {
  chunk: {
    what: 'not which transactions a block has',
    isWithheld: true,
    tell: ({ transactions }) => blockOf(transactions),
  },
  subtree: {
    what: 'not which outputs there are after a block',
    isWithheld: false,
    tell: told('wrongOutputsAfter'),
  },
  leaf: {
    what: 'not what the transactions map has of a transaction',
    isWithheld: true,
    tell: told('wrongFees'),
  },
}
