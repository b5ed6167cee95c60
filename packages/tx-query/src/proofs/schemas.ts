import { busyBody, errorBody, internalErrorBody, limitResponses } from '@ratatosk/http'
import type { OutputReference } from '@ratatosk/ledger'
import type { Against } from '@ratatosk/ports'
import { type Static, Type } from '@sinclair/typebox'

const hex = (description: string) => Type.String({ description, pattern: '^([0-9a-f]{2})*$' })

/** A proof as JSON, in the form of Aiken's off-chain library, and as CBOR. */
export const MerkleProof = Type.Object(
  {
    json: Type.Array(
      Type.Object(
        {
          type: Type.String({ enum: ['branch', 'fork', 'leaf'] }),
          skip: Type.Integer({ minimum: 0, description: 'Length of the prefix, in nibbles' }),
          neighbors: Type.Optional(hex('Of a branch: four hashes')),
          neighbor: Type.Optional(
            Type.Object(
              {
                nibble: Type.Optional(Type.Integer({ minimum: 0, maximum: 15 })),
                prefix: Type.Optional(hex('One nibble in each byte')),
                root: Type.Optional(hex('Merkle root of its children')),
                key: Type.Optional(hex('Its whole path')),
                value: Type.Optional(hex('Hash of its value')),
              },
              { description: 'The only other child: a branch (fork) or a leaf' },
            ),
          ),
        },
        { title: 'ProofStep', description: 'One branch on the path from the root to the key' },
      ),
      { description: "In the form of Aiken's off-chain library" },
    ),
    cbor: hex('Plutus data, as validators read it'),
  },
  { title: 'MerkleProof', description: 'A proof of Merkle Patricia Forestry, of presence or absence' },
)

const heading = {
  headerHash: Type.String({
    pattern: '^[0-9a-f]{56}$',
    description: 'Hash of the block; zeros for the state before the first block',
  }),
  header: Type.Optional(hex('Plutus data of the ten header fields; absent before the first block')),
  height: Type.Optional(Type.Integer({ minimum: 1 })),
  root: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: 'The root that the proof leads to: a field of the header',
  }),
  key: hex('Key in the map'),
}

const present = {
  ...heading,
  value: hex('Value in the map. The map commits to its Blake2b-256'),
  proof: MerkleProof,
}

/** Body of a 200 of `GET /proofs/utxo`. */
export const UtxoProof = Type.Object(present, {
  title: 'UtxoProof',
  description: 'A proof that an output is unspent. Key: output reference; value: output; root: utxos_root',
})
export type UtxoProof = Static<typeof UtxoProof>

/** Body of a 200 of `GET /proofs/transaction`. */
export const TransactionProof = Type.Object(
  {
    ...present,
    position: Type.Integer({
      minimum: 0,
      description: 'Position in the block, from 0; the key is its 8 bytes',
    }),
  },
  {
    title: 'TransactionProof',
    description:
      'A proof that a block applied a transaction. Key: position; value: the record with its hash; ' +
      'root: transactions_root',
  },
)
export type TransactionProof = Static<typeof TransactionProof>

/** Body of a 404: a proof of absence, or only an error. */
export const ProofOfAbsence = Type.Object(
  {
    error: Type.String({ description: 'What went wrong, for people' }),
    headerHash: Type.Optional(heading.headerHash),
    header: heading.header,
    height: heading.height,
    root: Type.Optional(heading.root),
    key: Type.Optional(heading.key),
    proof: Type.Optional(MerkleProof),
  },
  {
    title: 'ProofOfAbsence',
    description: 'With a proof that the key is absent; without one if no committed block fits',
  },
)
export type ProofOfAbsence = Static<typeof ProofOfAbsence>

/** The parameters of `GET /proofs/utxo`, as its handler receives them. */
export interface UtxoProofQuery {
  readonly reference: OutputReference
  readonly against: Against
}

/** The parameters of `GET /proofs/transaction`, as its handler receives them. */
export interface TransactionProofQuery {
  readonly id: Uint8Array
  readonly headerHash: Uint8Array | undefined
}

const headerHash = Type.String({
  description: 'Header hash of a committed block: 56 hex digits',
  pattern: '^[0-9a-fA-F]{56}$',
  examples: ['9f1c5d2ab37e4860c1d2e3f405162738495a6b7c8d9e0fa1b2c3d4e5'],
})

const failures = {
  ...limitResponses(),
  400: errorBody('A parameter is invalid; the message says what to send instead'),
  404: ProofOfAbsence,
  500: internalErrorBody(),
  503: busyBody('too many proofs are being made'),
}

/** Route schema of `GET /proofs/utxo`, for OpenAPI documents. */
export const utxoProofSchema = {
  operationId: 'proveUtxo',
  summary: 'Prove that an output is unspent after a block, or that it is not',
  description:
    'With `at`, after the newest block that is merged (`confirmed`, the default) or in the state ' +
    'queue (`committed`); with `header_hash`, after that block. Verify the proof with the header, ' +
    'and the header by its hash on layer 1: the node need not be trusted.',
  tags: ['proofs'],
  querystring: Type.Unsafe<UtxoProofQuery>(
    Type.Object({
      outref: Type.String({
        description:
          '`<tx_hash>#<index>`, with `#` as `%23` in a URL, or the CBOR of the output reference in hex',
        examples: ['6ad4a1f5e7d2c3b4958677685a4b3c2d1e0f9081726354453627181900aabbcc#0'],
      }),
      at: Type.Optional(Type.String({ enum: ['confirmed', 'committed'], description: 'Which state' })),
      header_hash: Type.Optional(headerHash),
    }),
  ),
  response: {
    200: UtxoProof,
    ...failures,
    410: errorBody('The node does not keep the state, or no longer: the block is older than `PROOF_BLOCKS`'),
  },
}

/** Route schema of `GET /proofs/transaction`, for OpenAPI documents. */
export const transactionProofSchema = {
  operationId: 'proveTransaction',
  summary: 'Prove that a block applied a transaction, or that it did not',
  description:
    'Of the block that holds the transaction; with `header_hash`, of that block. Absence is shown ' +
    'for the first output of the transaction, which its block would have recorded.',
  tags: ['proofs'],
  querystring: Type.Unsafe<TransactionProofQuery>(
    Type.Object({
      tx_hash: Type.String({
        description: '64 hex digits',
        pattern: '^[0-9a-fA-F]{64}$',
        examples: ['6ad4a1f5e7d2c3b4958677685a4b3c2d1e0f9081726354453627181900aabbcc'],
      }),
      header_hash: Type.Optional(headerHash),
    }),
  ),
  response: { 200: TransactionProof, ...failures },
}
