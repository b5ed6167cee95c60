import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { isDecodeError, toHex } from '@ratatosk/cbor'
import {
  BusyError,
  errorHandler,
  HttpError,
  hasCode,
  hasMethods,
  hexParameter,
  InvalidParameterError,
  inTime,
  noStore,
  onlyParameters,
  openScope,
  portLimitMs,
  portResult,
  type Query,
  type QueryValue,
  readBy,
  retryAfterSeconds,
} from '@ratatosk/http'
import { decodeOutputReference, type OutputReference } from '@ratatosk/ledger'
import type { Against, HeldProof, Prover } from '@ratatosk/ports'
import { proofFromCbor, proofToJson } from '@ratatosk/trie'
import { Type } from '@sinclair/typebox'
import type { RegisterOptions } from 'fastify'
import { fastifyPlugin as fp } from 'fastify-plugin'
import {
  type TransactionProofQuery,
  transactionProofSchema,
  type UtxoProofQuery,
  utxoProofSchema,
} from './schemas.js'

/** 400: `at` is unknown, or given together with `header_hash`. */
export class InvalidStateError extends HttpError {
  constructor() {
    super(400, 'PROOFS_INVALID_STATE', 'Send either header_hash, or at=confirmed or at=committed')
  }
}

/** 404: no committed block fits. */
export class NoBlockError extends HttpError {
  constructor(what: string) {
    super(404, 'PROOFS_NO_BLOCK', what)
  }
}

/** 410: the state is too old: the node no longer has its tree. */
export class NotKeptError extends HttpError {
  /** @param isConfirmed whether the block is the newest confirmed one, for a request that names none */
  constructor(isConfirmed = false) {
    super(
      410,
      'PROOFS_NOT_KEPT',
      isConfirmed
        ? 'The node no longer keeps the unspent outputs after the newest confirmed block: ask with ' +
            'at=committed, or let its operator raise PROOF_BLOCKS'
        : 'The node no longer keeps the unspent outputs after this block: ask for a newer block',
    )
  }
}

/** Why there is no proof. */
export type ProofsErrorCode =
  | 'PROOFS_INVALID_PARAMETER'
  | 'PROOFS_INVALID_STATE'
  | 'PROOFS_NO_BLOCK'
  | 'PROOFS_NOT_KEPT'
  | 'PROOFS_BUSY'

/** Whether a caught value is one of this package's errors; works across copies of the package. */
export function isProofsError(value: unknown): value is HttpError & { readonly code: ProofsErrorCode } {
  return hasCode(value, 'PROOFS_')
}

export type { Against, HeldProof, ProvedTransaction, Prover } from '@ratatosk/ports'

export {
  MerkleProof,
  ProofOfAbsence,
  TransactionProof,
  type TransactionProofQuery,
  transactionProofSchema,
  UtxoProof,
  type UtxoProofQuery,
  utxoProofSchema,
} from './schemas.js'

/** Options of {@link proofs}. */
export interface ProofsOptions extends RegisterOptions {
  /** Makes the proofs. */
  prover: Prover
}

const name = '@ratatosk/tx-query/proofs'

const plugin: FastifyPluginAsyncTypebox<ProofsOptions> = async (fastify, options) => {
  openScope(fastify, name, { prover: hasMethods('utxo', 'transaction') }, options)
  const { prover } = options

  fastify.setErrorHandler(errorHandler)

  fastify.get(
    '/proofs/utxo',
    { schema: utxoProofSchema, onRequest: noStore, validatorCompiler: readBy(readUtxoQuery) },
    async ({ query: { reference, against } }, reply) => {
      const proved = await unlessBusy('utxo', () => prover.utxo(reference, against))
      if (proved === 'no block') throw new NoBlockError('The block is not committed')
      if (proved === 'not kept') throw new NotKeptError(against.kind === 'confirmed')
      const { value } = checkedProof(proved, 'utxo')
      if (value !== undefined) return { ...answerOf(proved), value: toHex(value) }
      return reply
        .code(404)
        .send({ error: 'The output is not unspent after this block', ...answerOf(proved) })
    },
  )

  fastify.get(
    '/proofs/transaction',
    { schema: transactionProofSchema, onRequest: noStore, validatorCompiler: readBy(readTransactionQuery) },
    async ({ query: { id, headerHash } }, reply) => {
      const proved = await unlessBusy('transaction', () => prover.transaction(id, headerHash))
      if (proved === 'no block')
        throw new NoBlockError(
          headerHash === undefined
            ? 'No committed block holds the transaction'
            : 'The block is not committed',
        )
      const { value, position } = checkedProof(proved, 'transaction')
      if (value !== undefined && position !== undefined)
        return { ...answerOf(proved), value: toHex(value), position }
      return reply.code(404).send({ error: 'The block does not hold the transaction', ...answerOf(proved) })
    },
  )
}

const busy = 'No proof can be made now: retry later'

async function unlessBusy<T>(method: keyof Prover, prove: () => Promise<T>): Promise<T> {
  try {
    return await inTime(`prover.${method}`, portLimitMs, prove())
  } catch (error) {
    const seconds = retryAfterSeconds(error)
    throw seconds === undefined ? error : new BusyError('PROOFS_BUSY', busy, seconds)
  }
}

const bytes = Type.Uint8Array()
const hash = (length: number) => Type.Uint8Array({ minByteLength: length, maxByteLength: length })
const ProofShape = Type.Object(
  {
    block: Type.Optional(Type.Object({ headerHash: hash(28), header: bytes, height: Type.BigInt() })),
    root: hash(32),
    key: bytes,
    value: Type.Optional(bytes),
    proof: bytes,
    position: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { title: 'a proof' },
)

/** @throws {TypeError} for a prover in JavaScript that gives something else */
function checkedProof<Proof extends HeldProof>(given: Proof, method: keyof Prover): Proof {
  return portResult(`prover.${method}`, ProofShape, given)
}

/** Stands for the state before the first block. */
const noBlock = { headerHash: '00'.repeat(28) }

function answerOf({ block, root, key, proof }: HeldProof) {
  return {
    ...(block === undefined ? noBlock : blockAnswer(block)),
    root: toHex(root),
    key: toHex(key),
    proof: { json: proofToJson(proofFromCbor(proof)), cbor: toHex(proof) },
  }
}

const blockAnswer = ({ headerHash, header, height }: NonNullable<HeldProof['block']>) => ({
  headerHash: toHex(headerHash),
  header: toHex(header),
  height: Number(height),
})

function invalid(what: string, value: QueryValue, rule: string): InvalidParameterError {
  return new InvalidParameterError('PROOFS', what, value, rule)
}

function readUtxoQuery(query: Query): UtxoProofQuery {
  const { outref, at, header_hash: block } = query
  onlyParameters('PROOFS', query, ['outref', 'at', 'header_hash'])
  return { reference: readOutref(outref), against: readState(at, block) }
}

function readTransactionQuery(query: Query): TransactionProofQuery {
  const { tx_hash: hash, header_hash: block } = query
  onlyParameters('PROOFS', query, ['tx_hash', 'header_hash'])
  const id = hexParameter(hash, 32)
  if (id === undefined) throw invalid('transaction hash', hash, 'Send tx_hash with 64 hex digits')
  return { id, headerHash: block === undefined ? undefined : readBlockHash(block) }
}

function readState(at: QueryValue, block: QueryValue): Against {
  if (block !== undefined && at !== undefined) throw new InvalidStateError()
  if (block !== undefined) return { kind: 'header', headerHash: readBlockHash(block) }
  if (at === undefined || at === 'confirmed') return { kind: 'confirmed' }
  if (at === 'committed') return { kind: 'committed' }
  throw new InvalidStateError()
}

function readBlockHash(block: QueryValue): Uint8Array {
  const headerHash = hexParameter(block, 28)
  if (headerHash === undefined) throw invalid('block hash', block, 'Send header_hash with 56 hex digits')
  return headerHash
}

const outrefRule = 'Send outref as <tx_hash>#<index>, with # as %23 in a URL, or as its CBOR in hex'

/** The ledger's indexes have 16 bits. */
const maxIndex = 0xffff

function readOutref(value: QueryValue): OutputReference {
  if (typeof value !== 'string') throw invalid('output reference', value, outrefRule)
  const [, hash, digits] = /^([0-9a-fA-F]{64})#(0|[1-9][0-9]{0,4})$/.exec(value) ?? []
  const transactionId = hexParameter(hash, 32)
  if (transactionId !== undefined && Number(digits) <= maxIndex)
    return { transactionId, index: Number(digits) }
  if (!/^([0-9a-fA-F]{2}){1,60}$/.test(value)) throw invalid('output reference', value, outrefRule)
  try {
    return decodeOutputReference(Uint8Array.from(Buffer.from(value, 'hex')))
  } catch (error) {
    if (isDecodeError(error)) throw invalid('output reference', value, outrefRule)
    throw error
  }
}

/**
 * Fastify plugin: `GET /proofs/utxo` proves that an output is, or is not, unspent after a committed block,
 * and `GET /proofs/transaction` that a block did, or did not, apply a transaction. A client verifies both
 * without trusting the server.
 *
 * Encapsulated: it sets an error handler in its own scope, and one server can hold several instances, each
 * under its `prefix`. Throws a `TypeError` at startup for options that cannot work.
 *
 * @example
 * ```ts
 * const server = fastify()
 * await server.register(proofs, { prover: openProver({ store, roots, genesis }) })
 * ```
 */
export const proofs = fp(plugin, { name, fastify: '5.x', encapsulate: true })

export default proofs
