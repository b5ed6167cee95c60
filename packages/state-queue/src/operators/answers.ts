import { type Decoded, dateText, decimalText, enumText, hexText, integer, timeText } from '@ratatosk/http'
import type { BlockVerdict, VerdictTransaction } from '@ratatosk/ports'
import { Type } from '@sinclair/typebox'

const hash28 = (description: string) => hexText('^[0-9a-f]{56}$', description)
const headerHash = hash28('Header hash of the block')
const txHash = (description: string) => hexText('^[0-9a-f]{64}$', description)
const hasMore = Type.Boolean({ description: 'Whether there is another page' })

const RegisteredOperator = Type.Object(
  {
    operatorKey: hash28('Hash of the verification key'),
    bond: decimalText('Lovelace that the registry holds for the operator'),
    activeFrom: timeText('Start of the first turn in which the operator counts'),
    activeUntil: Type.Optional(
      timeText('Start of the first turn without the operator; absent until the operator retires'),
    ),
    releaseAt: Type.Optional(
      timeText('From when on the bond may be withdrawn; absent until the operator retires'),
    ),
  },
  { title: 'RegisteredOperator', description: 'An operator in the registry on layer 1' },
)

/** Body of `GET /operators`. */
export const OperatorsAnswer = Type.Object(
  {
    inTurn: Type.Optional(hash28('Key hash of the operator in turn; absent if none counts in this turn')),
    next: Type.Optional(hash28('Key hash of the operator in the next turn; absent if there is none yet')),
    turnEndsAt: timeText('When the turn ends'),
    takeOverAt: Type.Optional(
      timeText('From when on any operator may commit; absent before the state queue is initialised'),
    ),
    turnLength: integer({ minimum: 1, description: 'Length of each turn in milliseconds' }),
    operators: Type.Array(RegisteredOperator, {
      description: 'In the order of their turns; empty before the registry is initialised',
    }),
    maxOperators: Type.Integer({ minimum: 1, description: 'How many operators the registry can hold' }),
    permissioned: Type.Boolean({ description: 'Whether the administrator admits operators' }),
  },
  { title: 'Operators', description: 'The operators on layer 1 and their turns' },
)
export type OperatorsAnswer = Decoded<typeof OperatorsAnswer>

const kinds = ['chunk', 'subtree', 'leaf', 'entry'] as const
const roots = ['utxosRoot', 'transactionsRoot', 'depositsRoot', 'withdrawalsRoot'] as const

/** A question of the summons that has no answer yet. */
export const QuestionAnswer = Type.Object(
  {
    question: Type.String({
      pattern: '^[0-9a-f]{64}#[0-9]+$',
      description: 'Output that holds the question: <tx_hash>#<output_index>',
    }),
    headerHash,
    kind: enumText(
      kinds,
      'A chunk of the transactions; a node of a map with its children; any leaf below a node; an entry',
    ),
    root: enumText(roots, 'The field of the header that commits to the map'),
    key: hexText(
      '^([0-9a-f]{2})*$',
      'Number of the chunk; or a path, and in the last byte how many of its nibbles lead to the node',
    ),
    deadline: timeText('From then on, the question may become a verdict against the block'),
    bond: decimalText('Lovelace in the output'),
  },
  { title: 'OpenQuestion', description: 'A question on layer 1 that has no answer yet' },
)
export type QuestionAnswer = Decoded<typeof QuestionAnswer>

/** Body of `GET /summons`. */
export const SummonsAnswer = Type.Object(
  {
    questions: Type.Array(QuestionAnswer, { description: 'The earliest deadline first' }),
    hasMore,
  },
  { title: 'OpenQuestions', description: 'A page of the questions about blocks that have no answer yet' },
)

export const verdictStates = [
  'unavailable',
  'valid',
  'invalid',
  'unprovable',
  'removing',
  'removed',
] as const satisfies readonly BlockVerdict['state'][]
const stages = [
  'question',
  'datum',
  'verdict',
  'removal',
  'prune',
] as const satisfies readonly VerdictTransaction['stage'][]

const VerdictAnswer = Type.Object(
  {
    headerHash,
    height: integer({ minimum: 0 }),
    operatorKey: hash28("Hash of the operator's verification key"),
    state: enumText(
      verdictStates,
      'unavailable: no one serves the body of the block; valid: the body came, and breaks no rule; ' +
        'invalid: the block breaks a rule; unprovable: and no policy can prove it on layer 1; removing: ' +
        'transactions are sent; removed: the block is no longer in the state queue',
    ),
    reason: Type.String({ description: 'The broken rule, or what is missing, for people' }),
    position: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Place in the block of the transaction that breaks the rule' }),
    ),
    policy: Type.Optional(Type.String({ description: 'Verdict policy that proves the fraud' })),
    fraud: Type.Optional(Type.String({ description: 'Name of the fraud in that policy' })),
    transactions: Type.Array(
      Type.Object({
        txHash: txHash('Transaction hash on layer 1'),
        stage: enumText(
          stages,
          'Asks for what the operator hides; stores a datum of the proof; mints the verdict; removes the ' +
            'block; prunes the blocks behind it',
        ),
        fee: decimalText('Lovelace'),
        sentAt: dateText('When it was sent'),
      }),
      { description: 'Layer-1 transactions on the way to the removal, oldest first' },
    ),
    foundAt: dateText('When the node found it'),
    removedAt: Type.Optional(dateText('When the node saw that the block is removed')),
  },
  { title: 'BlockVerdict', description: 'What the node found against a block' },
)

/** Body of `GET /verdicts`. */
export const VerdictsAnswer = Type.Object(
  { verdicts: Type.Array(VerdictAnswer, { description: 'Newest first' }), hasMore },
  { title: 'BlockVerdicts', description: 'A page of what the node found against blocks' },
)

/** Body of a 200 of `POST /summon`. */
export const Summoned = Type.Object(
  {
    question: Type.String({
      pattern: '^[0-9a-f]{64}#[0-9]+$',
      description: 'Output that holds the question: <tx_hash>#<output_index>',
    }),
    txHash: txHash('Layer-1 transaction that asks'),
    deadline: timeText('From then on, silence is a verdict against the block'),
  },
  { title: 'Summoned', description: 'A question that is on its way to layer 1' },
)
