import { expect } from 'vitest'
import type { NewRejection } from '../rejections/types.js'
import type { TestStore } from './backends.js'
import { bytes, idOf } from './transactions.js'

/** A rejection of bytes of its own, unless `changes` has others. */
export function newRejection(submissionId: string, changes: Partial<NewRejection> = {}): NewRejection {
  return {
    submissionId,
    transactionId: idOf(submissionId),
    cbor: bytes(`submission ${submissionId}`),
    attempts: 1,
    code: 'FeeTooSmallUTxO',
    message: 'The fee is 1 lovelace, at least 155381 are required.',
    details: { required: '155381', given: '1' },
    submittedAt: new Date('2026-03-04T05:06:07.891Z'),
    ...changes,
  }
}

/** The usage that is kept up to date equals the usage counted from all rows. */
export async function expectExactUsage({ database, schema, store }: TestStore): Promise<void> {
  const [counted] = await database.query<{ cborBytes: bigint; reasonBytes: bigint }>(
    `SELECT
      (SELECT COALESCE(sum(octet_length(cbor)), 0)::bigint FROM ${schema}.rejections) AS "cborBytes",
      (SELECT COALESCE(sum(200 + octet_length(code) + octet_length(message) + octet_length(details::text)), 0)
        FROM ${schema}.rejections)::bigint
        + (SELECT COALESCE(sum(150 + octet_length(submission_id)), 0)
          FROM ${schema}.rejected_submissions)::bigint
        AS "reasonBytes"`,
  )
  expect(await store.rejections.usage()).toEqual({
    cborBytes: Number(counted!.cborBytes),
    reasonBytes: Number(counted!.reasonBytes),
  })
}
