import { type Static, Type } from '@sinclair/typebox'
import { ExplorerBlock } from './block.js'
import { count, hash, hex, lovelace, outref, time } from './common.js'

const json = (description: string) => Type.Unknown({ description })

const Amount = Type.Object(
  {
    unit: Type.String({ description: '`lovelace`, or policy id and asset name in hex' }),
    quantity: Type.String({ pattern: '^-?[0-9]+$', description: 'Quantity; negative if burnt' }),
  },
  { title: 'ExplorerAmount', description: 'A quantity of an asset' },
)

const Script = Type.Object(
  {
    hash: Type.String({ pattern: '^[0-9a-f]{56}$', description: 'Script hash' }),
    language: Type.String({ description: '`native`, or `PlutusV1` to `PlutusV3`' }),
    bytes: count('Size in bytes'),
  },
  { title: 'ExplorerScript', description: 'A script' },
)

/** An output. */
export const ExplorerOutputAnswer = Type.Object(
  {
    outref,
    address: Type.String({ description: 'Bech32, or base58 for Byron addresses' }),
    amount: Type.Array(Amount, { description: 'Lovelace first' }),
    datumHash: Type.Optional(hash('Hash of its datum')),
    datum: Type.Optional(
      json("Its inline datum in cardano-cli's detailed schema, with integers as text; absent if too large"),
    ),
    referenceScript: Type.Optional(Script),
    spentBy: Type.Optional(
      Type.Object(
        {
          txHash: hash('Transaction hash'),
          valid: Type.Boolean({ description: 'False if it is spent as collateral' }),
        },
        { title: 'ExplorerSpender', description: 'The transaction that spends it' },
      ),
    ),
  },
  { title: 'ExplorerOutput', description: 'An output' },
)
export type ExplorerOutputAnswer = Static<typeof ExplorerOutputAnswer>

const madeBy = Type.Optional(hash('Transaction that made it; absent for an output of the genesis'))

const Input = Type.Object(
  { outref, output: Type.Optional(ExplorerOutputAnswer), madeBy },
  { title: 'ExplorerInput', description: 'An input; without output and maker if it is not resolved here' },
)

const units = (description: string) => Type.String({ pattern: '^[0-9]+$', description })

/** Body of `GET /explorer/tx/{hash}`. */
export const ExplorerTransactionAnswer = Type.Object(
  {
    hash: hash('Transaction hash'),
    acceptedAt: time('When validation accepted it'),
    block: Type.Optional(ExplorerBlock),
    position: Type.Optional(count('Its position in the block, from 0')),
    bytes: count('Size in bytes'),
    fee: lovelace('Its fee'),
    valid: Type.Boolean({ description: 'False if its scripts failed and it spent its collateral' }),
    inputs: Type.Array(Input, { description: 'What it spends if it is valid' }),
    referenceInputs: Type.Array(Input, { description: 'What it only reads' }),
    collateralInputs: Type.Array(Input, { description: 'What it spends if its scripts fail' }),
    outputs: Type.Array(ExplorerOutputAnswer, {
      description: 'What it makes; if its scripts failed, at most the return of its collateral',
    }),
    spendersKnown: Type.Boolean({
      description: 'Whether an output without a spender is unspent; false without an index of outputs',
    }),
    mint: Type.Array(Amount, { description: 'What it mints, or burns; nothing if its scripts failed' }),
    validFromSlot: Type.Optional(Type.String({ pattern: '^[0-9]+$', description: 'First slot, inclusive' })),
    validUntilSlot: Type.Optional(Type.String({ pattern: '^[0-9]+$', description: 'Last slot, exclusive' })),
    metadata: Type.Array(
      Type.Object(
        {
          label: Type.String({ description: 'Label' }),
          json: Type.Optional(json("Value in cardano-cli's JSON without schema; absent if too large")),
        },
        { title: 'ExplorerMetadata', description: 'Metadata under a label' },
      ),
    ),
    datums: Type.Array(
      Type.Object(
        { hash: hash('Datum hash'), json: Type.Optional(json('As in an output; absent if too large')) },
        { title: 'ExplorerDatum', description: 'A datum among the witnesses' },
      ),
    ),
    scripts: Type.Array(Script, { description: 'Scripts among the witnesses' }),
    redeemers: Type.Array(
      Type.Object(
        {
          purpose: Type.String({ description: '`spend`, `mint`, `cert`, `reward`, `vote` or `propose`' }),
          index: count('Which item of this purpose it is for'),
          memory: units('Declared memory units'),
          steps: units('Declared CPU steps'),
          used: Type.Optional(
            Type.Object(
              { memory: units('Used memory units'), steps: units('Used CPU steps') },
              {
                title: 'ExplorerUsedUnits',
                description: 'What its script used; absent if it failed, or while it is not measured',
              },
            ),
          ),
          json: Type.Optional(json('As in an output; absent if too large')),
        },
        { title: 'ExplorerRedeemer', description: 'A redeemer' },
      ),
    ),
    fields: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'Name of the field, such as `body.fee`' }),
          offset: count('Where its value starts, in bytes'),
          length: count('Length of its value in bytes'),
        },
        { title: 'ExplorerField', description: 'A field of the transaction in its CBOR' },
      ),
    ),
    cbor: hex('The transaction as submitted'),
  },
  { title: 'ExplorerTransaction', description: 'An accepted transaction' },
)
export type ExplorerTransactionAnswer = Static<typeof ExplorerTransactionAnswer>

/** Body of `GET /explorer/output/{ref}`. */
export const OutputAnswer = Type.Object(
  {
    output: ExplorerOutputAnswer,
    madeBy,
  },
  { title: 'ExplorerLineage', description: 'An output, who made it and who spent it' },
)
export type OutputAnswer = Static<typeof OutputAnswer>

const kinds = ['transaction', 'block', 'output', 'address', 'asset', 'policy', 'submission'] as const
const kind = Type.Unsafe<(typeof kinds)[number]>({ type: 'string', enum: kinds, description: 'What it is' })

/** Body of `GET /explorer/search`. */
export const SearchAnswer = Type.Object(
  {
    matches: Type.Array(
      Type.Object(
        {
          kind,
          id: Type.String({ description: 'Its full name' }),
          path: Type.String({ description: 'Where this node answers about it' }),
        },
        { title: 'ExplorerMatch', description: 'Something that this node has' },
      ),
    ),
    couldBe: Type.Array(kind, { description: 'What a text of this form can name; all of it was searched' }),
  },
  { title: 'ExplorerSearch', description: 'What a text names on this node' },
)
export type SearchAnswer = Static<typeof SearchAnswer>
export type Kind = (typeof kinds)[number]
