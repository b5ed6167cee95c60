import {
  decodeTransactionRecord,
  encodeOutputRecord,
  encodeTransactionRecord,
  partsOf,
  transactionKey,
} from '@ratatosk/block'
import { concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import type { SummonsQuestion } from '@ratatosk/contracts'
import { blake2b256, encodeOutputReference } from '@ratatosk/ledger'
import {
  blockOf,
  type Committed,
  type Entries,
  ghost,
  keyOf,
  type Lie,
  payment,
  type Story,
  type Told,
} from '../lying-blocks.js'
import { addressOfThief, coin, eight } from '../theft.js'
import { bytes, ghostKey, list, map, signed, uint } from './signed.js'

/** A billion ada for the thief. */
const loot = concatBytes(fromHex('a200581d'), addressOfThief, fromHex('011b00038d7ea4c68000'))
const hashOfDeposit = new Uint8Array(32).fill(0xdd)
const outputOfDeposit = encodeOutputReference({ transactionId: hashOfDeposit, index: 0 })
const bystander = coin(35)

/** Overwrites bytes of the record of a transaction. */
function patch(map: Entries, position: number, offset: number, change: Uint8Array): void {
  const key = toHex(transactionKey(position))
  const record = Uint8Array.from(map.get(key)!)
  record.set(change, offset)
  map.set(key, record)
}
/** Where it has the hash of what inputs stand for, and the length of the body. */
const [resolved, bodyLength] = [65, 105]

const lieIn = (entries: (map: Entries, story: Story) => unknown) => (story: Story) =>
  blockOf(story.transactions, { entries: (map) => entries(map, story) })

/** An output of 99 ada with so large a script that its transaction has 16,385 bytes and more. */
const longOutput = (script: number) =>
  map(
    [uint(0), bytes(addressOfThief)],
    [uint(1), uint(98_000_000n)],
    [uint(3), concatBytes(fromHex('d818'), bytes(list(uint(1), bytes(new Uint8Array(script)))))],
  )

const told: readonly Told[] = [
  {
    what: 'that there is an output from nowhere after the block',
    fraud: 'wrongOutputsAfter',
    isHidden: true,
    tell: ({ transactions }) =>
      blockOf(transactions, {
        after: (outputs) => outputs.set(keyOf(ghost.reference), ghost.output.bytes),
      }),
  },
  {
    what: 'that an output can be spent twice',
    fraud: 'inputSpentElsewhere',
    tell: ({ transactions, again }) => blockOf([...transactions, again]),
  },
  {
    what: 'that a transaction makes an output that it does not make',
    fraud: 'inventedOutput',
    isHidden: true,
    tell({ transactions, firstId }) {
      const { bytes } = payment(9_000_000n)
      const record = { createdBy: 0, spentBy: undefined, outputHash: blake2b256(bytes) }
      const key = keyOf({ transactionId: firstId, index: 9 })
      return blockOf(transactions, {
        entries: (map) => map.set(key, encodeOutputRecord(record)),
        after: (outputs) => outputs.set(key, bytes),
      })
    },
  },
  {
    what: 'that a transaction spends what never was',
    fraud: 'strayFromBefore',
    tell: ({ transactions, conjured }) => blockOf([...transactions, conjured]),
  },
  {
    what: 'that the fees are higher',
    fraud: 'wrongFees',
    isHidden: true,
    tell: lieIn((map) => {
      const key = toHex(transactionKey(1))
      const record = decodeTransactionRecord(map.get(key)!)
      map.set(key, encodeTransactionRecord({ ...record, feesSoFar: record.feesSoFar + 1n }))
    }),
  },
  {
    what: 'that an output of a bystander leaves through a bridge that there is not',
    fraud: 'spentWithoutInput',
    isHidden: true,
    tell({ transactions }) {
      const hash = blockOf(transactions).before.valueHash(bystander)!
      return blockOf(transactions, {
        entries: (map) => map.set(toHex(bystander), concatBytes(eight(0n), eight(2n ** 63n), hash)),
        after: (outputs) => outputs.delete(toHex(bystander)),
      })
    },
  },
  {
    what: 'that an output is not made',
    fraud: 'outputNotNoted',
    isHidden: true,
    tell({ transactions, firstId }) {
      const key = keyOf({ transactionId: firstId, index: 1 })
      return blockOf(transactions, {
        entries: (map) => map.delete(key),
        after: (outputs) => outputs.delete(key),
      })
    },
  },
  {
    what: 'that an output can be spent before it is made',
    fraud: 'spentBeforeMade',
    tell: ({ transactions }) => blockOf(transactions.toReversed()),
  },
  {
    what: 'that a transaction can read what never was',
    fraud: 'referenceInputMissing',
    tell: ({ transactions }) => blockOf([...transactions, signed({ fields: [[18, list(ghostKey)]] })]),
  },
  {
    what: 'that what an input stands for has another hash',
    fraud: 'wrongResolved',
    isHidden: true,
    provenAs: {
      fraud: 'wrongResolvedHash',
      because: 'only the operator knows the hashes that are not of the outputs',
    },
    tell: lieIn((map, { transactions }) => {
      const { inputs } = partsOf(transactions[1]!)
      const hashes = inputs.map(() => new Uint8Array(32).fill(3))
      patch(map, 1, resolved, blake2b256(concatBytes(...hashes)))
    }),
  },
  {
    what: 'that the outputs behind the inputs are unknown',
    fraud: 'wrongResolvedHash',
    isHidden: true,
    tell: lieIn((map) => patch(map, 1, resolved, new Uint8Array(32).fill(9))),
  },
  {
    what: 'that there is a transaction behind a gap',
    fraud: 'gapInTransactions',
    isHidden: true,
    tell: lieIn((map) => map.set(toHex(transactionKey(5)), map.get(toHex(transactionKey(1)))!)),
  },
  {
    what: 'that a deposit that never was pays a billion ada',
    fraud: 'strangeEntry',
    isHidden: true,
    tell: ({ transactions }) =>
      blockOf(transactions, {
        entries(map) {
          const position = BigInt(transactions.length)
          const kind = Uint8Array.of(0)
          const rest = [new Uint8Array(32), blake2b256(new Uint8Array()), eight(0n), eight(0n)]
          map.set(toHex(eight(position)), concatBytes(kind, hashOfDeposit, ...rest))
          map.set(toHex(outputOfDeposit), concatBytes(eight(position + 1n), eight(0n), blake2b256(loot)))
        },
        after: (outputs) => outputs.set(toHex(outputOfDeposit), loot),
      }),
  },
  {
    what: 'that a body has another length',
    fraud: 'wrongLength',
    isHidden: true,
    tell: lieIn((map) => patch(map, 1, bodyLength, Uint8Array.of(0, 0, 0, 9))),
  },
  {
    what: 'that a body may have more bytes than a proof shows',
    fraud: 'tooLong',
    tell({ transactions }) {
      const inputs = Array.from({ length: 20 }, (_, n) => 10 + n)
      const plan = { inputs, outputs: [longOutput(14_200)], fee: 2_000_000n }
      return blockOf([...transactions, signed(plan)])
    },
  },
]

/** Lies about what a block does to outputs. */
export const ledgerLies: readonly Lie[] = told.map((lie) => ({ isHidden: false, ...lie, policy: 'ledger' }))

/** A block about which an operator is asked until it loses a question. */
interface LostQuestion {
  readonly what: string
  /** Whether no peer has the transactions. */
  readonly isWithheld: boolean
  readonly tell: (story: Story) => Committed
}

const tellOf = (fraud: string) => ledgerLies.find((lie) => lie.fraud === fraud)!.tell

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
    tell: tellOf('wrongOutputsAfter'),
  },
  leaf: {
    what: 'not what the transactions map has of a transaction',
    isWithheld: true,
    tell: tellOf('wrongFees'),
  },
}
