import { transactionIdOf } from '@ratatosk/ledger'

/** How much a job, or a queue, holds or may hold. */
export interface QueueSize {
  readonly transactions: number
  /** Bytes of CBOR. */
  readonly bytes: number
}

const kibibyte = 1024

/**
 * `<process>.<number>.<transactions>.<KiB>` names a job; with `.<index>` a submission in it, and with
 * `.<transaction>` one shaped like a transaction: 32 bytes in base64url. Numbers are in base 36.
 */
const pattern =
  /^([\w-]{12}\.[0-9a-z]{1,10}\.([0-9a-z]{1,4})\.([0-9a-z]{1,6}))(?:\.([0-9a-z]{1,4})(?:\.([\w-]{43}))?)?$/

/** The id of a new job, with its size, so that ids alone measure a queue. `process`: 12 unique characters. */
export function newJobId(process: string, number: number, { transactions, bytes }: QueueSize): string {
  const numbers = [number, transactions, Math.ceil(bytes / kibibyte)]
  return [process, ...numbers.map((each) => each.toString(36))].join('.')
}

/** A submission's id, with its transaction id if it has one: its status needs no other record. */
export function newSubmissionId(jobId: string, index: number, cbor: Uint8Array): string {
  const id = `${jobId}.${index.toString(36)}`
  const transactionId = transactionIdOf(cbor)
  return transactionId === undefined ? id : `${id}.${encodeTransaction(transactionId)}`
}

/** A transaction id as it is in the id of a submission. */
export function encodeTransaction({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64url')
}

/** Characters of an encoded transaction. */
const encodedLength = 43

/** A submission id without the transaction, and the transaction if there is one. */
export function splitSubmissionId(id: string): { readonly place: string; readonly transaction?: string } {
  const dot = id.length - encodedLength - 1
  // The parts between dots are shorter than a transaction.
  return id[dot] === '.' ? { place: id.slice(0, dot), transaction: id.slice(dot + 1) } : { place: id }
}

/** Undoes {@link splitSubmissionId}. */
export function joinSubmissionId(place: string, transaction: string): string {
  return `${place}.${transaction}`
}

/** The job of a submission id; undefined if the text cannot be one. */
export function jobOfSubmission(submissionId: string): string | undefined {
  const [, jobId, , , index] = pattern.exec(submissionId) ?? []
  return index === undefined ? undefined : jobId
}

/**
 * The transaction of a submission, from the id that `SubmissionQueue.add` returned.
 *
 * @param submissionId any text
 * @returns 32 bytes; undefined if the text is no such id, or the submission is not shaped like a transaction
 */
export function transactionOfSubmission(submissionId: string): Uint8Array | undefined {
  const encoded = pattern.exec(submissionId)?.[5]
  return encoded === undefined ? undefined : new Uint8Array(Buffer.from(encoded, 'base64url'))
}

/** The size in a job's id: transactions, and KiB rounded up. A submission's id is of its own job. */
export function sizeOfJob(id: string): QueueSize {
  const [, , transactions = '0', kibibytes = '0', index] = pattern.exec(id) ?? []
  const size = {
    transactions: Number.parseInt(transactions, 36),
    bytes: Number.parseInt(kibibytes, 36) * kibibyte,
  }
  if (index === undefined || size.transactions === 0) return size
  return { transactions: 1, bytes: Math.ceil(size.bytes / size.transactions) }
}
